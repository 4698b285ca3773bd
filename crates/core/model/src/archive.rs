//! Archives: files in one sequence of bytes that depends on nothing but their paths and contents.
//!
//! Reading trusts nothing that an archive says: paths stay inside, there are no links, and memory is bounded.

use std::collections::BTreeMap;
use std::io::{self, Read};

use tar::{Archive, Builder, Entry, EntryType, Header, PaxExtensions};

/// Files by path.
pub type FileMap = BTreeMap<String, Vec<u8>>;

/// Limits on the content of an archive.
#[derive(Clone, Copy, Debug)]
pub struct ArchiveLimits {
    /// The number of files.
    pub files: usize,
    /// The bytes of one file.
    pub file: u64,
    /// The bytes of all files.
    pub total: u64,
}

/// The reason why an archive is refused.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// It does not even begin as a tar.
    #[error("it is not a tar archive, gzipped or not; check the address, and what is there")]
    NotTar,
    /// It is damaged, or ends early.
    #[error("it is not a complete tar archive: {0}; create it again")]
    Invalid(io::Error),
    /// A path leads out of the archive.
    #[error("{0}: the path leads out of the archive; use relative paths without '..'")]
    Outside(String),
    /// A link, a device or a pipe.
    #[error("{path}: it is a {kind}, and only files and directories are allowed; {}", remedy(.kind))]
    NotAFile {
        /// The path.
        path: String,
        /// The kind, such as `symbolic link`.
        kind: &'static str,
    },
    /// Too many files.
    #[error("it has more than {0} files; leave out what is not needed")]
    TooManyFiles(usize),
    /// A file is too large.
    #[error("{path}: the file is larger than {}; make it smaller, or leave it out", bytes(*.limit))]
    FileTooLarge {
        /// The file.
        path: String,
        /// The limit in bytes.
        limit: u64,
    },
    /// All files together are too large.
    #[error("its files have more than {}; leave out what is not needed", bytes(*.0))]
    TooLarge(u64),
}

const SYMBOLIC_LINK: &str = "symbolic link";

const HARD_LINK: &str = "hard link";

fn remedy(kind: &str) -> &'static str {
    if matches!(kind, SYMBOLIC_LINK | HARD_LINK) { "replace it by the file that it points to" } else { "leave it out" }
}

/// A number of bytes, in a larger unit if that is exact.
pub(crate) fn bytes(number: u64) -> String {
    match number {
        number if number > 0 && number.is_multiple_of(1 << 20) => format!("{} MiB", number >> 20),
        number if number > 0 && number.is_multiple_of(1 << 10) => format!("{} KiB", number >> 10),
        number => format!("{number} bytes"),
    }
}

impl ArchiveLimits {
    /// Checks files as [`unpack_files`] does.
    pub fn check(&self, files: &FileMap) -> Result<(), ArchiveError> {
        if files.len() > self.files {
            return Err(ArchiveError::TooManyFiles(self.files));
        }
        if let Some((path, _)) = files.iter().find(|(_, content)| content.len() as u64 > self.file) {
            return Err(ArchiveError::FileTooLarge { path: path.clone(), limit: self.file });
        }
        let total: u64 = files.values().map(|content| content.len() as u64).sum();
        if total > self.total { Err(ArchiveError::TooLarge(self.total)) } else { Ok(()) }
    }
}

/// Packs files as a tar. Equal files make equal bytes.
pub fn pack_files<'a>(files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for (path, content) in files {
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Regular);
        header.set_mode(0o644);
        header.set_mtime(0);
        header.set_size(content.len() as u64);
        // Writing to memory fails for no path that a file can have: the format has an extension for long ones.
        let _ = builder.append_data(&mut header, path, content);
    }
    builder.into_inner().unwrap_or_default()
}

/// The most bytes of a header that describes the next entry: its path, which has at most 4096 bytes on Linux, and perhaps
/// its extended attributes.
const DESCRIPTION: u64 = 1 << 20;

/// Reads the files of a tar. Memory is bounded by the limits, whatever the archive says about its sizes.
pub fn unpack_files(tar: impl Read, limits: &ArchiveLimits) -> Result<FileMap, ArchiveError> {
    let mut files = FileMap::new();
    let mut left = limits.total;
    let mut described = None;
    // Directories and headers count as well: an archive of them alone must end, too.
    let mut archive = Archive::new(tar.take(limits.total.saturating_mul(2).saturating_add(1 << 20)));
    // Raw, because the library reads a header with the path of the next entry into memory, whatever its size.
    for (index, entry) in archive.entries().map_err(ArchiveError::Invalid)?.raw(true).enumerate() {
        let mut entry = entry.map_err(|error| match error.kind() {
            // The message of the library quotes the content.
            io::ErrorKind::Other if index == 0 => ArchiveError::NotTar,
            _ => ArchiveError::Invalid(error),
        })?;
        let kind = entry.header().entry_type();
        match kind {
            // A GNU header takes precedence over one of POSIX.
            EntryType::GNULongName => {
                described = Some(long_name(&description(&mut entry)?));
                continue;
            }
            EntryType::XHeader => {
                let path = posix_path(&description(&mut entry)?)?;
                described = described.or(path);
                continue;
            }
            EntryType::XGlobalHeader | EntryType::GNULongLink => continue,
            _ => {}
        }
        let path = described.take().unwrap_or_else(|| entry.header().path_bytes().into_owned());
        let path = String::from_utf8_lossy(&path).into_owned();
        match kind {
            EntryType::Regular | EntryType::Continuous => {}
            EntryType::Directory => continue,
            _ => return Err(ArchiveError::NotAFile { path, kind: kind_name(kind) }),
        }
        let name = relative(&path).ok_or_else(|| ArchiveError::Outside(path.clone()))?;
        if files.len() == limits.files {
            return Err(ArchiveError::TooManyFiles(limits.files));
        }
        let mut content = Vec::new();
        (&mut entry).take(limits.file.min(left) + 1).read_to_end(&mut content).map_err(ArchiveError::Invalid)?;
        let size = content.len() as u64;
        if size > limits.file {
            return Err(ArchiveError::FileTooLarge { path: name, limit: limits.file });
        }
        left = left.checked_sub(size).ok_or(ArchiveError::TooLarge(limits.total))?;
        files.insert(name, content);
    }
    Ok(files)
}

fn kind_name(kind: EntryType) -> &'static str {
    match kind {
        EntryType::Symlink => SYMBOLIC_LINK,
        EntryType::Link => HARD_LINK,
        EntryType::Char | EntryType::Block => "device",
        EntryType::Fifo => "pipe",
        EntryType::GNUSparse => "sparse file",
        _ => "special file",
    }
}

/// The content of a header that describes the next entry.
fn description(entry: &mut Entry<'_, impl Read>) -> Result<Vec<u8>, ArchiveError> {
    let mut content = Vec::new();
    entry.take(DESCRIPTION + 1).read_to_end(&mut content).map_err(ArchiveError::Invalid)?;
    if content.len() as u64 > DESCRIPTION {
        let message = format!("a header is larger than {}", bytes(DESCRIPTION));
        return Err(ArchiveError::Invalid(io::Error::other(message)));
    }
    Ok(content)
}

/// The path in a header of GNU, which ends with a zero.
fn long_name(content: &[u8]) -> Vec<u8> {
    content.strip_suffix(&[0]).unwrap_or(content).to_vec()
}

/// The path in a header of POSIX; none if it states none.
fn posix_path(content: &[u8]) -> Result<Option<Vec<u8>>, ArchiveError> {
    let mut path = None;
    for extension in PaxExtensions::new(content) {
        let extension = extension.map_err(ArchiveError::Invalid)?;
        match extension.key_bytes() {
            b"path" => path = Some(extension.value_bytes().to_vec()),
            // It would replace the size in the entry's own header, and programs disagree about that. It is for files of
            // more than 8 GiB.
            b"size" => return Err(ArchiveError::Invalid(io::Error::other("a header states the size of a file"))),
            _ => {}
        }
    }
    Ok(path)
}

/// A path without `./`; none if it is absolute or leads out of its folder.
fn relative(path: &str) -> Option<String> {
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let inside = !path.starts_with('/') && !path.contains('\\') && !parts.contains(&"..") && !parts.is_empty();
    inside.then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: ArchiveLimits = ArchiveLimits { files: 3, file: 100, total: 150 };

    fn unpack(tar: &[u8]) -> Result<FileMap, String> {
        unpack_files(tar, &LIMITS).map_err(|error| error.to_string())
    }

    #[test]
    fn files_are_packed_and_unpacked() {
        let long = format!("{}/b.yaml", "a".repeat(200));
        let files = FileMap::from([("a.yaml".to_owned(), b"a".to_vec()), (long, vec![0, 255])]);
        let tar = pack_files(files.iter().map(|(path, content)| (path.as_str(), content.as_slice())));
        assert_eq!(unpack(&tar).unwrap(), files);
    }

    /// A tar of one entry, written without the checks of the library.
    fn entry(path: &str, type_: EntryType, content: &[u8]) -> Vec<u8> {
        let mut header = Header::new_gnu();
        header.as_mut_bytes()[..path.len()].copy_from_slice(path.as_bytes());
        header.set_entry_type(type_);
        header.set_size(content.len() as u64);
        header.set_cksum();
        let mut builder = Builder::new(Vec::new());
        builder.append(&header, content).unwrap();
        builder.into_inner().unwrap()
    }

    #[test]
    fn hostile_archives_are_refused() {
        let rows = [
            (entry("../up", EntryType::Regular, b"x"), "../up: the path leads out of the archive"),
            (entry("/etc/passwd", EntryType::Regular, b"x"), "/etc/passwd: the path leads out of the archive"),
            (entry("a/../../b", EntryType::Regular, b"x"), "a/../../b: the path leads out of the archive"),
            (
                entry("link", EntryType::Symlink, b""),
                "link: it is a symbolic link, and only files and directories are allowed; replace it by the file that it points to",
            ),
            (
                entry("hard", EntryType::Link, b""),
                "hard: it is a hard link, and only files and directories are allowed; replace",
            ),
            (
                entry("device", EntryType::Char, b""),
                "device: it is a device, and only files and directories are allowed; leave it out",
            ),
            (entry("pipe", EntryType::Fifo, b""), "pipe: it is a pipe"),
            (entry("sparse", EntryType::GNUSparse, b""), "sparse: it is a sparse file"),
            (
                entry("large", EntryType::Regular, &[0; 101]),
                "large: the file is larger than 100 bytes; make it smaller",
            ),
        ];
        for (tar, expected) in rows {
            let refused = unpack(&tar).unwrap_err();
            assert!(refused.starts_with(expected), "{refused}");
        }
        let files = |count: usize, size: usize| {
            let names: Vec<String> = (0..count).map(|number| number.to_string()).collect();
            pack_files(names.iter().map(|name| (name.as_str(), &[0; 100][..size])))
        };
        assert_eq!(unpack(&files(4, 1)).unwrap_err(), "it has more than 3 files; leave out what is not needed");
        assert_eq!(
            unpack(&files(2, 80)).unwrap_err(),
            "its files have more than 150 bytes; leave out what is not needed"
        );
        let cut = files(1, 100);
        assert_eq!(unpack(&[b'<'; 2000]).unwrap_err(), ArchiveError::NotTar.to_string());
        assert!(unpack(&cut[..530]).unwrap_err().starts_with("it is not a complete tar archive"));
    }

    /// Entries, one after the other.
    fn joined(entries: &[Vec<u8>]) -> Vec<u8> {
        // Each ends with two empty blocks, which end an archive.
        let bodies = entries.iter().flat_map(|entry| &entry[..entry.len() - 1024]).copied();
        bodies.chain([0; 1024]).collect()
    }

    #[test]
    fn paths_in_headers_are_paths_of_the_next_entry() {
        let pax = entry("pax", EntryType::XHeader, b"14 path=a/pax\n18 mtime=1.123456\n");
        let tar = joined(&[
            entry("comment", EntryType::XGlobalHeader, b"16 comment=none\n"),
            entry("././@LongLink", EntryType::GNULongName, b"a/long\0"),
            entry("short", EntryType::Regular, b"1"),
            pax.clone(),
            entry("short", EntryType::Regular, b"2"),
            entry("short", EntryType::Regular, b"3"),
            pax,
            entry("directory", EntryType::Directory, b""),
            entry("last", EntryType::Regular, b"4"),
        ]);
        let expected = [("a/long", b"1"), ("a/pax", b"2"), ("last", b"4"), ("short", b"3")];
        let read = unpack_files(&tar[..], &ArchiveLimits { files: 4, ..LIMITS }).unwrap();
        assert_eq!(read, expected.map(|(path, content)| (path.to_owned(), content.to_vec())).into());
    }

    #[test]
    fn hostile_headers_are_refused() {
        let file = || entry("a", EntryType::Regular, b"1");
        let large = vec![b'a'; 2 << 20];
        let limits = ArchiveLimits { total: 8 << 20, ..LIMITS };
        let rows = [
            (entry("x", EntryType::GNULongName, b"../up\0"), "../up: the path leads out of the archive"),
            (entry("x", EntryType::XHeader, b"14 path=../up\n"), "../up: the path leads out of the archive"),
            (
                entry("x", EntryType::GNULongName, &large),
                "it is not a complete tar archive: a header is larger than 1 MiB",
            ),
            (entry("x", EntryType::XHeader, &large), "it is not a complete tar archive: a header is larger than 1 MiB"),
            (
                entry("x", EntryType::XHeader, b"10 size=9\n"),
                "it is not a complete tar archive: a header states the size",
            ),
            (
                entry("x", EntryType::XHeader, b"99 path=x\n"),
                "it is not a complete tar archive: malformed pax extension",
            ),
        ];
        for (header, expected) in rows {
            let refused = unpack_files(&joined(&[header, file()])[..], &limits).unwrap_err().to_string();
            assert!(refused.starts_with(expected), "{refused}");
        }
    }
}
