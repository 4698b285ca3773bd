//! Characters of a pattern, which has to be UTF-8 where it is read as characters.

use crate::error::{Error, Reason};

/// The first code point and what comes after it. At the end it is U+FFFD, as in Go.
pub(super) fn first(text: &[u8]) -> Result<(u32, &[u8]), Error> {
    let Some(byte) = text.first() else { return Ok((char::REPLACEMENT_CHARACTER.into(), text)) };
    if byte.is_ascii() {
        return Ok((u32::from(*byte), &text[1..]));
    }
    let begin = &text[..text.len().min(4)];
    let valid = match str::from_utf8(begin) {
        Ok(valid) => valid,
        Err(error) => str::from_utf8(&begin[..error.valid_up_to()]).unwrap_or_default(),
    };
    let char = valid.chars().next().ok_or_else(|| Reason::Utf8.of(text))?;
    Ok((char.into(), &text[char.len_utf8()..]))
}

/// That all of a text is UTF-8.
pub(super) fn check(text: &[u8]) -> Result<(), Error> {
    str::from_utf8(text).map(drop).map_err(|error| Reason::Utf8.of(&text[error.valid_up_to()..]))
}
