//! What an archive has to be.

use fitout_model::Digest;

use crate::address::sha256;
use crate::{Cause, Fetched};

/// With these bytes everything that is compressed with gzip begins.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// What an archive has to be: what its publisher says, and what is wanted.
pub(crate) struct Expected<'a> {
    version: &'a str,
    said: Option<Digest>,
    wanted: Option<&'a Digest>,
}

impl<'a> Expected<'a> {
    /// An archive of this version, with the digest that the index says it has, which has to be the one that is wanted.
    pub(crate) fn new(version: &'a str, said: Option<&str>, wanted: Option<&'a Digest>) -> Result<Self, Cause> {
        let no_digest = |text: &str| Cause::Malformed {
            what: "the index".to_owned(),
            why: format!("the digest {text:?} of version {version} is no SHA-256"),
        };
        let said = said.map(|text| sha256(text).map(Digest::from).ok_or_else(|| no_digest(text))).transpose()?;
        let expected = Self { version, said: None, wanted };
        expected.agree(said.as_ref())?;
        Ok(Self { said, ..expected })
    }

    /// Whether an archive with this digest is wanted: nothing is fetched for nothing.
    pub(crate) fn agree(&self, found: Option<&Digest>) -> Result<(), Cause> {
        match (found, self.wanted) {
            (Some(found), Some(wanted)) if found != wanted => {
                Err(Cause::Changed { version: self.version.to_owned(), wanted: wanted.clone(), found: found.clone() })
            }
            _ => Ok(()),
        }
    }

    /// The archive, if it is what it has to be.
    pub(crate) fn check(&self, what: &str, archive: Vec<u8>) -> Result<Fetched, Cause> {
        let digest = Digest::of(&archive);
        if let Some(said) = self.said.as_ref().filter(|said| **said != digest) {
            return Err(Cause::Lying { what: what.to_owned(), said: said.to_string(), found: digest });
        }
        if !archive.starts_with(&GZIP) {
            return Err(Cause::NotAChart { what: what.to_owned(), why: "it is no archive".to_owned() });
        }
        self.agree(Some(&digest))?;
        Ok(Fetched { archive, digest, version: self.version.to_owned() })
    }
}
