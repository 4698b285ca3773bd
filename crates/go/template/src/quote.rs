//! Quotes, as Go's `strconv` writes and reads them.

use std::borrow::Cow;
use std::fmt::Write;

use crate::rune::{self, Rune};

/// Whether what is beyond ASCII is escaped too.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Charset {
    Unicode,
    Ascii,
}

/// `strconv.Quote`.
pub(crate) fn quote(text: &[u8]) -> String {
    quote_in(text, Charset::Unicode)
}

/// `strconv.Quote` or `strconv.QuoteToASCII`.
pub(crate) fn quote_in(text: &[u8], charset: Charset) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    let plain = |byte: &u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    if let Ok(text) = str::from_utf8(text)
        && text.as_bytes().iter().all(plain)
    {
        quoted.push_str(text);
        quoted.push('"');
        return quoted;
    }
    for rune in rune::all(text) {
        if rune.is_valid() {
            escape(&mut quoted, rune.char, '"', charset);
        } else {
            push_hex(&mut quoted, "\\x", 2, u32::from(text[rune.begin]));
        }
    }
    quoted.push('"');
    quoted
}

/// `strconv.QuoteRune` or `strconv.QuoteRuneToASCII`.
pub(crate) fn quote_rune(rune: char, charset: Charset) -> String {
    let mut quoted = String::from("'");
    escape(&mut quoted, rune, '\'', charset);
    quoted.push('\'');
    quoted
}

fn escape(quoted: &mut String, rune: char, quote: char, charset: Charset) {
    match rune {
        '\\' => quoted.push_str("\\\\"),
        _ if rune == quote => quoted.extend(['\\', rune]),
        ' '..='~' => quoted.push(rune),
        '\x07' => quoted.push_str("\\a"),
        '\x08' => quoted.push_str("\\b"),
        '\x0c' => quoted.push_str("\\f"),
        '\n' => quoted.push_str("\\n"),
        '\r' => quoted.push_str("\\r"),
        '\t' => quoted.push_str("\\t"),
        '\x0b' => quoted.push_str("\\v"),
        '\0'..='\x7f' => push_hex(quoted, "\\x", 2, rune.into()),
        _ if charset == Charset::Unicode && rune::is_print(rune) => quoted.push(rune),
        '\u{80}'..='\u{ffff}' => push_hex(quoted, "\\u", 4, rune.into()),
        _ => push_hex(quoted, "\\U", 8, rune.into()),
    }
}

fn push_hex(quoted: &mut String, prefix: &str, width: usize, number: u32) {
    let written = write!(quoted, "{prefix}{number:0width$x}");
    debug_assert!(written.is_ok(), "a string takes everything");
}

/// `strconv.CanBackquote`: whether it can be written between backquotes on one line.
pub(crate) fn can_backquote(text: &[u8]) -> bool {
    rune::all(text).all(|rune| {
        let plain = !matches!(rune.char, '\0'..='\x08' | '\x0a'..='\x1f' | '`' | '\x7f' | '\u{feff}');
        rune.is_valid() && plain
    })
}

/// `strconv.ErrSyntax`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BadSyntax;

/// `strconv.Unquote` of a string in double quotes or backquotes.
pub(crate) fn unquote(quoted: &[u8]) -> Result<Cow<'_, [u8]>, BadSyntax> {
    match quoted {
        [b'`', inner @ .., b'`'] if !inner.contains(&b'`') => {
            Ok(inner.iter().copied().filter(|byte| *byte != b'\r').collect())
        }
        // Most texts are written as they are.
        [b'"', inner @ .., b'"']
            if inner.iter().all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\')) =>
        {
            Ok(inner.into())
        }
        [b'"', inner @ .., b'"'] => {
            let (mut text, mut rest) = (Vec::with_capacity(inner.len()), inner);
            while let Some(byte) = rest.first() {
                if *byte == b'\n' {
                    return Err(BadSyntax);
                }
                let one = unquote_char(rest, b'"')?;
                one.push_to(&mut text);
                rest = &rest[one.width..];
            }
            Ok(text.into())
        }
        _ => Err(BadSyntax),
    }
}

/// A character of a quoted text: a rune, or a byte that was given by its number.
#[derive(Clone, Copy)]
pub(crate) struct Unquoted {
    code: u32,
    byte: bool,
    /// How many bytes it took between the quotes.
    pub(crate) width: usize,
}

impl Unquoted {
    fn push_to(self, text: &mut Vec<u8>) {
        match (u8::try_from(self.code), char::from_u32(self.code)) {
            (Ok(byte), _) if self.byte || byte < 0x80 => text.push(byte),
            (_, Some(rune)) => rune::push(text, rune),
            _ => {}
        }
    }

    /// The number of the rune or byte.
    pub(crate) fn code(self) -> u32 {
        self.code
    }
}

/// `strconv.UnquoteChar`.
pub(crate) fn unquote_char(text: &[u8], quote: u8) -> Result<Unquoted, BadSyntax> {
    let rune = |code, width| Ok(Unquoted { code, byte: false, width });
    let byte = |code, width| Ok(Unquoted { code, byte: true, width });
    match text {
        [first, ..] if *first == quote => Err(BadSyntax),
        [0x80..=0xFF, ..] => {
            let Rune { char: code, width, .. } = rune::all(text).next().ok_or(BadSyntax)?;
            rune(code.into(), width)
        }
        [b'\\', escape, rest @ ..] => match escape {
            b'a' => byte(7, 2),
            b'b' => byte(8, 2),
            b'f' => byte(12, 2),
            b'n' => byte(10, 2),
            b'r' => byte(13, 2),
            b't' => byte(9, 2),
            b'v' => byte(11, 2),
            b'\\' => byte(u32::from(b'\\'), 2),
            b'\'' | b'"' if *escape == quote => byte(u32::from(quote), 2),
            b'x' => byte(digits(rest, 2, 16)?, 4),
            b'u' => rune(scalar(digits(rest, 4, 16)?)?, 6),
            b'U' => rune(scalar(digits(rest, 8, 16)?)?, 10),
            b'0'..=b'7' => match digits(&text[1..], 3, 8)? {
                code @ 0..256 => byte(code, 4),
                _ => Err(BadSyntax),
            },
            _ => Err(BadSyntax),
        },
        [] | [b'\\'] => Err(BadSyntax),
        [first, ..] => byte(u32::from(*first), 1),
    }
}

fn digits(text: &[u8], count: usize, radix: u32) -> Result<u32, BadSyntax> {
    let digits = text.get(..count).ok_or(BadSyntax)?;
    digits.iter().try_fold(0_u32, |number, digit| {
        let digit = char::from(*digit).to_digit(radix).ok_or(BadSyntax)?;
        // Eight hexadecimal digits fill 32 bits.
        Ok(number.wrapping_mul(radix).wrapping_add(digit))
    })
}

fn scalar(code: u32) -> Result<u32, BadSyntax> {
    char::from_u32(code).map(u32::from).ok_or(BadSyntax)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_quoted_is_unquoted() {
        for text in [&b"a\"\\\n\x01\x7f"[..], "é中\u{200b}\u{1f389}`'".as_bytes(), b"\xff\xfea", b""] {
            for charset in [Charset::Unicode, Charset::Ascii] {
                assert_eq!(&*unquote(quote_in(text, charset).as_bytes()).unwrap(), text);
            }
        }
    }

    #[test]
    fn quotes_are_those_of_go() {
        assert_eq!(quote(b"\xff\x7f\r"), r#""\xff\x7f\r""#);
        assert_eq!(quote_in("é\u{1f389}".as_bytes(), Charset::Ascii), r#""\u00e9\U0001f389""#);
        assert_eq!(quote_rune('\'', Charset::Unicode), r"'\''");
        assert!(can_backquote(b"a\tb\"") && !can_backquote(b"a\nb") && !can_backquote(b"a`b"));
    }

    #[test]
    fn bad_quotes_are_refused() {
        for text in [r#""a"b""#, r#""\q""#, r#""\x1""#, r#""\400""#, r#""\ud800""#, "\"a", r#""\'""#] {
            assert_eq!(unquote(text.as_bytes()), Err(BadSyntax), "{text}");
        }
        assert_eq!(unquote(br#""\101\x41\u0041""#).unwrap(), &b"AAA"[..]);
        assert_eq!(unquote(b"`a\r\nb`").unwrap(), &b"a\nb"[..]);
    }
}
