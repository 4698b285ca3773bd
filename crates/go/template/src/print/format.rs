//! Flags, width and precision, and how they pad.

use crate::quote::{self, Charset};
use crate::rune;

/// What stands between the percent sign and the verb.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "they are flags")]
pub(super) struct Format {
    pub(super) width: Option<usize>,
    pub(super) precision: Option<usize>,
    pub(super) minus: bool,
    pub(super) plus: bool,
    pub(super) sharp: bool,
    pub(super) space: bool,
    pub(super) zero: bool,
    /// `%+v`, in the place of `plus`.
    pub(super) plus_v: bool,
    /// `%#v`, in the place of `sharp`.
    pub(super) sharp_v: bool,
}

impl Format {
    /// So much padding: zeros only to the left.
    pub(super) fn fill(self, buffer: &mut Vec<u8>, count: usize) {
        let byte = if self.zero && !self.minus { b'0' } else { b' ' };
        buffer.resize(buffer.len() + count, byte);
    }

    /// A text on its side of the padding.
    pub(super) fn pad(self, buffer: &mut Vec<u8>, text: &[u8]) {
        let missing = self.width.map_or(0, |width| width.saturating_sub(rune::count(text)));
        if !self.minus {
            self.fill(buffer, missing);
        }
        buffer.extend_from_slice(text);
        if self.minus {
            self.fill(buffer, missing);
        }
    }

    /// The same without zeros.
    pub(super) fn pad_with_spaces(self, buffer: &mut Vec<u8>, text: &[u8]) {
        Self { zero: false, ..self }.pad(buffer, text);
    }

    /// As many runes as the precision allows.
    pub(super) fn truncate(self, text: &[u8]) -> &[u8] {
        let Some(precision) = self.precision else { return text };
        rune::all(text).nth(precision).map_or(text, |rune| &text[..rune.begin])
    }

    /// `%q` of a string.
    pub(super) fn quote(self, buffer: &mut Vec<u8>, text: &[u8]) {
        let text = self.truncate(text);
        if self.sharp && quote::can_backquote(text) {
            self.pad(buffer, &[b"`", text, b"`"].concat());
        } else {
            self.pad(buffer, quote::quote_in(text, self.charset()).as_bytes());
        }
    }

    /// `%+q` is for ASCII.
    pub(super) fn charset(self) -> Charset {
        if self.plus { Charset::Ascii } else { Charset::Unicode }
    }

    /// `%x` of a string: each byte as two digits.
    pub(super) fn hex(self, buffer: &mut Vec<u8>, text: &[u8], digits: &[u8; 17]) {
        let text = &text[..self.precision.map_or(text.len(), |precision| precision.min(text.len()))];
        if text.is_empty() {
            self.fill(buffer, self.width.unwrap_or(0));
            return;
        }
        let mut encoded = Vec::with_capacity(text.len() * 3);
        for (place, byte) in text.iter().enumerate() {
            if self.space && place > 0 {
                encoded.push(b' ');
            }
            if self.sharp && (self.space || place == 0) {
                encoded.extend([b'0', digits[16]]);
            }
            encoded.extend([digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]]);
        }
        self.pad(buffer, &encoded);
    }
}

/// Digits, and the letter of the prefix.
pub(super) const LOWER: &[u8; 17] = b"0123456789abcdefx";
pub(super) const UPPER: &[u8; 17] = b"0123456789ABCDEFX";
