//! Documents of a file.

/// The documents of a text that are not empty. One ends where a line begins with three dashes, whatever comes after them.
pub fn documents(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text.trim_start());
    std::iter::from_fn(move || {
        let whole = rest?;
        let Some(at) = separator(whole) else { return rest.take() };
        rest = Some(whole[at + DASHES.len()..].trim_start_matches([' ', '\t']));
        Some(&whole[..at])
    })
    .map(str::trim_start)
    .filter(|document| !document.is_empty())
}

const DASHES: &str = "---";

/// Where a line begins with three dashes. What is left after a separator is no beginning of a line.
fn separator(text: &str) -> Option<usize> {
    if text.starts_with(DASHES) {
        return Some(0);
    }
    memchr::memmem::find(text.as_bytes(), b"\n---").map(|newline| newline + 1)
}

#[cfg(test)]
mod tests {
    use super::documents;

    fn split(text: &str) -> Vec<&str> {
        documents(text).collect()
    }

    #[test]
    fn documents_end_where_a_line_begins_with_three_dashes() {
        assert_eq!(split("a: 1\n---\nb: 2\n"), ["a: 1\n", "b: 2\n"]);
        assert_eq!(split("---\n\n---  \n a\n--- # x\nb"), ["a\n", "# x\nb"]);
        assert_eq!(split("key: |\n  ---\n-----BEGIN\nx"), ["key: |\n  ---\n", "--BEGIN\nx"]);
        assert_eq!(split(" \n"), Vec::<&str>::new());
        assert_eq!(split("a---\nb"), ["a---\nb"]);
    }
}
