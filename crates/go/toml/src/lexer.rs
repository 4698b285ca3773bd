//! From characters to items.
//!
//! Each state looks at what comes next and says which state follows. An error is an item like any other: what was found
//! before it is heard first.

use std::collections::VecDeque;

use crate::item::{Item, Kind};
use crate::key::is_bare;
use crate::quote::{quote, quote_char};

/// Stands for the character after the last. As one that is in the text it is refused.
const END: char = '\0';

/// What is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Top,
    TopEnd,
    TableStart,
    TableEnd,
    TablesEnd,
    TableNameStart,
    TableNameEnd,
    BareName,
    QuotedName,
    KeyStart,
    KeyNameStart,
    KeyEnd,
    Value,
    ArrayValue,
    ArrayValueEnd,
    InlineValue,
    InlineValueEnd,
    Plain,
    Multiline,
    Raw,
    RawMultiline,
    Comment,
    /// Nothing follows.
    Stop,
}

/// Gives the items of a text, one after the other.
pub(crate) struct Lexer<'t> {
    text: &'t [u8],
    start: usize,
    at: usize,
    line: isize,
    state: State,
    items: VecDeque<Item>,
    escaped: bool,
    at_end: bool,
    stack: Vec<State>,
}

impl<'t> Lexer<'t> {
    pub(crate) fn new(text: &'t [u8]) -> Self {
        Self {
            text,
            start: 0,
            at: 0,
            line: 1,
            state: State::Top,
            items: VecDeque::new(),
            escaped: false,
            at_end: false,
            stack: Vec::new(),
        }
    }

    /// The next item.
    pub(crate) fn next_item(&mut self) -> Item {
        loop {
            if let Some(item) = self.items.pop_front() {
                return item;
            }
            if self.state == State::Stop {
                return Item { kind: Kind::End, text: String::new(), line: self.line };
            }
            self.state = self.step();
        }
    }

    fn step(&mut self) -> State {
        match self.state {
            State::Top => self.top(),
            State::TopEnd => self.top_end(),
            State::TableStart => self.table_start(),
            State::TableEnd => self.emit_then(Kind::TableEnd, State::TopEnd),
            State::TablesEnd => self.tables_end(),
            State::TableNameStart => self.table_name_start(),
            State::TableNameEnd => self.table_name_end(),
            State::BareName => self.bare_name(),
            State::QuotedName => self.quoted_name(),
            State::KeyStart => self.key_start(),
            State::KeyNameStart => self.key_name_start(),
            State::KeyEnd => self.key_end(),
            State::Value => self.value(),
            State::ArrayValue => self.array_value(),
            State::ArrayValueEnd => self.array_value_end(),
            State::InlineValue => self.inline_value(),
            State::InlineValueEnd => self.inline_value_end(),
            State::Plain => self.plain(),
            State::Multiline => self.multiline(),
            State::Raw => self.raw(),
            State::RawMultiline => self.raw_multiline(),
            State::Comment => self.comment(),
            State::Stop => State::Stop,
        }
    }

    fn pop(&mut self) -> State {
        self.stack.pop().unwrap_or(State::Stop)
    }

    fn current(&self) -> &'t [u8] {
        &self.text[self.start.min(self.at)..self.at]
    }

    fn current_text(&self) -> String {
        String::from_utf8_lossy(self.current()).into_owned()
    }

    fn emit(&mut self, kind: Kind) {
        let text = self.current_text();
        self.items.push_back(Item { kind, text, line: self.line });
        self.start = self.at;
    }

    fn emit_then(&mut self, kind: Kind, state: State) -> State {
        self.emit(kind);
        state
    }

    /// The next character, which is taken. One that TOML does not have is an error, and stays where it is.
    fn next(&mut self) -> char {
        let Some(first) = self.text.get(self.at).copied() else {
            self.at_end = true;
            return END;
        };
        if first == b'\n' {
            self.line += 1;
        }
        let Some(c) = first_char(&self.text[self.at..]) else {
            self.error(format!("invalid UTF-8 byte: 0x{first:02x}"));
            return char::REPLACEMENT_CHARACTER;
        };
        let lonely_return = c == '\r' && self.text.get(self.at + 1) != Some(&b'\n');
        if lonely_return || is_control(c) {
            let message = format!("TOML files cannot contain control characters: '0x{:02x}'", u32::from(c));
            self.items.push_back(Item { kind: Kind::Error, text: message, line: self.line });
            return char::REPLACEMENT_CHARACTER;
        }
        self.at += c.len_utf8();
        c
    }

    /// Gives a character back that has been taken.
    fn back(&mut self, c: char) {
        if std::mem::take(&mut self.at_end) || self.failed() {
            return;
        }
        self.at -= c.len_utf8();
        if c == '\n' {
            self.line -= 1;
        }
    }

    /// Whether an error is waiting to be heard. What is found after it does not matter any more.
    fn failed(&self) -> bool {
        self.items.iter().any(|item| item.kind == Kind::Error)
    }

    fn accept(&mut self, wanted: char) -> bool {
        let c = self.next();
        if c == wanted {
            return true;
        }
        self.back(c);
        false
    }

    fn peek(&mut self) -> char {
        let c = self.next();
        self.back(c);
        c
    }

    fn ignore(&mut self) {
        self.start = self.at;
    }

    fn ignore_then(&mut self, state: State) -> State {
        self.ignore();
        state
    }

    fn skip_blanks(&mut self) {
        loop {
            let c = self.next();
            if !is_blank(c) {
                self.back(c);
                self.ignore();
                return;
            }
        }
    }

    /// An error here. At the end it is one of the line before.
    fn error(&mut self, message: String) -> State {
        if self.at_end {
            return self.error_on_line_before(message);
        }
        self.items.push_back(Item { kind: Kind::Error, text: message, line: self.line });
        State::Stop
    }

    fn error_on_line_before(&mut self, message: String) -> State {
        self.items.push_back(Item { kind: Kind::Error, text: message, line: self.line - 1 });
        State::Stop
    }

    /// An error here. At the end it is one of the line before only if there is nothing on the last.
    fn fail(&mut self, message: impl Into<String>) -> State {
        let empty = self.at_end && self.at >= 1 && self.text[self.at - 1] == b'\n';
        self.items.push_back(Item { kind: Kind::Error, text: message.into(), line: self.line - isize::from(empty) });
        State::Stop
    }

    fn top(&mut self) -> State {
        match self.next() {
            c if is_blank(c) || is_break(c) => self.ignore_then(State::Top),
            '#' => self.begin_comment(State::Top),
            '[' => State::TableStart,
            END if self.at_end => self.emit_then(Kind::End, State::Stop),
            c => {
                self.back(c);
                self.stack.push(State::TopEnd);
                State::KeyStart
            }
        }
    }

    fn top_end(&mut self) -> State {
        match self.next() {
            '#' => self.begin_comment(State::Top),
            c if is_blank(c) => State::TopEnd,
            c if is_break(c) => self.ignore_then(State::Top),
            END => self.emit_then(Kind::End, State::Stop),
            c => self.fail(format!(
                "expected a top-level item to end with a newline, comment, or EOF, but got {} instead",
                quote_char(c)
            )),
        }
    }

    fn table_start(&mut self) -> State {
        if self.peek() == '[' {
            self.next();
            self.emit(Kind::TablesStart);
            self.stack.push(State::TablesEnd);
        } else {
            self.emit(Kind::TableStart);
            self.stack.push(State::TableEnd);
        }
        State::TableNameStart
    }

    fn tables_end(&mut self) -> State {
        match self.next() {
            ']' => self.emit_then(Kind::TablesEnd, State::TopEnd),
            c => {
                self.fail(format!("expected end of table array name delimiter ']', but got {} instead", quote_char(c)))
            }
        }
    }

    fn table_name_start(&mut self) -> State {
        self.skip_blanks();
        match self.peek() {
            ']' | END => self.fail("unexpected end of table name (table names cannot be empty)"),
            '.' => self.fail("unexpected table separator (table names cannot be empty)"),
            c => {
                self.stack.push(State::TableNameEnd);
                if matches!(c, '"' | '\'') { State::QuotedName } else { State::BareName }
            }
        }
    }

    fn table_name_end(&mut self) -> State {
        self.skip_blanks();
        match self.next() {
            '.' => self.ignore_then(State::TableNameStart),
            ']' => self.pop(),
            c => self.fail(format!("expected '.' or ']' to end table name, but got {} instead", quote_char(c))),
        }
    }

    fn bare_name(&mut self) -> State {
        let c = self.next();
        if u8::try_from(c).is_ok_and(is_bare) {
            return State::BareName;
        }
        self.back(c);
        self.emit(Kind::Text);
        self.pop()
    }

    fn quoted_name(&mut self) -> State {
        let state = if self.next() == '"' { State::Plain } else { State::Raw };
        self.ignore_then(state)
    }

    fn key_start(&mut self) -> State {
        self.skip_blanks();
        match self.peek() {
            '=' | END => self.fail("unexpected '=': key name appears blank"),
            '.' => self.fail("unexpected '.': keys cannot start with a '.'"),
            _ => self.emit_then(Kind::KeyStart, State::KeyNameStart),
        }
    }

    fn key_name_start(&mut self) -> State {
        self.skip_blanks();
        match self.peek() {
            '=' | END => self.fail("unexpected '='"),
            '.' => self.fail("unexpected '.'"),
            c => {
                self.stack.push(State::KeyEnd);
                if matches!(c, '"' | '\'') { State::QuotedName } else { State::BareName }
            }
        }
    }

    fn key_end(&mut self) -> State {
        self.skip_blanks();
        match self.next() {
            END if self.at_end => self.fail("unexpected EOF; expected key separator '='"),
            '.' => self.ignore_then(State::KeyNameStart),
            '=' => {
                self.emit(Kind::KeyEnd);
                self.ignore_then(State::Value)
            }
            c => {
                let message = format!("expected '.' or '=', but got {} instead", quote_char(c));
                if c == '\n' { self.error_on_line_before(message) } else { self.fail(message) }
            }
        }
    }

    fn value(&mut self) -> State {
        let c = self.next();
        match c {
            c if is_blank(c) => return self.ignore_then(State::Value),
            '0'..='9' => return self.number_or_date(c),
            '[' => {
                self.ignore();
                return self.emit_then(Kind::ArrayStart, State::ArrayValue);
            }
            '{' => {
                self.ignore();
                return self.emit_then(Kind::InlineStart, State::InlineValue);
            }
            '"' => return self.opening('"', State::Plain, State::Multiline),
            '\'' => return self.opening('\'', State::Raw, State::RawMultiline),
            '.' => return self.fail("floats must start with a digit, not '.'"),
            'i' | 'n' if self.accept_all("nf") || self.accept_all("an") => {
                self.emit(Kind::Float);
                return self.pop();
            }
            '-' | '+' => return self.signed_number(),
            _ => {}
        }
        if c.is_alphabetic() {
            self.back_one(c);
            return self.bool();
        }
        if c == END && self.at_end {
            return self.fail("unexpected EOF; expected value");
        }
        let message = format!("expected value but found {} instead", quote_char(c));
        if c == '\n' { self.error_on_line_before(message) } else { self.fail(message) }
    }

    /// Accepts characters one after the other. Those that fit are taken even if another does not.
    fn accept_all(&mut self, wanted: &str) -> bool {
        wanted.chars().all(|c| self.accept(c))
    }

    /// As Go, one character back: that is not the beginning of the word where some of it has been accepted.
    fn back_one(&mut self, first: char) {
        let ascii = self.text[self.at - 1].is_ascii();
        self.back(if ascii { 'a' } else { first });
    }

    /// What is between one quote and the next, or between three and three.
    fn opening(&mut self, quote: char, single: State, triple: State) -> State {
        if self.accept(quote) {
            if self.accept(quote) {
                return self.ignore_then(triple);
            }
            self.back(quote);
        }
        self.ignore_then(single)
    }

    fn array_value(&mut self) -> State {
        match self.next() {
            c if is_blank(c) || is_break(c) => self.ignore_then(State::ArrayValue),
            '#' => self.begin_comment(State::ArrayValue),
            ',' => self.fail("unexpected comma"),
            ']' => self.close(Kind::ArrayEnd),
            c => {
                self.back(c);
                self.stack.push(State::ArrayValueEnd);
                State::Value
            }
        }
    }

    fn array_value_end(&mut self) -> State {
        match self.next() {
            c if is_blank(c) || is_break(c) => self.ignore_then(State::ArrayValueEnd),
            '#' => self.begin_comment(State::ArrayValueEnd),
            ',' => self.ignore_then(State::ArrayValue),
            ']' => self.close(Kind::ArrayEnd),
            c => self.fail(format!("expected a comma (',') or array terminator (']'), but got {}", char_or_end(c))),
        }
    }

    fn inline_value(&mut self) -> State {
        match self.next() {
            c if is_blank(c) || is_break(c) => self.ignore_then(State::InlineValue),
            '#' => self.begin_comment(State::InlineValue),
            ',' => self.fail("unexpected comma"),
            '}' => self.close(Kind::InlineEnd),
            c => {
                self.back(c);
                self.stack.push(State::InlineValueEnd);
                State::KeyStart
            }
        }
    }

    fn inline_value_end(&mut self) -> State {
        match self.next() {
            c if is_blank(c) || is_break(c) => self.ignore_then(State::InlineValueEnd),
            '#' => self.begin_comment(State::InlineValueEnd),
            ',' => {
                self.ignore();
                self.skip_blanks();
                if self.peek() == '}' { State::InlineValueEnd } else { State::InlineValue }
            }
            '}' => self.close(Kind::InlineEnd),
            c => self.fail(format!(
                "expected a comma or an inline table terminator '}}', but got {} instead",
                char_or_end(c)
            )),
        }
    }

    fn close(&mut self, kind: Kind) -> State {
        self.ignore();
        self.emit(kind);
        self.pop()
    }

    fn plain(&mut self) -> State {
        loop {
            match self.next() {
                END if self.at_end => return self.fail("unexpected EOF; expected '\"'"),
                c if is_break(c) => return self.error_on_line_before("strings cannot contain newlines".to_owned()),
                '\\' => {
                    if let Some(state) = self.escape() {
                        return state;
                    }
                }
                '"' => {
                    self.back('"');
                    let kind = if std::mem::take(&mut self.escaped) { Kind::Escaped } else { Kind::Plain };
                    return self.end_of_string(kind, 1);
                }
                _ if self.failed() => return State::Stop,
                _ => {}
            }
        }
    }

    fn raw(&mut self) -> State {
        loop {
            match self.next() {
                END if self.at_end => return self.fail("unexpected EOF; expected \"'\""),
                c if is_break(c) => return self.error_on_line_before("strings cannot contain newlines".to_owned()),
                '\'' => {
                    self.back('\'');
                    return self.end_of_string(Kind::Raw, 1);
                }
                _ if self.failed() => return State::Stop,
                _ => {}
            }
        }
    }

    /// Makes an item of a string, and leaves its closing quotes behind.
    fn end_of_string(&mut self, kind: Kind, quotes: usize) -> State {
        self.emit(kind);
        self.at += quotes;
        self.ignore();
        self.pop()
    }

    fn multiline(&mut self) -> State {
        loop {
            match self.next() {
                END if self.at_end => return self.fail("unexpected EOF; expected '\"\"\"'"),
                '\\' => {
                    let c = self.next();
                    if !is_break(c) {
                        self.back(c);
                        if let Some(state) = self.escape() {
                            return state;
                        }
                    }
                }
                '"' => {
                    if let Some(state) = self.closing('"', Kind::Multiline) {
                        self.escaped = false;
                        return state;
                    }
                }
                _ if self.failed() => return State::Stop,
                _ => {}
            }
        }
    }

    fn raw_multiline(&mut self) -> State {
        loop {
            match self.next() {
                END if self.at_end => return self.fail("unexpected EOF; expected \"'''\""),
                '\'' => {
                    if let Some(state) = self.closing('\'', Kind::RawMultiline) {
                        return state;
                    }
                }
                _ if self.failed() => return State::Stop,
                _ => {}
            }
        }
    }

    /// Whether the quote that was taken is the first of the three that end a string. Up to two more may be before them.
    fn closing(&mut self, quote: char, kind: Kind) -> Option<State> {
        if !self.accept(quote) {
            return None;
        }
        if !self.accept(quote) {
            self.back(quote);
            return None;
        }
        if self.peek() == quote {
            let five: &[u8] = if quote == '"' { b"\"\"\"\"\"" } else { b"'''''" };
            let current = self.current();
            // One that is escaped does not count.
            if current.ends_with(five) && !(quote == '"' && current.ends_with(b"\\\"\"\"\"\"")) {
                let message = if quote == '"' { "unexpected '\"\"\"\"\"\"'" } else { "unexpected \"''''''\"" };
                return Some(self.fail(message));
            }
            self.back(quote);
            self.back(quote);
            return None;
        }
        if self.failed() {
            return Some(State::Stop);
        }
        self.at -= 3;
        Some(self.end_of_string(kind, 3))
    }

    /// Takes what follows a backslash. Gives a state only where that is wrong.
    fn escape(&mut self) -> Option<State> {
        self.escaped = true;
        let (digits, count) = match self.next() {
            'e' | 'b' | 't' | 'n' | 'f' | 'r' | '"' | ' ' | '\t' | '\\' => return None,
            'x' => (2, "two hexadecimal digits after '\\x'"),
            'u' => (4, "four hexadecimal digits after '\\u'"),
            'U' => (8, "eight hexadecimal digits after '\\U'"),
            c => return Some(self.error(format!("invalid escape in string '\\{c}'"))),
        };
        for _ in 0..digits {
            if !self.next().is_ascii_hexdigit() {
                let found = quote(&self.current_text());
                return Some(self.fail(format!("expected {count}, but got {found} instead")));
            }
        }
        None
    }

    /// A number or a date, after its first digit.
    fn number_or_date(&mut self, first: char) -> State {
        let mut c = self.next();
        if first == '0' {
            match c {
                '0'..='9' => c = self.next(),
                '_' => return self.decimal(),
                '.' | 'e' | 'E' => return self.float(),
                'b' => return self.based("a binary", |c| matches!(c, '0' | '1')),
                'o' => return self.based("an octal", |c| matches!(c, '0'..='7')),
                'x' => return self.based("a hexadecimal", |c| c.is_ascii_hexdigit()),
                c => return self.end_of_number(c, Kind::Integer),
            }
        }
        while c.is_ascii_digit() {
            c = self.next();
        }
        match c {
            '-' | ':' => self.datetime(),
            '_' => self.decimal(),
            '.' | 'e' | 'E' => self.float(),
            c => self.end_of_number(c, Kind::Integer),
        }
    }

    fn end_of_number(&mut self, after: char, kind: Kind) -> State {
        self.back(after);
        self.emit(kind);
        self.pop()
    }

    fn based(&mut self, name: &str, digit: fn(char) -> bool) -> State {
        let c = self.peek();
        if !digit(c) {
            let found = self.current_text();
            self.fail(format!("not {name} number: '{found}{c}'"));
        }
        let after = self.take_while(|c| digit(c) || c == '_');
        self.end_of_number(after, Kind::Integer)
    }

    /// Takes characters, and gives the first that is not wanted.
    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> char {
        loop {
            let c = self.next();
            if !wanted(c) {
                return c;
            }
        }
    }

    fn decimal(&mut self) -> State {
        match self.take_while(|c| c.is_ascii_digit() || c == '_') {
            '.' | 'e' | 'E' => self.float(),
            after => self.end_of_number(after, Kind::Integer),
        }
    }

    fn float(&mut self) -> State {
        let after = self.take_while(|c| c.is_ascii_digit() || matches!(c, '_' | '.' | '-' | '+' | 'e' | 'E'));
        self.end_of_number(after, Kind::Float)
    }

    fn datetime(&mut self) -> State {
        let within = |c: char| c.is_ascii_digit() || matches!(c, '-' | ':' | 'T' | 't' | ' ' | '.' | 'Z' | 'z' | '+');
        let after = self.take_while(within);
        self.back(after);
        let text = self.current_text().trim().to_owned();
        self.items.push_back(Item { kind: Kind::Datetime, text, line: self.line });
        self.start = self.at;
        self.pop()
    }

    /// A number after its sign.
    fn signed_number(&mut self) -> State {
        let c = self.next();
        match c {
            'i' | 'n' => {
                if !self.accept_all(if c == 'i' { "nf" } else { "an" }) {
                    let found = self.current_text();
                    return self.fail(format!("invalid float: '{found}'"));
                }
                self.emit(Kind::Float);
                self.pop()
            }
            '.' => self.fail("floats must start with a digit, not '.'"),
            '0'..='9' => {
                let next = if c == '0' { self.peek() } else { END };
                if matches!(next, 'b' | 'o' | 'x') {
                    let found = self.current_text();
                    return self.fail(format!("cannot use sign with non-decimal numbers: '{found}{next}'"));
                }
                self.decimal()
            }
            c => self.fail(format!("expected a digit but got {}", quote_char(c))),
        }
    }

    fn bool(&mut self) -> State {
        let mut word = String::new();
        loop {
            let c = self.next();
            if !c.is_alphabetic() {
                self.back(c);
                break;
            }
            word.push(c);
        }
        if matches!(word.as_str(), "true" | "false") {
            self.emit(Kind::Bool);
            return self.pop();
        }
        self.fail(format!("expected value but found {} instead", quote(&word)))
    }

    fn begin_comment(&mut self, then: State) -> State {
        self.stack.push(then);
        self.ignore();
        self.emit_then(Kind::CommentStart, State::Comment)
    }

    fn comment(&mut self) -> State {
        let after = loop {
            let c = self.next();
            if is_break(c) || (c == END && self.at_end) {
                break c;
            }
            if self.failed() {
                return State::Stop;
            }
        };
        self.back(after);
        self.emit(Kind::Text);
        self.pop()
    }
}

fn first_char(bytes: &[u8]) -> Option<char> {
    let first = *bytes.first()?;
    if first < 0x80 {
        return Some(char::from(first));
    }
    let longest = &bytes[..bytes.len().min(4)];
    longest.utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next())
}

fn is_blank(c: char) -> bool {
    matches!(c, '\t' | ' ')
}

fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r')
}

fn is_control(c: char) -> bool {
    matches!(c, '\0'..='\x08' | '\x0b' | '\x0c' | '\x0e'..='\x1f' | '\x7f')
}

fn char_or_end(c: char) -> String {
    if c == END { "end of file".to_owned() } else { format!("'{c}'") }
}
