//! From characters to tokens.
//!
//! The difficulty is the simple key: that `a` in `a: 1` is a key is known only at the colon. Until then its token is
//! held back, and the places where a key may have begun are remembered, one for each level of brackets.

use std::collections::VecDeque;

use crate::Error;
use crate::cursor::{Cursor, END, Mark, is_blank, is_blank_or_end};
use crate::input::Input;
use crate::tokens::{Glance, Kind, Token};

/// A key has to end within so many characters.
const LONGEST_KEY: usize = 1024;

/// A place where a key may have begun.
#[derive(Clone, Copy, Default)]
struct SimpleKey {
    possible: bool,
    /// Nothing but a key can be here.
    required: bool,
    /// The number of its first token, counted from the start of the text.
    token: usize,
    mark: Mark,
}

/// Gives the tokens of a text, one after the other.
pub(crate) struct Scanner<'t> {
    pub(crate) cursor: Cursor<'t>,
    queue: VecDeque<Token<'t>>,
    /// How many tokens have left the queue.
    taken: usize,
    /// Whether the first of the queue can no longer turn out to be a key.
    ready: bool,
    started: bool,
    /// The column of the block that we are in; -1 outside of all.
    pub(crate) indent: isize,
    indents: Vec<isize>,
    pub(crate) flow_level: usize,
    pub(crate) key_allowed: bool,
    keys: Vec<SimpleKey>,
    /// Which of `keys` begins with a token, in the order of tokens. As in Go, an empty pair of brackets forgets that it may
    /// be a key itself.
    keys_by_token: Vec<(usize, usize)>,
    /// How deep brackets may nest, and how deep blocks.
    deepest: usize,
}

impl<'t> Scanner<'t> {
    pub(crate) fn new(input: &'t Input<'_>, deepest: usize) -> Self {
        Self {
            cursor: Cursor::new(input),
            queue: VecDeque::new(),
            taken: 0,
            ready: false,
            started: false,
            indent: -1,
            indents: Vec::new(),
            flow_level: 0,
            key_allowed: true,
            keys: vec![SimpleKey::default()],
            keys_by_token: Vec::new(),
            deepest,
        }
    }

    /// What comes next.
    pub(crate) fn peek(&mut self) -> Result<Glance, Error> {
        let Token { kind, start, end, .. } = *self.front()?;
        Ok(Glance { kind, start, end })
    }

    /// The kind of what comes next.
    #[inline]
    pub(crate) fn kind(&mut self) -> Result<Kind, Error> {
        match self.queue.front() {
            Some(token) if self.ready => Ok(token.kind),
            _ => Ok(self.front()?.kind),
        }
    }

    /// Takes what comes next.
    pub(crate) fn next(&mut self) -> Result<Token<'t>, Error> {
        let place = self.cursor.mark;
        self.front()?;
        self.ready = false;
        self.taken += 1;
        self.queue.pop_front().ok_or_else(|| Error::in_scanner(place, "there is no token"))
    }

    /// Leaves what comes next behind.
    pub(crate) fn skip(&mut self) -> Result<(), Error> {
        self.next().map(drop)
    }

    fn front(&mut self) -> Result<&Token<'t>, Error> {
        while !self.ready {
            if self.queue.is_empty() || self.head_may_be_key()? {
                let fetched = self.fetch();
                // A refused character explains whatever else went wrong because of it.
                self.cursor.check()?;
                fetched?;
            } else {
                self.ready = true;
            }
        }
        let place = self.cursor.mark;
        self.queue.front().ok_or_else(|| Error::in_scanner(place, "there is no token"))
    }

    fn head_may_be_key(&mut self) -> Result<bool, Error> {
        match self.place_of_key(self.taken) {
            Ok(at) => self.is_key_possible(self.keys_by_token[at].1),
            Err(_) => Ok(false),
        }
    }

    fn place_of_key(&self, token: usize) -> Result<usize, usize> {
        match self.keys_by_token.last() {
            Some((last, _)) if *last == token => Ok(self.keys_by_token.len() - 1),
            Some((last, _)) if *last < token => Err(self.keys_by_token.len()),
            _ => self.keys_by_token.binary_search_by_key(&token, |(token, _)| *token),
        }
    }

    fn remove_key(&mut self, token: usize) {
        if let Ok(at) = self.place_of_key(token) {
            self.keys_by_token.remove(at);
        }
    }

    pub(crate) fn fail<T>(&self, problem: &str) -> Result<T, Error> {
        Err(Error::in_scanner(self.cursor.mark, problem))
    }

    fn fetch(&mut self) -> Result<(), Error> {
        if !self.started {
            self.started = true;
            self.push(Kind::StreamStart, self.cursor.mark);
            return Ok(());
        }
        self.skip_to_token();
        self.unroll(self.column());
        let (first, second) = (self.cursor.peek(0), self.cursor.peek(1));
        // The longest of what is distinguished here has four characters.
        self.cursor.peek(3);
        let alone = self.flow_level > 0 || is_blank_or_end(second);
        match first {
            END => self.fetch_end(),
            '%' if self.cursor.mark.column == 0 => {
                self.leave_blocks()?;
                self.scan_into_queue(Self::directive)
            }
            '-' if self.cursor.is_boundary('-') => self.fetch_boundary(Kind::DocumentStart),
            '.' if self.cursor.is_boundary('.') => self.fetch_boundary(Kind::DocumentEnd),
            '[' => self.fetch_opening(Kind::FlowSequenceStart),
            '{' => self.fetch_opening(Kind::FlowMappingStart),
            ']' => self.fetch_closing(Kind::FlowSequenceEnd),
            '}' => self.fetch_closing(Kind::FlowMappingEnd),
            ',' => self.fetch_flow_entry(),
            '-' if is_blank_or_end(second) => self.fetch_block_entry(),
            '?' if alone => self.fetch_key(),
            ':' if alone => self.fetch_value(),
            '*' => self.fetch_content(|scanner| scanner.anchor(Kind::Alias)),
            '&' => self.fetch_content(|scanner| scanner.anchor(Kind::Anchor)),
            '!' => self.fetch_content(Self::tag),
            '\'' => self.fetch_content(|scanner| scanner.quoted('\'')),
            '"' => self.fetch_content(|scanner| scanner.quoted('"')),
            '|' | '>' if self.flow_level == 0 => {
                self.forget_key()?;
                self.key_allowed = true;
                self.scan_into_queue(|scanner| scanner.block_scalar(first == '|'))
            }
            _ if self.can_start_plain(first, second) => self.fetch_content(Self::plain),
            _ => self.fail("found character that cannot start any token"),
        }
    }

    fn can_start_plain(&self, first: char, second: char) -> bool {
        let indicator = is_blank_or_end(first)
            || matches!(
                first,
                '-' | '?'
                    | ':'
                    | ','
                    | '['
                    | ']'
                    | '{'
                    | '}'
                    | '#'
                    | '&'
                    | '*'
                    | '!'
                    | '|'
                    | '>'
                    | '\''
                    | '"'
                    | '%'
                    | '@'
                    | '`'
            );
        !indicator
            || (first == '-' && !is_blank(second))
            || (self.flow_level == 0 && matches!(first, '?' | ':') && !is_blank_or_end(second))
    }

    fn skip_to_token(&mut self) {
        loop {
            // A tab is no indentation: where a key may begin, it is not skipped.
            let tabs = self.flow_level > 0 || !self.key_allowed;
            self.cursor.skip_ascii_while(|c| c == b' ' || tabs && c == b'\t');
            if self.cursor.peek(0) == '#' {
                self.cursor.skip_rest_of_line();
            }
            if self.cursor.take_break().is_none() {
                return;
            }
            if self.flow_level == 0 {
                self.key_allowed = true;
            }
        }
    }

    fn column(&self) -> isize {
        self.cursor.mark.column.cast_signed()
    }

    fn push(&mut self, kind: Kind, start: Mark) {
        self.queue.push_back(Token::bare(kind, start, self.cursor.mark));
    }

    /// Puts a token before the one of that number, or last where that one has already been taken.
    fn insert(&mut self, kind: Kind, number: usize, mark: Mark) {
        let token = Token::bare(kind, mark, mark);
        match number.checked_sub(self.taken).filter(|at| *at <= self.queue.len()) {
            Some(at) => self.queue.insert(at, token),
            None => self.queue.push_back(token),
        }
    }

    /// Skips so many characters and makes them a token.
    fn take(&mut self, count: usize, kind: Kind) {
        let start = self.cursor.mark;
        (0..count).for_each(|_| self.cursor.skip());
        self.push(kind, start);
    }

    fn scan_into_queue(&mut self, scan: impl Fn(&mut Self) -> Result<Token<'t>, Error>) -> Result<(), Error> {
        let token = scan(self)?;
        self.queue.push_back(token);
        Ok(())
    }

    /// Something that can be a key and that no key can follow.
    fn fetch_content(&mut self, scan: impl Fn(&mut Self) -> Result<Token<'t>, Error>) -> Result<(), Error> {
        self.remember_key()?;
        self.key_allowed = false;
        self.scan_into_queue(scan)
    }

    fn leave_blocks(&mut self) -> Result<(), Error> {
        self.unroll(-1);
        self.forget_key()?;
        self.key_allowed = false;
        Ok(())
    }

    fn fetch_end(&mut self) -> Result<(), Error> {
        if self.cursor.mark.column != 0 {
            self.cursor.mark.column = 0;
            self.cursor.mark.line += 1;
        }
        self.leave_blocks()?;
        self.push(Kind::StreamEnd, self.cursor.mark);
        Ok(())
    }

    fn fetch_boundary(&mut self, kind: Kind) -> Result<(), Error> {
        self.leave_blocks()?;
        self.take(3, kind);
        Ok(())
    }

    fn fetch_opening(&mut self, kind: Kind) -> Result<(), Error> {
        self.remember_key()?;
        let mark = self.cursor.mark;
        self.keys.push(SimpleKey { possible: false, required: false, token: self.next_number(), mark });
        self.flow_level += 1;
        self.check_depth(self.flow_level)?;
        self.key_allowed = true;
        self.take(1, kind);
        Ok(())
    }

    fn fetch_closing(&mut self, kind: Kind) -> Result<(), Error> {
        self.forget_key()?;
        if self.flow_level > 0 {
            self.flow_level -= 1;
            if let Some(key) = self.keys.pop() {
                self.remove_key(key.token);
            }
        }
        self.key_allowed = false;
        self.take(1, kind);
        Ok(())
    }

    fn fetch_flow_entry(&mut self) -> Result<(), Error> {
        self.forget_key()?;
        self.key_allowed = true;
        self.take(1, Kind::FlowEntry);
        Ok(())
    }

    fn fetch_block_entry(&mut self) -> Result<(), Error> {
        if self.flow_level == 0 {
            if !self.key_allowed {
                return self.fail("block sequence entries are not allowed in this context");
            }
            self.roll(self.column(), None, Kind::BlockSequenceStart, self.cursor.mark)?;
        }
        self.forget_key()?;
        self.key_allowed = true;
        self.take(1, Kind::BlockEntry);
        Ok(())
    }

    fn fetch_key(&mut self) -> Result<(), Error> {
        if self.flow_level == 0 {
            if !self.key_allowed {
                return self.fail("mapping keys are not allowed in this context");
            }
            self.roll(self.column(), None, Kind::BlockMappingStart, self.cursor.mark)?;
        }
        self.forget_key()?;
        self.key_allowed = self.flow_level == 0;
        self.take(1, Kind::Key);
        Ok(())
    }

    fn fetch_value(&mut self) -> Result<(), Error> {
        let level = self.keys.len() - 1;
        if self.is_key_possible(level)? {
            let key = self.keys[level];
            self.insert(Kind::Key, key.token, key.mark);
            self.roll(key.mark.column.cast_signed(), Some(key.token), Kind::BlockMappingStart, key.mark)?;
            self.keys[level].possible = false;
            self.remove_key(key.token);
            self.key_allowed = false;
        } else {
            if self.flow_level == 0 {
                if !self.key_allowed {
                    return self.fail("mapping values are not allowed in this context");
                }
                self.roll(self.column(), None, Kind::BlockMappingStart, self.cursor.mark)?;
            }
            self.key_allowed = self.flow_level == 0;
        }
        self.take(1, Kind::Value);
        Ok(())
    }

    /// The number that the next token in the queue will have.
    fn next_number(&self) -> usize {
        self.taken + self.queue.len()
    }

    fn is_key_possible(&mut self, level: usize) -> Result<bool, Error> {
        let key = self.keys[level];
        if !key.possible {
            return Ok(false);
        }
        let here = self.cursor.mark;
        if key.mark.line < here.line || key.mark.index + LONGEST_KEY < here.index {
            if key.required {
                return self.fail("could not find expected ':'");
            }
            self.keys[level].possible = false;
            return Ok(false);
        }
        Ok(true)
    }

    fn remember_key(&mut self) -> Result<(), Error> {
        if self.key_allowed {
            self.forget_key()?;
            let required = self.flow_level == 0 && self.indent == self.column();
            let (token, level) = (self.next_number(), self.keys.len() - 1);
            self.keys[level] = SimpleKey { possible: true, required, token, mark: self.cursor.mark };
            match self.place_of_key(token) {
                Ok(at) => self.keys_by_token[at].1 = level,
                Err(at) => self.keys_by_token.insert(at, (token, level)),
            }
        }
        Ok(())
    }

    fn forget_key(&mut self) -> Result<(), Error> {
        let level = self.keys.len() - 1;
        let key = self.keys[level];
        if key.possible {
            if key.required {
                return self.fail("could not find expected ':'");
            }
            self.keys[level].possible = false;
            self.remove_key(key.token);
        }
        Ok(())
    }

    /// Enters a block, if this column is further in than the one we are in.
    fn roll(&mut self, column: isize, number: Option<usize>, kind: Kind, mark: Mark) -> Result<(), Error> {
        if self.flow_level == 0 && self.indent < column {
            self.indents.push(self.indent);
            self.indent = column;
            self.check_depth(self.indents.len())?;
            self.insert(kind, number.unwrap_or(self.next_number()), mark);
        }
        Ok(())
    }

    fn check_depth(&self, depth: usize) -> Result<(), Error> {
        if depth > self.deepest {
            return self.fail(&format!("exceeded max depth of {}", self.deepest));
        }
        Ok(())
    }

    /// Leaves the blocks that are further in than this column.
    fn unroll(&mut self, column: isize) {
        while self.flow_level == 0 && self.indent > column {
            self.push(Kind::BlockEnd, self.cursor.mark);
            self.indent = self.indents.pop().unwrap_or(-1);
        }
    }
}
