//! A pack in a temporary directory, and its objects.

use std::fs::{self, File};
use std::io::{self, BufRead, BufWriter};
use std::path::Path;

use gix_error::ErrorExt;
use gix_hash::{ObjectId, oid};
use gix_object::Kind;
use gix_pack::Bundle;
use gix_pack::data;
use gix_utils::progress::Discard;
use gix_zlib::Inflate;

use crate::guard::Guard;
use crate::incoming::{self, Incoming};
use crate::{Cause, Limits};

/// The objects of a pack. Their ids are computed from their content.
pub(crate) struct Pack {
    /// None for a pack without objects.
    bundle: Option<Bundle>,
    inflate: Inflate,
    buffer: Vec<u8>,
}

impl Pack {
    /// Writes a pack to the directory and computes the ids of its objects.
    pub(crate) fn receive(
        reader: &mut dyn BufRead,
        directory: &Path,
        guard: &Guard,
        limits: &Limits,
        hash: gix_hash::Kind,
    ) -> gix_error::Result<Self> {
        let (data, index) = (directory.join("objects.pack"), directory.join("objects.idx"));
        let disk = |error| guard.fail(Cause::Disk(error));
        let mut incoming = Incoming::new(reader, &data, guard, limits.object as u64, hash)?;
        let version = incoming.version();
        if incoming.size_hint().0 == 0 {
            incoming.finish()?;
            fs::remove_file(&data).map_err(|error| disk(error).raise())?;
            return Ok(Self { bundle: None, inflate: Inflate::default(), buffer: Vec::new() });
        }
        let mut index_file = BufWriter::new(File::create_new(&index).map_err(disk).map_err(ErrorExt::raise)?);
        let open = || data::File::at(&data, hash).map_err(io::Error::other);
        let written = gix_pack::index::write_data_iter_to_stream(
            gix_pack::index::Version::default(),
            || Ok((slice, open()?)),
            &mut incoming,
            Some(1),
            &mut Discard,
            &mut index_file,
            guard.interrupt(),
            hash,
            Some(limits.object),
            version,
        );
        written.inspect_err(|error| {
            if error.is_resource_exhausted() {
                guard.fail(incoming::too_large(limits.object as u64));
            }
        })?;
        index_file.into_inner().map_err(|error| disk(error.into_error()).raise())?;
        let pack = data::File::at(&data, hash)?.with_alloc_limit_bytes(Some(limits.object));
        let bundle = Some(Bundle { pack, index: gix_pack::index::File::at(&index, hash)? });
        // Both are open, and need no name any more.
        for path in [&data, &index] {
            fs::remove_file(path).map_err(|error| disk(error).raise())?;
        }
        Ok(Self { bundle, inflate: Inflate::default(), buffer: Vec::new() })
    }

    /// An object of this kind; none if it is not in the pack or is of another kind.
    pub(crate) fn object(&mut self, id: &oid, kind: Kind) -> Result<Option<&[u8]>, Cause> {
        let Some(bundle) = &self.bundle else { return Ok(None) };
        let found = bundle.find(id, &mut self.buffer, &mut self.inflate, &mut gix_pack::cache::Never);
        match found.map_err(malformed)? {
            Some((object, _)) if object.kind == kind => Ok(Some(&self.buffer)),
            _ => Ok(None),
        }
    }

    /// The parents of a commit; none if it is not in the pack.
    pub(crate) fn parents(&mut self, commit: &oid) -> Result<Option<Vec<ObjectId>>, Cause> {
        let Some(data) = self.object(commit, Kind::Commit)? else { return Ok(None) };
        let commit = gix_object::CommitRef::from_bytes(data, commit.kind()).map_err(malformed)?;
        Ok(Some(commit.parents().collect()))
    }
}

/// The bytes of an object in a pack.
fn slice(range: data::EntryRange, file: &data::File) -> Option<&[u8]> {
    file.entry_slice(range)
}

/// The cause of an object that cannot be parsed.
pub(crate) fn malformed(error: impl std::fmt::Display) -> Cause {
    Cause::Malformed(error.to_string())
}
