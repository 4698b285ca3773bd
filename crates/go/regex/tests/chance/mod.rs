//! Patterns and texts made up by chance.

use serde_json::{Value as Json, json};

use crate::rows::{Question, encode};

/// A source of chance: the same number makes the same things.
pub(crate) struct Chance {
    state: u64,
}

const LETTERS: &[&str] =
    &["a", "b", "c", "a", "b", "A", "k", "s", "1", "_", "é", "É", "ſ", "K", "\n", " ", "-", "日", "�"];
const ATOMS: &[&str] = &[
    ".",
    "^",
    "$",
    "\\b",
    "\\B",
    "\\A",
    "\\z",
    "\\d",
    "\\w",
    "\\s",
    "\\D",
    "\\W",
    "\\S",
    "\\pL",
    "\\PL",
    "\\p{Greek}",
    "\\p{^Lu}",
    "\\pN",
    "[ab]",
    "[^ab]",
    "[a-c]",
    "[[:alpha:]]",
    "[^[:^space:]]",
    "[\\d_]",
    "[^\\w]",
    "[]a]",
    "[a-]",
    "\\x61",
    "\\x{e9}",
    "\\141",
    "\\n",
    "\\Qa.b\\E",
    "(?i)",
    "(?s)",
    "(?m)",
    "(?U)",
    "(?-i)",
    "(?i:k)",
    "(?s:.)",
    "\\.",
    "{",
    "}",
    "{1",
    "(?i:[k-s])",
    "\\p{Lu}",
    "\\p{han}",
    "[é-ÿ]",
    "(?i:é)",
    "\\C",
    "x{0}",
];
const REPEATS: &[&str] = &[
    "*", "+", "?", "*?", "+?", "??", "{2}", "{0,1}", "{1,2}", "{2,}", "{0}", "{1}", "{0,}", "{1,3}?", "{2,}?", "{,2}",
];
const TEMPLATES: &[&str] =
    &["", "x", "$0", "[$1]", "${1}x", "$1x", "$$", "$", "${", "${n}-$2", "$n", "<$é>", "$01", "${3", "\\1", "a$0$0"];
/// What a pattern may be damaged with.
const PIECES: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "|",
    "*",
    "+",
    "?",
    "\\",
    "^",
    "-",
    "(?",
    "(?P<",
    "(?P<n>",
    "(?<n>",
    ">",
    "[:",
    ":]",
    "\\p",
    "\\p{",
    "\\x",
    "\\x{",
    "\\Q",
    "\\E",
    "1000",
    "1001",
    ",",
    "0",
    "9",
    "é",
    "\u{0}",
    "i",
    "P",
    "<",
    ":",
    "=",
    "!",
    "\\1",
    "\\8",
    "\\z",
    "\\Z",
    "{1,1000}",
    "{2}{2}",
    "**",
    "[z-a]",
    "[[:foo:]]",
    "\\pX",
    "(?i",
    "(?-",
    "(?i-",
    "(?z)",
    "(?i-s:",
];

impl Chance {
    pub(crate) fn new(number: u64) -> Self {
        Self { state: number.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(0xD1B5_4A32_D192_ED03) }
    }

    fn below(&mut self, limit: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from(self.state >> 11).unwrap_or(0) % limit
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn one_of<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// A question about a pattern that is mostly one.
    pub(crate) fn question(&mut self) -> Question {
        let pattern = self.pattern(3);
        self.about(json!(pattern))
    }

    /// A question about a pattern of which a few characters are lost or replaced.
    pub(crate) fn damaged(&mut self) -> Question {
        let mut chars: Vec<String> = self.pattern(2).chars().map(String::from).collect();
        for _ in 0..=self.below(3) {
            let at = self.below(chars.len() + 1);
            match self.below(3) {
                0 if at < chars.len() => drop(chars.remove(at)),
                1 if at < chars.len() => self.one_of(PIECES).clone_into(&mut chars[at]),
                _ => chars.insert(at, self.one_of(PIECES).to_owned()),
            }
        }
        let mut pattern = chars.concat().into_bytes();
        if self.one_in(12) {
            let at = self.below(pattern.len() + 1);
            pattern.insert(at, self.one_of(&[0xFF, 0xC3, 0xE2, 0x80]));
        }
        self.about(encode(&pattern))
    }

    fn about(&mut self, pattern: Json) -> Question {
        let op = self.one_of(&["find", "find", "all", "split", "replace", "replace", "literal", "match"]);
        let mut texts = vec![pattern, encode(&self.text())];
        if matches!(op, "replace" | "literal") {
            texts.push(json!(self.one_of(TEMPLATES)));
        }
        let limit = self.one_of(&[-1, -1, -1, 0, 1, 2, 3]);
        Question { op: op.to_owned(), texts, limit }
    }

    fn text(&mut self) -> Vec<u8> {
        let damaged = self.one_in(4);
        let mut text = Vec::new();
        for _ in 0..self.below(12) {
            match self.below(6) {
                0 if damaged => {
                    text.extend(self.one_of::<&[u8]>(&[b"\xff", b"\xc3", b"\xe2\x82", b"\xed\xa0\x80", b"\xf0\x9f"]));
                }
                _ => text.extend(self.one_of(LETTERS).bytes()),
            }
        }
        text
    }

    fn pattern(&mut self, depth: usize) -> String {
        let mut text = self.sequence(depth);
        while self.one_in(4) {
            text = text + "|" + &self.sequence(depth);
        }
        text
    }

    fn sequence(&mut self, depth: usize) -> String {
        let mut text = String::new();
        for _ in 0..self.below(4) {
            text += &self.atom(depth);
            if self.one_in(3) {
                text += self.one_of(REPEATS);
            }
        }
        text
    }

    fn atom(&mut self, depth: usize) -> String {
        match self.below(if depth == 0 { 7 } else { 10 }) {
            0..4 => self.one_of(LETTERS).to_owned(),
            4..7 => self.one_of(ATOMS).to_owned(),
            _ => {
                let open = self.one_of(&["(", "(", "(?:", "(?P<n>", "(?<m>", "(?i:", "(?s-m:", "(?U:"]);
                format!("{open}{})", self.pattern(depth - 1))
            }
        }
    }
}
