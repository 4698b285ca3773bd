//! Integers and characters.

use std::io::Write;

use smallvec::SmallVec;

use super::format::{Format, LOWER, UPPER};
use crate::quote;
use crate::rune;

/// An integer, as a magnitude and a sign.
#[derive(Clone, Copy)]
pub(super) struct Integer {
    magnitude: u64,
    negative: bool,
    /// What it is as 64 bits without a sign.
    bits: u64,
    pub(super) signed: bool,
}

impl From<i64> for Integer {
    fn from(number: i64) -> Self {
        Self { magnitude: number.unsigned_abs(), negative: number < 0, bits: number.cast_unsigned(), signed: true }
    }
}

impl From<u64> for Integer {
    fn from(number: u64) -> Self {
        Self { magnitude: number, negative: false, bits: number, signed: false }
    }
}

impl Format {
    /// An integer with this verb; false where integers have no such verb.
    pub(super) fn integer(self, buffer: &mut Vec<u8>, number: Integer, verb: char) -> bool {
        match verb {
            'v' if self.sharp_v && !number.signed => self.hexadecimal(buffer, number.bits),
            'v' | 'd' => self.digits(buffer, number, 10, verb, LOWER),
            'b' => self.digits(buffer, number, 2, verb, LOWER),
            'o' | 'O' => self.digits(buffer, number, 8, verb, LOWER),
            'x' => self.digits(buffer, number, 16, verb, LOWER),
            'X' => self.digits(buffer, number, 16, verb, UPPER),
            'c' => self.pad(buffer, rune_of(number.bits).encode_utf8(&mut [0; 4]).as_bytes()),
            'q' => {
                let quoted = quote::quote_rune(rune_of(number.bits), self.charset());
                self.pad(buffer, quoted.as_bytes());
            }
            'U' => self.unicode(buffer, number.bits),
            _ => return false,
        }
        true
    }

    fn is_plain(self) -> bool {
        let Self { width, precision, plus, sharp, space, .. } = self;
        width.is_none() && precision.is_none() && !plus && !sharp && !space
    }

    /// As Go's syntax has it: with a prefix.
    pub(super) fn hexadecimal(self, buffer: &mut Vec<u8>, bits: u64) {
        Self { sharp: true, ..self }.digits(buffer, bits.into(), 16, 'v', LOWER);
    }

    pub(super) fn digits(self, buffer: &mut Vec<u8>, number: Integer, base: u64, verb: char, digits: &[u8; 17]) {
        if base == 10 && self.is_plain() {
            return decimal(buffer, number);
        }
        if self.precision == Some(0) && number.magnitude == 0 {
            // Nothing but padding.
            Self { zero: false, ..self }.fill(buffer, self.width.unwrap_or(0));
            return;
        }
        let signed = number.negative || self.plus || self.space;
        // Leading zeros come from the precision, or from a width that is filled with them.
        let wanted = match (self.precision, self.width) {
            (Some(precision), _) => precision,
            (None, Some(width)) if self.zero && !self.minus => width.saturating_sub(usize::from(signed)),
            _ => 0,
        };
        // From right to left.
        let mut reversed: SmallVec<[u8; 64]> = SmallVec::new();
        let mut rest = number.magnitude;
        loop {
            reversed.push(digits[usize::try_from(rest % base).unwrap_or(0)]);
            rest /= base;
            if rest == 0 {
                break;
            }
        }
        reversed.resize(reversed.len().max(wanted), b'0');
        if self.sharp {
            match base {
                2 => reversed.extend(*b"b0"),
                8 if reversed.last() != Some(&b'0') => reversed.push(b'0'),
                16 => reversed.extend([digits[16], b'0']),
                _ => {}
            }
        }
        if verb == 'O' {
            reversed.extend(*b"o0");
        }
        match (number.negative, self.plus, self.space) {
            (true, ..) => reversed.push(b'-'),
            (_, true, _) => reversed.push(b'+'),
            (.., true) => reversed.push(b' '),
            _ => {}
        }
        reversed.reverse();
        self.pad_with_spaces(buffer, &reversed);
    }

    /// `%U`, such as U+0041.
    fn unicode(self, buffer: &mut Vec<u8>, bits: u64) {
        let digits = format!("{bits:X}");
        let zeros = self.precision.unwrap_or(0).max(4).saturating_sub(digits.len());
        let mut text = format!("U+{}{digits}", "0".repeat(zeros)).into_bytes();
        if let Some(rune) = u32::try_from(bits).ok().and_then(char::from_u32)
            && self.sharp
            && rune::is_print(rune)
        {
            text.extend_from_slice(b" '");
            rune::push(&mut text, rune);
            text.push(b'\'');
        }
        self.pad_with_spaces(buffer, &text);
    }
}

/// An integer without any format.
pub(super) fn decimal(buffer: &mut Vec<u8>, number: Integer) {
    let sign = if number.negative { "-" } else { "" };
    let written = write!(buffer, "{sign}{}", number.magnitude);
    debug_assert!(written.is_ok(), "a vector takes everything");
}

fn rune_of(bits: u64) -> char {
    u32::try_from(bits).ok().and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER)
}
