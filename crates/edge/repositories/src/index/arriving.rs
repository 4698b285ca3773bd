//! An index on its way, compressed or not.

use std::io::Write;

use flate2::write::GzDecoder;

use super::{Fault, Release, Scan};

/// An index on its way.
pub(crate) enum Arriving {
    /// As it is.
    Plain(Scan),
    /// Compressed.
    Packed(Box<GzDecoder<Scan>>),
}

impl Arriving {
    /// Looks for a chart in an index of at most so many bytes.
    pub(crate) fn new(chart: &str, limit: u64, packed: bool) -> Self {
        let scan = Scan::new(chart, limit);
        if packed { Self::Packed(Box::new(GzDecoder::new(scan))) } else { Self::Plain(scan) }
    }

    /// Takes what has arrived, and says whether more is wanted.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Result<bool, Fault> {
        let taken = match self {
            Self::Plain(scan) => scan.write_all(bytes),
            Self::Packed(decoder) => decoder.write_all(bytes),
        };
        taken.map_err(|error| Fault::Wrong(error.to_string()))?;
        Ok(!self.scan().has_stopped())
    }

    /// The versions of the chart; none if it is not there.
    pub(crate) fn finish(mut self) -> Result<Option<Vec<Release>>, Fault> {
        let ended = match &mut self {
            Self::Packed(decoder) if !decoder.get_ref().has_stopped() => decoder.try_finish(),
            _ => Ok(()),
        };
        ended.map_err(|error| Fault::Wrong(error.to_string()))?;
        std::mem::replace(self.scan(), Scan::new("", 0)).finish()
    }

    fn scan(&mut self) -> &mut Scan {
        match self {
            Self::Plain(scan) => scan,
            Self::Packed(decoder) => decoder.get_mut(),
        }
    }
}
