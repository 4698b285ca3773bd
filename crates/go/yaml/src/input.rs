//! The bytes of a text, as far as they are YAML.

use std::borrow::Cow;

const BYTE_ORDER_MARK: char = '\u{feff}';

/// Go reads this many bytes at a time and refuses them together.
const CHUNK: usize = 512;

/// A text up to where it is refused, and why it is refused there.
pub(crate) struct Input<'b> {
    pub(crate) good: Cow<'b, str>,
    pub(crate) cut: Option<&'static str>,
}

impl<'b> Input<'b> {
    pub(crate) fn of(bytes: &'b [u8]) -> Self {
        match bytes {
            [0xff, 0xfe, rest @ ..] => wide(rest, u16::from_le_bytes),
            [0xfe, 0xff, rest @ ..] => wide(rest, u16::from_be_bytes),
            bytes => narrow(bytes),
        }
    }
}

/// A text in UTF-8.
fn narrow(bytes: &[u8]) -> Input<'_> {
    let (text, invalid) = match str::from_utf8(bytes) {
        Ok(text) => (text, None),
        Err(error) => {
            let (valid, rest) = bytes.split_at(error.valid_up_to());
            (str::from_utf8(valid).unwrap_or_default(), Some(refusal(rest)))
        }
    };
    let control = first_control(text).map(|at| (at, "control characters are not allowed"));
    let refused = control.or(invalid.map(|problem| (text.len(), problem)));
    let good = match refused {
        None => text,
        // What is not there is noticed when it is asked for, and not before.
        Some((at, INCOMPLETE)) => &text[..at],
        Some((at, _)) => &text[..chunks_before(bytes, at)],
    };
    // Go skips a mark twice: when it looks for the encoding, and when it looks for the first token.
    let unmarked = good.strip_prefix(BYTE_ORDER_MARK).unwrap_or(good);
    let good = unmarked.strip_prefix(BYTE_ORDER_MARK).unwrap_or(unmarked);
    Input { good: good.into(), cut: refused.map(|(_, problem)| problem) }
}

const INCOMPLETE: &str = "incomplete UTF-8 octet sequence";

/// Why bytes are no UTF-8 right at their beginning.
fn refusal(bytes: &[u8]) -> &'static str {
    let first = bytes.first().copied().unwrap_or_default();
    let (width, start) = match first {
        0xC0..0xE0 => (2, first & 0x1F),
        0xE0..0xF0 => (3, first & 0x0F),
        0xF0..0xF8 => (4, first & 0x07),
        _ => return "invalid leading UTF-8 octet",
    };
    let Some(trailing) = bytes.get(1..width) else { return INCOMPLETE };
    if trailing.iter().any(|byte| byte & 0xC0 != 0x80) {
        return "invalid trailing UTF-8 octet";
    }
    let code = trailing.iter().fold(u32::from(start), |code, byte| code << 6 | u32::from(byte & 0x3F));
    let least = [0, 0, 0x80, 0x800, 0x1_0000][width];
    if code < least { "invalid length of a UTF-8 sequence" } else { "invalid Unicode character" }
}

/// A text in UTF-16.
fn wide<'b>(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Input<'b> {
    let (pairs, rest) = bytes.as_chunks();
    let mut cut = (!rest.is_empty()).then_some("incomplete UTF-16 character");
    let mut good = String::with_capacity(pairs.len());
    let mut units = pairs.iter().copied().map(unit).peekable();
    while let Some(first) = units.next() {
        let second = units.peek().copied();
        let c = match (first, second) {
            (0xDC00..0xE000, _) => Err("unexpected low surrogate area"),
            (0xD800..0xDC00, None) => Err("incomplete UTF-16 surrogate pair"),
            (0xD800..0xDC00, Some(second @ 0xDC00..0xE000)) => {
                units.next();
                let code = 0x1_0000 + (u32::from(first & 0x3FF) << 10) + u32::from(second & 0x3FF);
                char::from_u32(code).ok_or("invalid Unicode character")
            }
            (0xD800..0xDC00, Some(_)) => Err("expected low surrogate area"),
            (first, _) => char::from_u32(first.into()).ok_or("invalid Unicode character"),
        };
        match c {
            Ok(c) if is_allowed(c) => good.push(c),
            Ok(_) => {
                cut = Some("control characters are not allowed");
                break;
            }
            Err(problem) => {
                cut = Some(problem);
                break;
            }
        }
    }
    Input { good: good.into(), cut }
}

fn first_control(text: &str) -> Option<usize> {
    /// Whole blocks without a doubt are told with few instructions.
    const BLOCK: usize = 64;
    let bytes = text.as_bytes();
    // Nearly all bytes are beyond doubt.
    let doubtful = |byte: &u8| !matches!(byte, b' '..=b'~' | b'\n');
    let clear =
        bytes.chunks_exact(BLOCK).take_while(|block| !block.iter().fold(false, |any, byte| any | doubtful(byte)));
    let mut from = clear.count() * BLOCK;
    while let Some(at) = bytes[from..].iter().position(doubtful).map(|ahead| from + ahead) {
        let c = text[at..].chars().next()?;
        if !is_allowed(c) {
            return Some(at);
        }
        from = at + c.len_utf8();
    }
    None
}

/// How much Go would have read before the byte at which it refuses: whole chunks, of whole characters.
fn chunks_before(bytes: &[u8], bad: usize) -> usize {
    let mut start = 0;
    loop {
        let mut end = (start + CHUNK).min(bytes.len());
        while end > start && bytes.get(end).is_some_and(|byte| byte & 0xC0 == 0x80) {
            end -= 1;
        }
        if bad < end || end == start {
            return start;
        }
        start = end;
    }
}

fn is_allowed(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{a0}'..='\u{fffd}' | '\u{10000}'..)
}
