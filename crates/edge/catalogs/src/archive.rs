//! A catalog in an archive.

use std::io::{self, Read};

use fitout_model::{ArchiveError, ArchiveLimits, FileMap, unpack_files};
use flate2::read::GzDecoder;

/// The limits of an archive's files.
pub const ARCHIVE_LIMITS: ArchiveLimits = ArchiveLimits { files: 200_000, file: 32 << 20, total: 512 << 20 };

/// Reads the files of a catalog from a tar, gzipped or not.
pub fn unpack(archive: &[u8], limits: &ArchiveLimits) -> Result<FileMap, ArchiveError> {
    unpack_files(unpacked(archive), limits)
}

/// The bytes of an unpacked archive, counted up to a limit and without keeping them.
pub fn unpacked_size(archive: &[u8], limit: u64) -> u64 {
    // An archive that ends early is an error of the next step.
    io::copy(&mut unpacked(archive).take(limit), &mut io::sink()).unwrap_or(limit)
}

/// The tar in an archive, which may be compressed.
fn unpacked(archive: &[u8]) -> Box<dyn Read + '_> {
    // Every gzip stream begins with these bytes, and no tar does.
    if archive.starts_with(&[0x1f, 0x8b]) { Box::new(GzDecoder::new(archive)) } else { Box::new(archive) }
}
