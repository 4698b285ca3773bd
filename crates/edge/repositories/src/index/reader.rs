//! Reads an index while it is received, gzipped or not.

use std::io::{self, Write};

use flate2::write::GzDecoder;

use super::{Release, Scan, ScanError};
use crate::IndexError;

/// A reader that scans an index for one chart.
pub(crate) enum IndexReader {
    /// Uncompressed.
    Plain(Scan),
    /// Gzipped.
    Gzip(Box<GzDecoder<Scan>>),
}

impl IndexReader {
    /// Creates a reader for a chart, in an index up to this many bytes.
    pub(crate) fn new(chart: &str, limit: u64, is_gzipped: bool) -> Self {
        let scan = Scan::new(chart, limit);
        if is_gzipped { Self::Gzip(Box::new(GzDecoder::new(scan))) } else { Self::Plain(scan) }
    }

    /// Reads received bytes and returns whether the reader needs more.
    pub(crate) fn read(&mut self, bytes: &[u8]) -> Result<bool, ScanError> {
        let written = match self {
            Self::Plain(scan) => scan.write_all(bytes),
            Self::Gzip(decoder) => decoder.write_all(bytes),
        };
        written.map_err(invalid_gzip)?;
        Ok(!self.scan().has_stopped())
    }

    /// Returns the versions of the chart; none if the index does not have it.
    pub(crate) fn finish(mut self) -> Result<Option<Vec<Release>>, ScanError> {
        let finished = match &mut self {
            Self::Gzip(decoder) if !decoder.get_ref().has_stopped() => decoder.try_finish(),
            _ => Ok(()),
        };
        finished.map_err(invalid_gzip)?;
        std::mem::replace(self.scan(), Scan::new("", 0)).finish()
    }

    fn scan(&mut self) -> &mut Scan {
        match self {
            Self::Plain(scan) => scan,
            Self::Gzip(decoder) => decoder.get_mut(),
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn invalid_gzip(error: io::Error) -> ScanError {
    ScanError::Invalid(IndexError::Gzip(error.to_string()))
}
