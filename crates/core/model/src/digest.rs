//! Content by its digest.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// The digest of some content, written as `sha256:` and 64 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Digest(String);

impl Digest {
    /// The digest of these bytes.
    pub fn of(content: impl AsRef<[u8]>) -> Self {
        Self(format!("sha256:{}", hex(&Sha256::digest(content))))
    }

    /// The digest of a value: the same for the same value, whatever it was read from.
    pub fn of_value(value: &serde_json::Value) -> Self {
        Self::of(value.to_string())
    }

    /// As it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Enough of it for a name: the first twelve digits.
    pub fn short(&self) -> &str {
        self.0.get(7..19).unwrap_or(&self.0)
    }
}

impl From<String> for Digest {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Bytes as people read hashes: two digits for each.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |value: u8| char::from(DIGITS[usize::from(value & 15)]);
    bytes.iter().flat_map(|&byte| [digit(byte >> 4), digit(byte)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_of_nothing_is_the_known_one() {
        let digest = Digest::of("");
        assert_eq!(digest.as_str(), "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(digest.short(), "e3b0c44298fc");
    }
}
