//! Archives: files in one sequence of bytes that depends on nothing but their paths and contents.

use std::collections::BTreeMap;
use std::io::{self, Read};

use tar::{Archive, Builder, EntryType, Header};

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
    /// It is no tar, or ends early.
    #[error("it is not a complete tar archive: {0}")]
    Invalid(io::Error),
    /// A path leads out of the archive.
    #[error("{0}: the path leads out of the archive; use relative paths without '..'")]
    Outside(String),
    /// A link, a device or a pipe.
    #[error("{0}: only files and directories are allowed; replace the link by the file that it points to")]
    NotAFile(String),
    /// Too many files.
    #[error("it has more than {0} files")]
    TooManyFiles(usize),
    /// A file is too large.
    #[error("{path}: the file is larger than {limit} bytes")]
    FileTooLarge {
        /// The file.
        path: String,
        /// The limit in bytes.
        limit: u64,
    },
    /// All files together are too large.
    #[error("its files have more than {0} bytes")]
    TooLarge(u64),
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

/// Reads the files of a tar. Memory is bounded by the limits, whatever the archive says about its sizes.
pub fn unpack_files(tar: impl Read, limits: &ArchiveLimits) -> Result<FileMap, ArchiveError> {
    let mut files = FileMap::new();
    let mut left = limits.total;
    // Directories and headers count as well: an archive of them alone must end, too.
    let mut archive = Archive::new(tar.take(limits.total.saturating_mul(2).saturating_add(1 << 20)));
    for entry in archive.entries().map_err(ArchiveError::Invalid)? {
        let mut entry = entry.map_err(ArchiveError::Invalid)?;
        let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        match entry.header().entry_type() {
            EntryType::Regular | EntryType::Continuous => {}
            EntryType::Directory | EntryType::XGlobalHeader | EntryType::XHeader => continue,
            _ => return Err(ArchiveError::NotAFile(path)),
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
            (entry("link", EntryType::Symlink, b""), "link: only files and directories are allowed"),
            (entry("hard", EntryType::Link, b""), "hard: only files and directories are allowed"),
            (entry("device", EntryType::Char, b""), "device: only files and directories are allowed"),
            (entry("large", EntryType::Regular, &[0; 101]), "large: the file is larger than 100 bytes"),
        ];
        for (tar, expected) in rows {
            let refused = unpack(&tar).unwrap_err();
            assert!(refused.starts_with(expected), "{refused}");
        }
        let files = |count: usize, size: usize| {
            let names: Vec<String> = (0..count).map(|number| number.to_string()).collect();
            pack_files(names.iter().map(|name| (name.as_str(), &[0; 100][..size])))
        };
        assert_eq!(unpack(&files(4, 1)).unwrap_err(), "it has more than 3 files");
        assert_eq!(unpack(&files(2, 80)).unwrap_err(), "its files have more than 150 bytes");
        let cut = files(1, 100);
        assert!(unpack(&cut[..530]).unwrap_err().starts_with("it is not a complete tar archive"));
    }
}
