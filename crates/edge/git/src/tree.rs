//! The files below a folder of a commit.

use std::collections::BTreeMap;

use gix_hash::{ObjectId, oid};
use gix_object::tree::EntryKind;
use gix_object::{CommitRefIter, Kind, TreeRefIter};

use crate::guard::Guard;
use crate::pack::{Pack, malformed};
use crate::{Cause, Limits};

/// Folders within folders. A path on Linux has at most 4096 bytes.
const MAX_DEPTH: usize = 128;

const SMALLER_FOLDER: &str = "name a smaller folder as the path";

/// The parts of a path.
pub(crate) fn parse_path(path: &str) -> Result<Vec<String>, Cause> {
    let parts: Vec<String> =
        path.split('/').filter(|part| !part.is_empty() && *part != ".").map(str::to_owned).collect();
    if path.starts_with('/') || !parts.iter().all(|part| is_file_name(part)) {
        return Err(Cause::InvalidPath(path.to_owned()));
    }
    Ok(parts)
}

/// Whether a name can be joined to a path and stays below it.
fn is_file_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['/', '\\']) && !name.contains(char::is_control)
}

/// The folder at a path of a commit. None if the pack has another object in the place of the commit.
pub(crate) fn folder(pack: &mut Pack, commit: &oid, path: &[String]) -> Result<Option<ObjectId>, Cause> {
    let Some(data) = pack.object(commit, Kind::Commit)? else { return Ok(None) };
    let mut tree = CommitRefIter::from_bytes(data, commit.kind()).tree_id().map_err(malformed)?;
    for part in path {
        let data = pack.object(&tree, Kind::Tree)?.ok_or_else(|| missing(&tree))?;
        let mut found = None;
        for entry in TreeRefIter::from_bytes(data, commit.kind()) {
            let entry = entry.map_err(malformed)?;
            if entry.filename == part.as_str() && entry.mode.kind() == EntryKind::Tree {
                found = Some(entry.oid.to_owned());
            }
        }
        tree = found.ok_or_else(|| Cause::PathMissing { path: path.join("/"), commit: commit.to_string() })?;
    }
    Ok(Some(tree))
}

/// The files below a folder. Symbolic links and submodules, which may lead out of it, are left out.
pub(crate) fn files(
    pack: &mut Pack,
    folder: ObjectId,
    guard: &Guard,
    limits: &Limits,
) -> Result<BTreeMap<String, ObjectId>, Cause> {
    let (mut files, mut folders) = (BTreeMap::new(), 0);
    let mut next = vec![(String::new(), folder, 0)];
    while let Some((above, folder, depth)) = next.pop() {
        guard.check().map_err(|_| Cause::Deadline(limits.deadline))?;
        let data = pack.object(&folder, Kind::Tree)?.ok_or_else(|| missing(&folder))?;
        folders += 1;
        for entry in TreeRefIter::from_bytes(data, folder.kind()) {
            let entry = entry.map_err(malformed)?;
            let name = || {
                let name = std::str::from_utf8(entry.filename).ok().filter(|name| is_file_name(name));
                let name = name.ok_or_else(|| Cause::FileName(entry.filename.to_string()))?;
                Ok::<_, Cause>(if above.is_empty() { name.to_owned() } else { format!("{above}/{name}") })
            };
            match entry.mode.kind() {
                EntryKind::Tree => next.push((name()?, entry.oid.to_owned(), depth + 1)),
                EntryKind::Blob | EntryKind::BlobExecutable => {
                    files.insert(name()?, entry.oid.to_owned());
                }
                EntryKind::Link | EntryKind::Commit => {}
            }
        }
        // A few objects can make a tree with more folders than any memory has room for.
        if files.len() > limits.files || folders + next.len() > limits.files || depth > MAX_DEPTH {
            return Err(too_large("the number of its files and folders", limits.files, "", SMALLER_FOLDER));
        }
    }
    Ok(files)
}

/// The content of files, within the limits.
pub(crate) fn read(
    pack: &mut Pack,
    files: BTreeMap<String, ObjectId>,
    guard: &Guard,
    limits: &Limits,
) -> Result<BTreeMap<String, Vec<u8>>, Cause> {
    let (mut read, mut total) = (BTreeMap::new(), 0);
    for (name, id) in files {
        guard.check().map_err(|_| Cause::Deadline(limits.deadline))?;
        let content = pack.object(&id, Kind::Blob)?.ok_or_else(|| missing(&id))?;
        if content.len() > limits.file {
            return Err(too_large(&format!("file {name}"), limits.file, " bytes", "remove it, or make it smaller"));
        }
        total += content.len();
        if total > limits.total {
            return Err(too_large("the size of its files together", limits.total, " bytes", SMALLER_FOLDER));
        }
        read.insert(name, content.to_vec());
    }
    Ok(read)
}

fn too_large(what: &str, limit: usize, unit: &'static str, remedy: &'static str) -> Cause {
    Cause::TooLarge { what: what.to_owned(), limit: limit as u64, unit, remedy }
}

fn missing(id: &oid) -> Cause {
    Cause::Malformed(format!("object {id} is missing"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_below_the_root() {
        for (path, parts) in [("charts/web", vec!["charts", "web"]), ("a//b/./c/", vec!["a", "b", "c"]), ("", vec![])] {
            assert_eq!(parse_path(path).ok(), Some(parts.into_iter().map(str::to_owned).collect()), "{path}");
        }
        for path in ["/etc", "..", "a/../b", "a\\b", "a\nb"] {
            assert!(parse_path(path).is_err(), "{path}");
        }
    }
}
