//! A catalog in a directory on disk, read one extension at a time.

use std::fs::{self, File, FileType};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use fitout_model::{Digest, FileMap, PACKAGE_LIMITS, Problem, STATES};

use crate::RawExtension;

/// The bytes and the number of the files of an extension that are read. An archive has no more either.
const EXTENSION: (u64, usize) = (512 << 20, 200_000);

/// The extensions of a directory. Iterating reads them one after the other.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    extensions: std::vec::IntoIter<String>,
    limits: (u64, usize),
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
            // Symbolic links are skipped, because they may lead out of the directory. Hidden directories, such as that of
            // git, are no extensions.
            if entry.file_type()?.is_dir() && !name.starts_with('.') {
                extensions.push(name);
            } else if name == STATES && entry.file_type()?.is_file() {
                states = Some(read_file(&entry.path())?.ok_or_else(|| io::Error::other(too_large(&name)))?);
            }
        }
        extensions.sort();
        Ok(Self { path: path.to_owned(), extensions: extensions.into_iter(), limits: EXTENSION, states })
    }
}

impl Iterator for Directory {
    type Item = io::Result<RawExtension>;

    fn next(&mut self) -> Option<Self::Item> {
        let name = self.extensions.next()?;
        let (mut files, mut unread) = (FileMap::new(), vec![]);
        let (mut bytes, mut count) = self.limits;
        let mut is_too_large = false;
        let read = walk(&self.path.join(&name), &format!("{name}/"), &mut |_| {}, &mut |path, name, file_type| {
            if is_too_large {
                return Ok(());
            }
            if !file_type.is_file() {
                unread.extend(not_a_file(path, &name, file_type));
                return Ok(());
            }
            let Some(content) = read_file(path)? else {
                unread.push(too_large(&name));
                return Ok(());
            };
            match (bytes.checked_sub(content.len() as u64), count.checked_sub(1)) {
                (Some(left), Some(left_files)) => (bytes, count) = (left, left_files),
                _ => is_too_large = true,
            }
            files.insert(name, content);
            Ok(())
        });
        if is_too_large {
            let (bytes, count) = self.limits;
            let message = format!("it has more than {} MiB, or more than {count} files", bytes >> 20);
            let hint = Some("remove old versions".to_owned());
            unread = vec![Problem { field: format!("{name}/"), message, hint }];
            files.clear();
        }
        Some(read.map(|()| RawExtension::Files { name, files, unread }))
    }
}

/// The problem of a link, a device or a pipe, which a definition would miss. Beside definitions, nothing is missed.
fn not_a_file(path: &Path, name: &str, file_type: FileType) -> Option<Problem> {
    let is_of_version = name.matches('/').count() > 1;
    let (kind, hint) = if file_type.is_symlink() {
        ("symbolic link", "replace it by the file that it points to")
    } else {
        ("special file", "remove it")
    };
    let message = format!("it is a {kind}, which is not read");
    let is_version = || fs::metadata(path).is_ok_and(|metadata| metadata.is_dir());
    (is_of_version || is_version()).then(|| Problem { field: name.to_owned(), message, hint: Some(hint.to_owned()) })
}

fn too_large(name: &str) -> Problem {
    let message = format!("the file is larger than {} MiB", PACKAGE_LIMITS.file >> 20);
    Problem { field: name.to_owned(), message, hint: Some("make it smaller, or leave it out".to_owned()) }
}

/// A digest that differs once a file in the directory has changed: of names, sizes and times. Calls a function for the
/// directory and every one below it, each before it is listed.
pub fn fingerprint(path: &Path, directory: &mut dyn FnMut(&Path)) -> io::Result<Digest> {
    let mut lines = String::new();
    walk(path, "", directory, &mut |path, name, _| {
        use std::fmt::Write;
        let metadata = fs::symlink_metadata(path)?;
        let times = (metadata.mtime(), metadata.mtime_nsec(), metadata.ctime(), metadata.ctime_nsec());
        let _ = writeln!(lines, "{name} {} {} {times:?}", metadata.ino(), metadata.size());
        Ok(())
    })?;
    Ok(Digest::of(lines))
}

/// The content of a file; none if it is too large, in which case no more than the limit is read.
fn read_file(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let file = File::open(path)?;
    if file.metadata()?.len() > PACKAGE_LIMITS.file {
        return Ok(None);
    }
    let mut content = vec![];
    // It may have grown.
    file.take(PACKAGE_LIMITS.file + 1).read_to_end(&mut content)?;
    Ok((content.len() as u64 <= PACKAGE_LIMITS.file).then_some(content))
}

type Each<'a> = &'a mut dyn FnMut(&Path, String, FileType) -> io::Result<()>;

/// Calls a function for everything but directories below a directory, in the order of the names, and another one for the
/// directory and every one below it.
fn walk(dir: &Path, prefix: &str, directory: &mut dyn FnMut(&Path), each: Each<'_>) -> io::Result<()> {
    directory(dir);
    let mut entries = fs::read_dir(dir)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = format!("{prefix}{}", entry.file_name().display());
        let file_type = entry.file_type()?;
        if file_type.is_dir() {
            walk(&entry.path(), &format!("{name}/"), directory, each)?;
        } else {
            each(&entry.path(), name, file_type)?;
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
        file(".git/objects/aa/bb", "c");
        symlink("/etc/passwd", dir.join("web/passwd")).unwrap();
        symlink("/etc", dir.join("etc")).unwrap();
        let directory = Directory::open(&dir).unwrap();
        assert_eq!(directory.states.as_deref(), Some(&b"states: []"[..]));
        let paths: Vec<String> = directory
            .flat_map(|extension| match extension.unwrap() {
                RawExtension::Files { files, unread, .. } if unread.is_empty() => files.into_keys(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(paths, ["db/1.0.0/definition.yaml", "web/1.0.0/definition.yaml"]);
        let mut directories = vec![];
        let before = fingerprint(&dir, &mut |path| directories.push(path.to_owned())).unwrap();
        let expected = ["", ".git", ".git/objects", ".git/objects/aa", "db", "db/1.0.0", "web", "web/1.0.0"];
        assert_eq!(directories, expected.map(|path| dir.join(path)));
        assert_eq!(fingerprint(&dir, &mut |_| {}).unwrap(), before);
        file("web/1.0.0/definition.yaml", "aa");
        assert_ne!(fingerprint(&dir, &mut |_| {}).unwrap(), before);
        fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn extensions_that_are_too_large_are_problems() {
        let dir = std::env::temp_dir().join(format!("fitout-directory-large-{}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        for version in ["web/1.0.0", "web/2.0.0"] {
            fs::create_dir_all(dir.join(version)).unwrap();
            fs::write(dir.join(version).join("definition.yaml"), [b'#'; 6]).unwrap();
        }
        let read = |limits| {
            let mut directory = Directory { limits, ..Directory::open(&dir).unwrap() };
            match directory.next().unwrap().unwrap() {
                RawExtension::Files { files, unread, .. } => {
                    (files.len(), unread.iter().map(ToString::to_string).collect::<Vec<_>>())
                }
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(read((12, 2)), (2, vec![]));
        let (files, problems) = read((12, 1));
        assert_eq!(
            (files, problems[0].as_str()),
            (0, "web/: it has more than 0 MiB, or more than 1 files; remove old versions")
        );
        assert_eq!(read((11, 2)).0, 0);
        fs::remove_dir_all(&dir).unwrap();
    }
}
