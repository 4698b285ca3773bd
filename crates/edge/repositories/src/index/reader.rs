//! Reads an index while it is received, gzipped or not.

use std::io::{self, Write};

use fitout_model::{Digest, hex};
use flate2::write::GzDecoder;
use sha2::{Digest as _, Sha256};

use super::scan::Scan;
use super::{Charts, Found, ScanError};
use crate::IndexError;

/// A reader that scans an index.
pub(crate) enum IndexReader<C: Charts> {
    /// Uncompressed.
    Plain(Box<Input<C>>),
    /// Gzipped.
    Gzip(Box<GzDecoder<Input<C>>>),
}

/// The uncompressed text.
pub(crate) struct Input<C> {
    /// None once the charts are taken.
    scan: Option<Scan<C>>,
    /// The number of bytes left until the limit; none beyond it.
    left: Option<u64>,
    hash: Option<Sha256>,
}

impl<C: Charts> IndexReader<C> {
    /// Creates a reader of an index up to this many bytes, uncompressed.
    pub(crate) fn new(charts: C, limit: u64, is_gzipped: bool) -> Self {
        Self::of(Input { scan: Some(Scan::new(charts)), left: Some(limit), hash: None }, is_gzipped)
    }

    /// Creates a reader that reads the whole index and computes its digest.
    pub(crate) fn with_digest(charts: C, limit: u64, is_gzipped: bool) -> Self {
        Self::of(Input { scan: Some(Scan::new(charts)), left: Some(limit), hash: Some(Sha256::new()) }, is_gzipped)
    }

    fn of(input: Input<C>, is_gzipped: bool) -> Self {
        if is_gzipped { Self::Gzip(Box::new(GzDecoder::new(input))) } else { Self::Plain(Box::new(input)) }
    }

    /// Reads received bytes and returns whether the reader needs more.
    pub(crate) fn read(&mut self, bytes: &[u8]) -> Result<bool, ScanError> {
        let written = match self {
            Self::Plain(input) => input.write_all(bytes),
            Self::Gzip(decoder) => decoder.write_all(bytes),
        };
        written.map_err(invalid_gzip)?;
        Ok(!self.input().has_ended())
    }

    /// Returns the charts, and the digest of the uncompressed text if it is computed.
    pub(crate) fn finish(mut self) -> Result<(Found<C>, Option<Digest>), ScanError> {
        let input = match &mut self {
            Self::Plain(input) => input,
            Self::Gzip(decoder) => {
                if !decoder.get_ref().has_ended() {
                    decoder.try_finish().map_err(invalid_gzip)?;
                }
                decoder.get_mut()
            }
        };
        let scan = input.scan.take().filter(|_| input.left.is_some()).ok_or(ScanError::TooLarge)?;
        let digest = input.hash.take().map(|hash| Digest::from(format!("sha256:{}", hex(&hash.finalize()))));
        Ok((scan.finish()?, digest))
    }

    fn input(&self) -> &Input<C> {
        match self {
            Self::Plain(input) => input,
            Self::Gzip(decoder) => decoder.get_ref(),
        }
    }
}

impl<C: Charts> Input<C> {
    /// Whether no more bytes are needed. A digest needs all of them, unless the scan has failed.
    fn has_ended(&self) -> bool {
        let Some(scan) = self.scan.as_ref().filter(|_| self.left.is_some()) else { return true };
        scan.has_failed() || (self.hash.is_none() && scan.has_stopped())
    }
}

/// Takes bytes of an index; those after the end are discarded.
impl<C: Charts> Write for Input<C> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.has_ended() {
            return Ok(bytes.len());
        }
        self.left = self.left.and_then(|left| left.checked_sub(bytes.len() as u64));
        if let (Some(scan), Some(_)) = (&mut self.scan, self.left) {
            scan.read(bytes);
            if let Some(hash) = &mut self.hash {
                hash.update(bytes);
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn invalid_gzip(error: io::Error) -> ScanError {
    ScanError::Invalid(IndexError::Gzip(error.to_string()))
}
