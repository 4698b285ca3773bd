//! Whether a file can be an archive at all.

use crate::error::Error;

/// Refuses what is no gzip, and says what it looks like instead.
pub(crate) fn ensure_archive(name: &str, bytes: &[u8]) -> Result<(), Error> {
    if bytes.starts_with(b"\x1F\x8B\x08") {
        return Ok(());
    }
    let has_extension = |wanted: &str| name.ends_with(wanted);
    if has_extension(".yml") || has_extension(".yaml") {
        return Err(Error::new(format!("file '{name}' seems to be a YAML file, but expected a gzipped archive")));
    }
    let kind = content_type(&bytes[..bytes.len().min(512)]);
    Err(Error::new(format!("file '{name}' does not appear to be a gzipped archive; got '{kind}'")))
}

/// What Go's `http.DetectContentType` says of the usual suspects.
fn content_type(bytes: &[u8]) -> &'static str {
    // Helm looks at a buffer of 512 bytes, which is filled up with zeros.
    let starts = |magic: &[u8]| bytes.starts_with(magic);
    if starts(b"PK\x03\x04") {
        "application/zip"
    } else if starts(b"Rar!\x1A\x07") {
        "application/x-rar-compressed"
    } else if starts(b"%PDF-") {
        "application/pdf"
    } else if starts(b"\x89PNG\x0D\x0A\x1A\x0A") {
        "image/png"
    } else if starts(b"\xFF\xD8\xFF") {
        "image/jpeg"
    } else if starts(b"GIF8") {
        "image/gif"
    } else if bytes.len() == 512 && !bytes.iter().any(|byte| is_binary(*byte)) {
        "text/plain; charset=utf-8"
    } else {
        "application/octet-stream"
    }
}

fn is_binary(byte: u8) -> bool {
    matches!(byte, 0..=8 | 0x0B | 0x0E..=0x1A | 0x1C..=0x1F)
}
