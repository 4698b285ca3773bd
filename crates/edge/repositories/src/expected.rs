//! Verifies an archive against the stated and the requested digest.

use fitout_model::Digest;

use crate::address::sha256;
use crate::{Cause, ChartError, Fetched, ResponseError};

/// The magic number of gzip.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The digests that an archive must have.
pub(crate) struct Expected<'a> {
    version: &'a str,
    /// The digest that the publisher states.
    stated: Option<Digest>,
    /// The digest that the request requires.
    wanted: Option<&'a Digest>,
}

impl<'a> Expected<'a> {
    /// Fails if the digest in the index is invalid or not the required one.
    pub(crate) fn new(version: &'a str, stated: Option<&str>, wanted: Option<&'a Digest>) -> Result<Self, Cause> {
        let invalid = |text: &str| Cause::Malformed {
            what: "the index".to_owned(),
            reason: ResponseError::Digest { version: version.to_owned(), digest: text.to_owned() },
        };
        let stated = stated.map(|text| sha256(text).map(Digest::from).ok_or_else(|| invalid(text))).transpose()?;
        let expected = Self { version, stated: None, wanted };
        expected.check_digest(stated.as_ref())?;
        Ok(Self { stated, ..expected })
    }

    /// Fails if a digest is not the required one, so that no archive is fetched in vain.
    pub(crate) fn check_digest(&self, found: Option<&Digest>) -> Result<(), Cause> {
        match (found, self.wanted) {
            (Some(found), Some(wanted)) if found != wanted => {
                Err(Cause::Changed { version: self.version.to_owned(), wanted: wanted.clone(), found: found.clone() })
            }
            _ => Ok(()),
        }
    }

    /// Verifies an archive.
    pub(crate) fn verify(&self, what: &str, archive: Vec<u8>) -> Result<Fetched, Cause> {
        let digest = Digest::of(&archive);
        if let Some(stated) = self.stated.as_ref().filter(|stated| **stated != digest) {
            return Err(Cause::DigestMismatch { what: what.to_owned(), stated: stated.to_string(), found: digest });
        }
        if !archive.starts_with(&GZIP) {
            return Err(Cause::NotAChart { what: what.to_owned(), reason: ChartError::NotGzip });
        }
        self.check_digest(Some(&digest))?;
        Ok(Fetched { archive, digest, version: self.version.to_owned() })
    }
}
