//! What begins with `%`, `&`, `*` or `!`: directives, anchors, aliases and tags.

use crate::Error;
use crate::cursor::{Mark, is_blank, is_blank_or_end, is_break_or_end, is_word};
use crate::scanner::Scanner;
use crate::tokens::{Kind, Token};

impl<'t> Scanner<'t> {
    /// `%YAML 1.1` or `%TAG !handle! prefix`, to the end of the line.
    pub(crate) fn directive(&mut self) -> Result<Token<'t>, Error> {
        let start = self.cursor.mark;
        self.cursor.skip();
        let name = self.cursor.take_while(is_word);
        if name.is_empty() {
            return self.fail("could not find expected directive name");
        }
        if !is_blank_or_end(self.cursor.peek(0)) {
            return self.fail("found unexpected non-alphabetical character");
        }
        let token = match name {
            "YAML" => self.version(start)?,
            "TAG" => self.tag_directive(start)?,
            _ => return self.fail("found unknown directive name"),
        };
        self.cursor.skip_rest_of_line();
        if !is_break_or_end(self.cursor.peek(0)) {
            return self.fail("did not find expected comment or line break");
        }
        self.cursor.take_break();
        Ok(token)
    }

    fn version(&mut self, start: Mark) -> Result<Token<'t>, Error> {
        self.cursor.skip_while(is_blank);
        let major = self.version_number()?;
        if self.cursor.peek(0) != '.' {
            return self.fail("did not find expected digit or '.' character");
        }
        self.cursor.skip();
        let minor = self.version_number()?;
        Ok(Token::with(Kind::VersionDirective, start, self.cursor.mark, format!("{major}.{minor}")))
    }

    fn version_number(&mut self) -> Result<u8, Error> {
        let mut number = None;
        let mut length = 0;
        while let Some(digit) = self.cursor.peek(0).to_digit(10).and_then(|digit| u8::try_from(digit).ok()) {
            length += 1;
            if length > 2 {
                return self.fail("found extremely long version number");
            }
            number = Some(number.unwrap_or(0) * 10 + digit);
            self.cursor.skip();
        }
        match number {
            Some(number) => Ok(number),
            None => self.fail("did not find expected version number"),
        }
    }

    fn tag_directive(&mut self, start: Mark) -> Result<Token<'t>, Error> {
        self.cursor.skip_while(is_blank);
        let handle = self.tag_handle()?;
        if !handle.ends_with('!') {
            return self.fail("did not find expected '!'");
        }
        if !is_blank(self.cursor.peek(0)) {
            return self.fail("did not find expected whitespace");
        }
        self.cursor.skip_while(is_blank);
        let prefix = self.tag_uri("")?;
        if !is_blank_or_end(self.cursor.peek(0)) {
            return self.fail("did not find expected whitespace or line break");
        }
        Ok(Token { suffix: prefix, ..Token::with(Kind::TagDirective, start, self.cursor.mark, handle) })
    }

    /// `&name` or `*name`.
    pub(crate) fn anchor(&mut self, kind: Kind) -> Result<Token<'t>, Error> {
        let start = self.cursor.mark;
        self.cursor.skip();
        let name = self.cursor.take_while(is_word);
        let next = self.cursor.peek(0);
        if name.is_empty() || !(is_blank_or_end(next) || "?:,]}%@`".contains(next)) {
            return self.fail("did not find expected alphabetic or numeric character");
        }
        Ok(Token::with(kind, start, self.cursor.mark, name))
    }

    /// `!suffix`, `!handle!suffix` or `!<uri>`.
    pub(crate) fn tag(&mut self) -> Result<Token<'t>, Error> {
        let start = self.cursor.mark;
        let (handle, suffix) = if self.cursor.peek(1) == '<' {
            (String::new(), self.verbatim_tag()?)
        } else {
            let handle = self.tag_handle()?;
            if handle.len() > 1 && handle.ends_with('!') {
                let suffix = self.tag_uri("")?;
                (handle, suffix)
            } else {
                match self.tag_uri(&handle)? {
                    // The tag `!`, by which something is said to be a string.
                    suffix if suffix.is_empty() => (suffix, handle),
                    suffix => ("!".to_owned(), suffix),
                }
            }
        };
        if !is_blank_or_end(self.cursor.peek(0)) {
            return self.fail("did not find expected whitespace or line break");
        }
        Ok(Token { suffix, ..Token::with(Kind::Tag, start, self.cursor.mark, handle) })
    }

    fn verbatim_tag(&mut self) -> Result<String, Error> {
        self.cursor.skip();
        self.cursor.skip();
        let uri = self.tag_uri("")?;
        if self.cursor.peek(0) != '>' {
            return self.fail("did not find the expected '>'");
        }
        self.cursor.skip();
        Ok(uri)
    }

    /// `!`, `!!`, `!name!`, or the beginning of a suffix: `!name`.
    fn tag_handle(&mut self) -> Result<String, Error> {
        if self.cursor.peek(0) != '!' {
            return self.fail("did not find expected '!'");
        }
        let mut handle = String::new();
        self.cursor.take(&mut handle);
        handle.push_str(self.cursor.take_while(is_word));
        if self.cursor.peek(0) == '!' {
            self.cursor.take(&mut handle);
        }
        Ok(handle)
    }

    /// The rest of a tag, after what was first taken for a handle.
    fn tag_uri(&mut self, head: &str) -> Result<String, Error> {
        let mut uri = head.strip_prefix('!').unwrap_or(head).as_bytes().to_vec();
        let mut found = !head.is_empty();
        loop {
            match self.cursor.peek(0) {
                '%' => self.escaped_character(&mut uri)?,
                c if is_word(c) || ";/?:@&=+$,.!~*'()[]".contains(c) => {
                    let mut bytes = [0; 4];
                    uri.extend_from_slice(c.encode_utf8(&mut bytes).as_bytes());
                    self.cursor.skip();
                }
                _ => break,
            }
            found = true;
        }
        if !found {
            return self.fail("did not find expected tag URI");
        }
        Ok(String::from_utf8_lossy(&uri).into_owned())
    }

    /// One character of a tag, written as `%` and two digits for each of its bytes.
    fn escaped_character(&mut self, uri: &mut Vec<u8>) -> Result<(), Error> {
        let mut left = None;
        while left != Some(0) {
            // As Go, look at all three first: what it does not have may be among them.
            self.cursor.peek(2);
            let digits = (self.cursor.peek(0) == '%')
                .then(|| Some((self.cursor.peek(1).to_digit(16)?, self.cursor.peek(2).to_digit(16)?)))
                .flatten();
            let Some(octet) = digits.and_then(|(high, low)| u8::try_from(high * 16 + low).ok()) else {
                return self.fail("did not find URI escaped octet");
            };
            left = match (left, octet) {
                (None, 0x00..=0x7f) => Some(0),
                (None, 0xc0..=0xdf) => Some(1),
                (None, 0xe0..=0xef) => Some(2),
                (None, 0xf0..=0xf7) => Some(3),
                (None, _) => return self.fail("found an incorrect leading UTF-8 octet"),
                (Some(left), 0x80..=0xbf) => Some(left - 1),
                (Some(_), _) => return self.fail("found an incorrect trailing UTF-8 octet"),
            };
            uri.push(octet);
            (0..3).for_each(|_| self.cursor.skip());
        }
        Ok(())
    }
}
