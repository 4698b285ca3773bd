//! SHA-256 digests of content.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// A digest, written as `sha256:` and 64 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Digest(String);

impl Digest {
    /// The digest of these bytes.
    pub fn of(content: impl AsRef<[u8]>) -> Self {
        Self(format!("sha256:{}", hex(&Sha256::digest(content))))
    }

    /// The digest of a value in its canonical JSON form: equal values have equal digests.
    pub fn of_value(value: &serde_json::Value) -> Self {
        Self::of(value.to_string())
    }

    /// The digest as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first twelve digits, for use in names.
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

/// Encodes bytes as lowercase hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |value: u8| char::from(DIGITS[usize::from(value & 15)]);
    bytes.iter().flat_map(|&byte| [digit(byte >> 4), digit(byte)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_of_an_empty_text_is_that_of_sha256() {
        let digest = Digest::of("");
        assert_eq!(digest.as_str(), "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(digest.short(), "e3b0c44298fc");
    }
}
