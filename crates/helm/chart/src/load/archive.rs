//! The files of an archive, which is a gzipped tar.

use std::io::{self, Read};

use flate2::read::MultiGzDecoder;
use tar::{Archive, EntryType};

use super::{MAX_SIZE, path, without_bom};
use crate::chart::File;
use crate::error::Error;

/// Why an archive was refused.
#[derive(Debug)]
pub(crate) enum Problem {
    /// It does not even begin as one.
    NoGzip(Error),
    /// Anything else.
    Other(Error),
}

impl Problem {
    pub(crate) fn into_error(self) -> Error {
        match self {
            Self::NoGzip(error) | Self::Other(error) => error,
        }
    }
}

/// The bits of a mode that say what kind of file it is, and the directory among them.
const KIND_OF_FILE: u32 = 0o170_000;
const DIRECTORY: u32 = 0o040_000;

/// Helm counts only what is in files. More of them than this, or more around them, no honest archive has.
const MOST_FILES: usize = 1 << 15;
const MOST_BYTES: u64 = MAX_SIZE as u64 + (MOST_FILES as u64 * 1024);

/// The files, with paths from inside of the one directory that everything is in.
pub(crate) fn files(bytes: &[u8]) -> Result<Vec<File>, Problem> {
    if bytes.len() < 10 || !bytes.starts_with(b"\x1F\x8B\x08") {
        return Err(match bytes.len() {
            0 => Problem::Other(Error::new("EOF")),
            1..10 => Problem::Other(Error::new("unexpected EOF")),
            _ => Problem::NoGzip(Error::new("gzip: invalid header")),
        });
    }
    read(bytes).map_err(Problem::Other)
}

fn read(bytes: &[u8]) -> Result<Vec<File>, Error> {
    let unzipped = Bounded { inner: MultiGzDecoder::new(bytes), left: MOST_BYTES };
    let mut archive = Archive::new(unzipped);
    let mut files = Vec::new();
    let mut left = MAX_SIZE as u64;
    for entry in archive.entries().map_err(|error| unreadable(&error))? {
        let mut entry = entry.map_err(|error| unreadable(&error))?;
        let header = entry.header();
        let kind = header.entry_type();
        let raw_name = entry.path_bytes();
        let is_directory = kind == EntryType::Directory
            || header.mode().is_ok_and(|mode| mode & KIND_OF_FILE == DIRECTORY)
            || (header.as_bytes()[156] == 0 && raw_name.ends_with(b"/"));
        if is_directory || matches!(kind, EntryType::XGlobalHeader | EntryType::XHeader) {
            continue;
        }
        let name = name(&String::from_utf8_lossy(&raw_name))?;
        // What is a link or a device has no content, whatever it claims.
        let has_content = !matches!(
            kind,
            EntryType::Link | EntryType::Symlink | EntryType::Char | EntryType::Block | EntryType::Fifo
        );
        let size = if has_content { entry.size() } else { 0 };
        if size > left {
            return Err(too_large());
        }
        let mut data = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
        if has_content {
            entry.read_to_end(&mut data).map_err(|error| unreadable(&error))?;
        }
        left = left.saturating_sub(data.len() as u64);
        if (data.len() as u64) < size {
            return Err(Error::new("unexpected EOF"));
        }
        if left == 0 {
            return Err(too_large());
        }
        files.push(File::new(name, without_bom(&data)));
        if files.len() > MOST_FILES {
            return Err(too_large());
        }
    }
    if files.is_empty() { Err(Error::new("no files in chart archive")) } else { Ok(files) }
}

/// The path within the chart. The first directory is the chart's own, whatever its name.
fn name(whole: &str) -> Result<String, Error> {
    // Archives made on Windows may have its slashes.
    let delimiter = if whole.contains('\\') { '\\' } else { '/' };
    let (first, rest) = whole.split_once(delimiter).unwrap_or((whole, ""));
    let rest = rest.replace(delimiter, "/");
    if rest.starts_with('/') {
        return Err(Error::new("chart illegally contains absolute paths"));
    }
    let name = path::clean(&rest);
    if name == "." {
        let whole = fitout_go_template::quote(whole.as_bytes());
        return Err(Error::new(format!("chart illegally contains content outside the base directory: {whole}")));
    }
    if name.starts_with("..") {
        return Err(Error::new("chart illegally references parent directory"));
    }
    if let [drive, b':', b'/', ..] = name.as_bytes()
        && drive.is_ascii_alphabetic()
    {
        return Err(Error::new("chart contains illegally named files"));
    }
    if first == "Chart.yaml" {
        return Err(Error::new("chart yaml not in base directory"));
    }
    Ok(name)
}

fn too_large() -> Error {
    Error::new(format!("decompressed chart is larger than the maximum size {MAX_SIZE}"))
}

fn unreadable(error: &io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::FileTooLarge => too_large(),
        io::ErrorKind::UnexpectedEof => Error::new("unexpected EOF"),
        _ => Error::new(error.to_string()),
    }
}

/// A reader that ends with an error where an honest archive has long ended.
struct Bounded<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(into)?;
        self.left = self.left.checked_sub(read as u64).ok_or(io::ErrorKind::FileTooLarge)?;
        Ok(read)
    }
}
