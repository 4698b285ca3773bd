//! Paths with slashes.

/// The shortest path that means the same, as Go's `path.Clean` has it.
pub(crate) fn clean(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => match parts.last() {
                Some(&last) if last != ".." => {
                    parts.pop();
                }
                _ if rooted => {}
                _ => parts.push(".."),
            },
            _ => parts.push(part),
        }
    }
    let joined = parts.join("/");
    match (rooted, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }
}

/// From the last dot of the last part on.
pub(crate) fn extension(path: &str) -> &str {
    let last = path.rsplit('/').next().unwrap_or(path);
    last.rfind('.').map_or("", |dot| &last[dot..])
}
