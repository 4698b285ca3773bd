//! The text that is searched.

use std::ops::Range;

/// The text that is searched. To Go, each byte that is no UTF-8 is a character, U+FFFD: where there are such, the text is
/// written anew with that character in their place, and what is found there is found at the place of the byte.
pub(crate) enum Haystack<'t> {
    Valid(&'t [u8]),
    Mended {
        text: Vec<u8>,
        /// Where each byte of it, and the end, is in the original.
        origins: Vec<usize>,
    },
}

impl<'t> Haystack<'t> {
    pub(crate) fn new(text: &'t [u8]) -> Self {
        if str::from_utf8(text).is_ok() { Self::Valid(text) } else { Self::mend(text) }
    }

    fn mend(text: &[u8]) -> Self {
        let (mut mended, mut origins) = (Vec::with_capacity(text.len() + 8), Vec::with_capacity(text.len() + 9));
        let mut at = 0;
        for chunk in text.utf8_chunks() {
            mended.extend_from_slice(chunk.valid().as_bytes());
            origins.extend(at..at + chunk.valid().len());
            at += chunk.valid().len();
            for _ in chunk.invalid() {
                let stand_in = "\u{FFFD}".as_bytes();
                mended.extend_from_slice(stand_in);
                origins.extend(stand_in.iter().map(|_| at));
                at += 1;
            }
        }
        origins.push(at);
        Self::Mended { text: mended, origins }
    }

    /// The text to search.
    pub(crate) fn text(&self) -> &[u8] {
        match self {
            Self::Valid(text) => text,
            Self::Mended { text, .. } => text,
        }
    }

    /// Where something that was found is in the original.
    pub(crate) fn original(&self, found: &Range<usize>) -> Range<usize> {
        match self {
            Self::Valid(_) => found.clone(),
            Self::Mended { origins, .. } => origins[found.start]..origins[found.end],
        }
    }

    /// The width of the character at a place; at the end there is none.
    pub(crate) fn width(&self, at: usize) -> usize {
        match self.text().get(at) {
            None => 0,
            Some(0..0x80) => 1,
            Some(0x80..0xE0) => 2,
            Some(0xE0..0xF0) => 3,
            Some(0xF0..) => 4,
        }
    }
}
