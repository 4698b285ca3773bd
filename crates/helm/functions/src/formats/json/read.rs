//! JSON as Go reads it, refused in Go's words.

use std::rc::Rc;

use fitout_go_template::{Error, Map, Text, Type, Value, quote};

use crate::stack::enough;

/// How deep Go lets a text nest.
const DEEPEST: usize = 10_000;

/// What came of a text: a value, and what was wrong with it, if anything.
pub(crate) struct Unmarshal {
    /// Nil where the text is no JSON. Where something did not fit, all else is there.
    pub(crate) value: Value,
    /// In Go's words.
    pub(crate) error: Option<String>,
    /// Whether the whole text is a number that is too large.
    pub(crate) number: bool,
}

impl Unmarshal {
    /// A value with which nothing is wrong.
    pub(crate) fn of(value: Value) -> Self {
        Self { value, error: None, number: false }
    }

    /// Nothing where a type is wanted.
    pub(crate) fn refused(target: Type, error: String) -> Self {
        Self { value: Value::zero(target), error: Some(error), number: false }
    }

    /// The value, if nothing is wrong with it.
    pub(crate) fn whole(self) -> Result<Value, Error> {
        self.error.map_or(Ok(self.value), |error| Err(Error::new(error)))
    }
}

/// What JSON stands for; all numbers are floats.
pub(crate) fn from_json(text: &[u8]) -> Unmarshal {
    let mut reader = Reader { text, at: 0, depth: 0, misfit: None };
    match reader.document() {
        Ok(value) => {
            let number = reader.misfit.is_some() && matches!(value, Value::Nil);
            Unmarshal { value, error: reader.misfit, number }
        }
        Err(error) => Unmarshal { value: Value::Nil, error: Some(error), number: false },
    }
}

/// What the JSON at the beginning of a text stands for, and how long it is; as `json.Decoder` reads one value of many.
pub(crate) fn from_json_prefix(text: &[u8]) -> Result<(Value, usize), String> {
    let mut reader = Reader { text, at: 0, depth: 0, misfit: None };
    match reader.value() {
        Ok(value) => reader.misfit.map_or(Ok((value, reader.at)), Err),
        Err(_) if reader.at == text.len() => Err("unexpected EOF".to_owned()),
        Err(error) => Err(error),
    }
}

struct Reader<'t> {
    text: &'t [u8],
    at: usize,
    depth: usize,
    /// The first number that is no float.
    misfit: Option<String>,
}

impl Reader<'_> {
    fn document(&mut self) -> Result<Value, String> {
        let value = self.value()?;
        match self.next_char() {
            Some(c) => Err(invalid(c, "after top-level value")),
            None => Ok(value),
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// The next character that is no space, which stays where it is.
    fn next_char(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.peek() {
            self.at += 1;
        }
        self.peek()
    }

    /// An error at the next character that is no space, or at the end.
    fn fail<T>(&mut self, context: &str) -> Result<T, String> {
        Err(self.next_char().map_or_else(end, |c| invalid(c, context)))
    }

    /// An error at the next character. At the end Go tries a space, which these contexts do not have.
    fn fail_within<T>(&self, context: &str) -> Result<T, String> {
        Err(invalid(self.peek().unwrap_or(b' '), context))
    }

    fn value(&mut self) -> Result<Value, String> {
        match self.next_char() {
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'"') => Ok(Value::String(self.string()?)),
            Some(b't') => self.literal("true", Value::Bool(true)),
            Some(b'f') => self.literal("false", Value::Bool(false)),
            Some(b'n') => self.literal("null", Value::Nil),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.fail("looking for beginning of value"),
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Value, String>) -> Result<Value, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return self.fail("exceeded max depth");
        }
        self.at += 1;
        let value = enough(|| read(self))?;
        self.depth -= 1;
        Ok(value)
    }

    fn array(&mut self) -> Result<Value, String> {
        let mut items = Vec::new();
        if self.next_char() == Some(b']') {
            self.at += 1;
            return Ok(Value::list(items));
        }
        loop {
            items.push(self.value()?);
            match self.next_char() {
                Some(b',') => self.at += 1,
                Some(b']') => break self.at += 1,
                _ => return self.fail("after array element"),
            }
        }
        Ok(Value::list(items))
    }

    fn object(&mut self) -> Result<Value, String> {
        let mut pairs = Vec::new();
        if self.next_char() == Some(b'}') {
            self.at += 1;
            return Ok(Value::Map(Rc::new(Map::of(Type::MAP, pairs))));
        }
        loop {
            if self.next_char() != Some(b'"') {
                return self.fail("looking for beginning of object key string");
            }
            let key = self.string()?;
            if self.next_char() != Some(b':') {
                return self.fail("after object key");
            }
            self.at += 1;
            pairs.push((Value::String(key), self.value()?));
            match self.next_char() {
                Some(b',') => self.at += 1,
                Some(b'}') => break self.at += 1,
                _ => return self.fail("after object key:value pair"),
            }
        }
        Ok(Value::Map(Rc::new(Map::of(Type::MAP, pairs))))
    }

    fn literal(&mut self, name: &str, value: Value) -> Result<Value, String> {
        for expected in name.bytes() {
            if self.peek() != Some(expected) {
                return self.fail_within(&format!("in literal {name} (expecting '{}')", char::from(expected)));
            }
            self.at += 1;
        }
        Ok(value)
    }

    fn digits(&mut self) -> bool {
        let from = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        self.at > from
    }

    fn number(&mut self) -> Result<Value, String> {
        let from = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        // Nothing follows a zero in front.
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else if !self.digits() {
            return self.fail_within("in numeric literal");
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            if !self.digits() {
                return self.fail_within("after decimal point in numeric literal");
            }
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            if !self.digits() {
                return self.fail_within("in exponent of numeric literal");
            }
        }
        let text = str::from_utf8(&self.text[from..self.at]).unwrap_or_default();
        match text.parse() {
            Ok(float) if f64::is_finite(float) => Ok(Value::float(float)),
            _ => {
                self.misfit.get_or_insert_with(|| {
                    format!("json: cannot unmarshal number {text} into Go value of type float64")
                });
                Ok(Value::Nil)
            }
        }
    }

    /// A string, from its quote on.
    fn string(&mut self) -> Result<Text, String> {
        self.at += 1;
        let from = self.at;
        let usual = |c: &u8| !matches!(c, b'"' | b'\\' | 0..0x20);
        self.at += self.text[from..].iter().take_while(|c| usual(c)).count();
        let first = &self.text[from..self.at];
        if self.peek() == Some(b'"') && str::from_utf8(first).is_ok() {
            self.at += 1;
            return Ok(first.into());
        }
        let mut decoded = Vec::with_capacity(first.len() + 16);
        push_text(&mut decoded, first);
        loop {
            match self.peek() {
                None => return Err(end()),
                Some(b'"') => break self.at += 1,
                Some(b'\\') => self.escape(&mut decoded)?,
                Some(0..0x20) => return self.fail_within("in string literal"),
                Some(_) => {
                    let from = self.at;
                    self.at += self.text[from..].iter().take_while(|c| usual(c)).count();
                    push_text(&mut decoded, &self.text[from..self.at]);
                }
            }
        }
        Ok(decoded.into())
    }

    fn escape(&mut self, decoded: &mut Vec<u8>) -> Result<(), String> {
        self.at += 1;
        let byte = match self.peek() {
            Some(c @ (b'"' | b'\\' | b'/')) => c,
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => {
                self.at += 1;
                let c = self.code()?;
                decoded.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            _ => return self.fail_within("in string escape code"),
        };
        self.at += 1;
        decoded.push(byte);
        Ok(())
    }

    /// The character of four hexadecimal digits, or of twice as many where they belong together.
    fn code(&mut self) -> Result<char, String> {
        let high = self.hexadecimal()?;
        if let Some(c) = char::from_u32(high) {
            return Ok(c);
        }
        let place = self.at;
        if (0xD800..0xDC00).contains(&high) && self.text[place..].starts_with(b"\\u") {
            self.at += 2;
            let low = self.hexadecimal()?;
            if (0xDC00..0xE000).contains(&low) {
                let code = 0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            // The second is on its own.
            self.at = place;
        }
        Ok(char::REPLACEMENT_CHARACTER)
    }

    fn hexadecimal(&mut self) -> Result<u32, String> {
        let mut code = 0;
        for _ in 0..4 {
            match self.peek().and_then(|c| char::from(c).to_digit(16)) {
                Some(digit) => code = code * 16 + digit,
                None => return self.fail_within("in \\u hexadecimal character escape"),
            }
            self.at += 1;
        }
        Ok(code)
    }
}

/// Pushes a text with U+FFFD for each byte that is none.
fn push_text(decoded: &mut Vec<u8>, text: &[u8]) {
    for chunk in text.utf8_chunks() {
        decoded.extend_from_slice(chunk.valid().as_bytes());
        for _ in chunk.invalid() {
            decoded.extend_from_slice("\u{fffd}".as_bytes());
        }
    }
}

fn end() -> String {
    "unexpected end of JSON input".to_owned()
}

fn invalid(c: u8, context: &str) -> String {
    let shown = match c {
        b'\'' => "\\'".to_owned(),
        b'"' => "\"".to_owned(),
        // Go takes the byte for a character.
        c => quote(char::from(c).to_string().as_bytes()).trim_matches('"').to_owned(),
    };
    format!("invalid character '{shown}' {context}")
}
