//! The bytes of a `!!binary` scalar.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};

/// Go's standard encoding: padding is required, superfluous bits are ignored.
const ENCODING: GeneralPurpose =
    GeneralPurpose::new(&STANDARD, GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true));

/// The text that a `!!binary` scalar stands for, with a replacement for each byte that is no text, as Go's JSON does it.
pub(crate) fn decode(scalar: &str) -> Option<String> {
    let symbols: Vec<u8> = scalar.bytes().filter(|c| !matches!(c, b'\r' | b'\n')).collect();
    let bytes = ENCODING.decode(symbols).ok()?;
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_is_required() {
        assert_eq!(decode("aGVs\nbG8=").as_deref(), Some("hello"));
        assert_eq!(decode("aGVsbG8"), None);
        assert_eq!(decode("a==="), None);
    }

    #[test]
    fn each_byte_that_is_no_text_is_replaced() {
        assert_eq!(decode("YeKCYg==").as_deref(), Some("a\u{fffd}\u{fffd}b"));
    }
}
