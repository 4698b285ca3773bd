//! Bytes that are compressed in parts: what is the same in many records is compressed once.

use flate2::{Compress, Compression, Crc, FlushCompress, Status};

use crate::Error;

/// A part of a gzip file: it refers to nothing before it, and another part may follow it.
pub(crate) struct Part {
    deflated: Vec<u8>,
    crc: Crc,
}

/// Magic, method, no flags, no time, no level, unknown system: the same bytes whoever makes them, and whenever.
const HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];

impl Part {
    /// Compresses a part that is not the last.
    pub(crate) fn new(bytes: &[u8], level: Compression) -> Result<Self, Error> {
        Self::ending_with(FlushCompress::Sync, bytes, level)
    }

    /// Compresses the last part.
    pub(crate) fn last(bytes: &[u8], level: Compression) -> Result<Self, Error> {
        Self::ending_with(FlushCompress::Finish, bytes, level)
    }

    fn ending_with(end: FlushCompress, bytes: &[u8], level: Compression) -> Result<Self, Error> {
        let mut crc = Crc::new();
        crc.update(bytes);
        let mut compress = Compress::new(level, false);
        let mut deflated = Vec::with_capacity(bytes.len() / 3 + 64);
        loop {
            let done = usize::try_from(compress.total_in()).unwrap_or(bytes.len());
            let status = compress.compress_vec(&bytes[done..], &mut deflated, end);
            let status = status.map_err(|error| Error::NotGzip(error.into()))?;
            // All of it is out when there was room for more.
            let all_out = compress.total_in() == bytes.len() as u64 && deflated.len() < deflated.capacity();
            if status == Status::StreamEnd || end == FlushCompress::Sync && all_out {
                deflated.shrink_to_fit();
                return Ok(Self { deflated, crc });
            }
            deflated.reserve(deflated.capacity().max(64));
        }
    }
}

/// One gzip file of these parts, of which only the last is a last one.
pub(crate) fn gzip(parts: &[&Part]) -> Vec<u8> {
    let size: usize = parts.iter().map(|part| part.deflated.len()).sum();
    let mut file = Vec::with_capacity(HEAD.len() + size + 8);
    file.extend_from_slice(&HEAD);
    let mut crc = Crc::new();
    for part in parts {
        file.extend_from_slice(&part.deflated);
        crc.combine(&part.crc);
    }
    file.extend_from_slice(&crc.sum().to_le_bytes());
    file.extend_from_slice(&crc.amount().to_le_bytes());
    file
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;

    use super::*;

    #[test]
    fn parts_are_one_file_of_one_member() {
        let long = "a text that goes on and on; ".repeat(20_000);
        let level = Compression::new(3);
        for parts in [["", ""], ["a", "b"], ["", "only"], [long.as_str(), "short"], ["short", long.as_str()]] {
            let [one, last] = [Part::new(parts[0].as_bytes(), level), Part::last(parts[1].as_bytes(), level)];
            let file = gzip(&[&one.unwrap(), &last.unwrap()]);
            let mut read = String::new();
            let mut reader = GzDecoder::new(file.as_slice());
            reader.read_to_string(&mut read).unwrap();
            assert!(read == parts.concat(), "{} and {} bytes", parts[0].len(), parts[1].len());
            assert_eq!(reader.into_inner().len(), 0, "nothing is left behind the first member");
        }
    }
}
