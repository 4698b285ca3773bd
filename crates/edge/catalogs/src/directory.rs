//! A catalog in a directory on disk, read one extension at a time.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use fitout_model::{Digest, FileMap};

use crate::{RawExtension, STATES};

/// The largest file that is read.
const FILE: u64 = 64 << 20;

/// The extensions of a directory. Iterating reads them one after the other.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    extensions: std::vec::IntoIter<String>,
    /// The content of `states.yaml`, if the directory has one.
    pub states: Option<Vec<u8>>,
}

impl Directory {
    /// Opens a directory.
    pub fn open(path: &Path) -> io::Result<Self> {
        let (mut extensions, mut states) = (vec![], None);
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            let name = entry.file_name().display().to_string();
            // Symbolic links are skipped, because they may lead out of the directory.
            if entry.file_type()?.is_dir() {
                extensions.push(name);
            } else if name == STATES && entry.file_type()?.is_file() {
                states = Some(read_file(&entry.path())?);
            }
        }
        extensions.sort();
        Ok(Self { path: path.to_owned(), extensions: extensions.into_iter(), states })
    }
}

impl Iterator for Directory {
    type Item = io::Result<RawExtension>;

    fn next(&mut self) -> Option<Self::Item> {
        let name = self.extensions.next()?;
        let mut files = FileMap::new();
        let read = walk(&self.path.join(&name), &format!("{name}/"), &mut |path, name| {
            files.insert(name, read_file(path)?);
            Ok(())
        });
        Some(read.map(|()| RawExtension::Files(files)))
    }
}

/// A digest that differs once a file in the directory has changed: of names, sizes and times.
pub fn fingerprint(path: &Path) -> io::Result<Digest> {
    let mut lines = String::new();
    walk(path, "", &mut |path, name| {
        use std::fmt::Write;
        let metadata = fs::symlink_metadata(path)?;
        let times = (metadata.mtime(), metadata.mtime_nsec(), metadata.ctime(), metadata.ctime_nsec());
        let _ = writeln!(lines, "{name} {} {} {times:?}", metadata.ino(), metadata.size());
        Ok(())
    })?;
    Ok(Digest::of(lines))
}

fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let size = fs::metadata(path)?.len();
    if size > FILE {
        return Err(io::Error::other(format!("{} has {size} bytes, and {FILE} is the limit", path.display())));
    }
    fs::read(path)
}

/// Calls a function for every file below a directory, in the order of their names.
fn walk(dir: &Path, prefix: &str, each: &mut dyn FnMut(&Path, String) -> io::Result<()>) -> io::Result<()> {
    let mut entries = fs::read_dir(dir)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = format!("{prefix}{}", entry.file_name().display());
        let file_type = entry.file_type()?;
        if file_type.is_dir() {
            walk(&entry.path(), &format!("{name}/"), each)?;
        } else if file_type.is_file() {
            each(&entry.path(), name)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn extensions_are_read_and_links_are_skipped() {
        let dir = std::env::temp_dir().join(format!("fitout-directory-{}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        let file = |path: &str, text: &str| {
            let path = dir.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        file("web/1.0.0/definition.yaml", "a");
        file("db/1.0.0/definition.yaml", "b");
        file("states.yaml", "states: []");
        symlink("/etc", dir.join("web/etc")).unwrap();
        symlink("/etc", dir.join("etc")).unwrap();
        let directory = Directory::open(&dir).unwrap();
        assert_eq!(directory.states.as_deref(), Some(&b"states: []"[..]));
        let paths: Vec<String> = directory
            .flat_map(|extension| match extension.unwrap() {
                RawExtension::Files(files) => files.into_keys(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(paths, ["db/1.0.0/definition.yaml", "web/1.0.0/definition.yaml"]);
        let before = fingerprint(&dir).unwrap();
        assert_eq!(fingerprint(&dir).unwrap(), before);
        file("web/1.0.0/definition.yaml", "aa");
        assert_ne!(fingerprint(&dir).unwrap(), before);
        fs::remove_dir_all(&dir).unwrap();
    }
}
