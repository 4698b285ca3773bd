//! A pack while it arrives: written to disk, and measured object by object.
//!
//! gix's own reader holds the compressed bytes of an object in memory, however many they are.

use std::fs::File;
use std::io::{self, BufRead, BufWriter, Read, Write};
use std::path::Path;

use flate2::Crc;
use flate2::bufread::ZlibDecoder;
use gix_error::ErrorExt;
use gix_hash::{Hasher, ObjectId};
use gix_pack::data::input::Entry;
use gix_pack::data::{self, header};

use crate::Cause;
use crate::guard::Guard;

/// The objects of a pack that arrives. Each is written to disk when it is passed on.
pub(crate) struct Incoming<'a> {
    stream: Tee<'a>,
    guard: &'a Guard,
    version: data::Version,
    hash: gix_hash::Kind,
    left: u32,
    /// The largest size of an object.
    limit: u64,
}

/// A stream whose bytes are copied to a file, and into checksums.
struct Tee<'a> {
    from: &'a mut dyn BufRead,
    to: BufWriter<File>,
    hasher: Hasher,
    checksum: Crc,
    count: u64,
    /// The error of a write, which the next read returns.
    failure: Option<io::Error>,
}

impl<'a> Incoming<'a> {
    /// Reads the header of a pack, and copies the pack to a new file.
    pub(crate) fn new(
        from: &'a mut dyn BufRead,
        to: &Path,
        guard: &'a Guard,
        limit: u64,
        hash: gix_hash::Kind,
    ) -> gix_error::Result<Self> {
        let to = File::create_new(to).map_err(|error| guard.fail(Cause::Disk(error)).raise())?;
        let (hasher, to) = (gix_hash::hasher(hash), BufWriter::with_capacity(1 << 16, to));
        let mut stream = Tee { from, to, hasher, checksum: Crc::new(), count: 0, failure: None };
        let mut first = [0; header::SIZE];
        stream.read_exact(&mut first).map_err(ErrorExt::raise)?;
        let (version, left) = header::decode(&first)?;
        Ok(Self { stream, guard, version, hash, left, limit })
    }

    /// The version of the pack's format.
    pub(crate) fn version(&self) -> data::Version {
        self.version
    }

    /// Completes the file of a pack without objects.
    pub(crate) fn finish(&mut self) -> gix_error::Result<ObjectId> {
        self.trailer().map_err(ErrorExt::raise)
    }

    fn next_entry(&mut self) -> io::Result<Entry> {
        let offset = self.stream.count;
        self.stream.checksum = Crc::new();
        let entry = data::Entry::from_read(&mut self.stream, offset, self.hash.len_in_bytes())?;
        let size = entry.decompressed_size;
        if size > self.limit {
            return Err(self.guard.fail(too_large(self.limit)));
        }
        let begin = self.stream.count;
        let mut content = ZlibDecoder::new(&mut self.stream);
        // One byte more, so that the end of the compressed bytes is read, and a wrong size is found.
        let inflated = io::copy(&mut (&mut content).take(size + 1), &mut io::sink())?;
        if inflated != size {
            return Err(io::Error::other("an object of the pack does not have its stated size"));
        }
        let compressed_size = self.stream.count - begin;
        let header_size = u16::try_from(begin - offset).map_err(io::Error::other)?;
        let checksum = self.stream.checksum.sum();
        self.left -= 1;
        Ok(Entry {
            header: entry.header,
            header_size,
            pack_offset: offset,
            compressed: None,
            compressed_size,
            crc32: Some(checksum),
            decompressed_size: size,
            trailer: if self.left == 0 { Some(self.trailer()?) } else { None },
        })
    }

    /// Reads the checksum at the end of the pack, and compares it with that of its bytes.
    fn trailer(&mut self) -> io::Result<ObjectId> {
        let computed = self.stream.hasher.clone().try_finalize().map_err(io::Error::other)?;
        let mut stated = ObjectId::null(self.hash);
        self.stream.read_exact(stated.as_mut_slice())?;
        self.stream.to.flush().map_err(|error| self.guard.fail(Cause::Disk(error)))?;
        if stated == computed { Ok(stated) } else { Err(io::Error::other("the checksum of the pack is wrong")) }
    }
}

/// The cause of an object that is over the limit.
pub(crate) fn too_large(limit: u64) -> Cause {
    Cause::TooLarge {
        what: "a file or the list of the files in it".to_owned(),
        limit,
        unit: " bytes",
        remedy: "publish the folder in a repository without large files",
    }
}

impl Iterator for Incoming<'_> {
    type Item = gix_error::Result<Entry>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            return None;
        }
        let entry = self.next_entry().map_err(|error| match self.stream.failure.take() {
            Some(error) => self.guard.fail(Cause::Disk(error)).raise(),
            None => error.raise(),
        });
        if entry.is_err() {
            self.left = 0;
        }
        Some(entry)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.left).unwrap_or(usize::MAX);
        (left, Some(left))
    }
}

impl Read for Tee<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

impl BufRead for Tee<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.failure.is_some() {
            return Err(io::Error::other("the pack cannot be written"));
        }
        self.from.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        if count == 0 {
            return;
        }
        // The buffer is filled: these bytes come from it.
        let bytes = self.from.fill_buf().map(|buffer| &buffer[..count]);
        match bytes.and_then(|bytes| self.to.write_all(bytes).map(|()| bytes)) {
            Ok(bytes) => {
                self.hasher.update(bytes);
                self.checksum.update(bytes);
                self.count += count as u64;
            }
            Err(error) => self.failure = Some(error),
        }
        self.from.consume(count);
    }
}
