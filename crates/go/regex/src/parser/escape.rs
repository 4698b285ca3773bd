//! A backslash before one character.

use super::runes::first;
use crate::class::LAST;
use crate::error::{Error, Reason};

/// The character that begins with a backslash, and what comes after it.
pub(super) fn read(text: &[u8]) -> Result<(u32, &[u8]), Error> {
    let rest = &text[1..];
    if rest.is_empty() {
        return Err(Reason::TrailingBackslash.of(b""));
    }
    let (code, rest) = first(rest)?;
    let mut seen = rest;
    let read = match u8::try_from(code) {
        Ok(digit @ b'1'..=b'7') if rest.first().copied().is_some_and(is_octal) => Some(octal(digit, rest)),
        Ok(b'0') => Some(octal(b'0', rest)),
        Ok(b'x') => hexadecimal(&mut seen)?,
        Ok(b'a') => Some((0x07, rest)),
        Ok(b'f') => Some((0x0C, rest)),
        Ok(b'n') => Some((0x0A, rest)),
        Ok(b'r') => Some((0x0D, rest)),
        Ok(b't') => Some((0x09, rest)),
        Ok(b'v') => Some((0x0B, rest)),
        Ok(byte) if byte.is_ascii() && !byte.is_ascii_alphanumeric() => Some((code, rest)),
        _ => None,
    };
    read.ok_or_else(|| Reason::Escape.of(&text[..text.len() - seen.len()]))
}

fn is_octal(byte: u8) -> bool {
    matches!(byte, b'0'..=b'7')
}

/// Up to three octal digits, of which there is one already.
fn octal(digit: u8, rest: &[u8]) -> (u32, &[u8]) {
    let more = rest.iter().take(2).take_while(|byte| is_octal(**byte)).count();
    let digits = std::iter::once(&digit).chain(&rest[..more]);
    (digits.fold(0, |code, digit| code * 8 + u32::from(digit - b'0')), &rest[more..])
}

/// What comes after `\x`: two digits, or any number of them in braces. `rest` is moved past all that was looked at.
fn hexadecimal<'t>(rest: &mut &'t [u8]) -> Result<Option<(u32, &'t [u8])>, Error> {
    let next = |rest: &mut &'t [u8]| -> Result<u32, Error> {
        let (code, after) = first(rest)?;
        *rest = after;
        Ok(code)
    };
    if rest.is_empty() {
        return Ok(None);
    }
    let code = next(rest)?;
    if code != u32::from('{') {
        let (high, low) = (value(code), value(next(rest)?));
        return Ok(high.zip(low).map(|(high, low)| (high * 16 + low, *rest)));
    }
    let mut read = None;
    while !rest.is_empty() {
        let code = next(rest)?;
        if code == u32::from('}') {
            return Ok(read.map(|read| (read, *rest)));
        }
        let Some(digit) = value(code) else { break };
        let more = read.unwrap_or(0) * 16 + digit;
        if more > LAST {
            break;
        }
        read = Some(more);
    }
    Ok(None)
}

fn value(code: u32) -> Option<u32> {
    char::from_u32(code)?.to_digit(16)
}
