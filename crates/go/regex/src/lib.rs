//! Go's `regexp`: patterns are accepted and refused as Go does, and match what they match in Go.
//!
//! The pattern is read by a parser of our own and given to the engines of the crate `regex-automata`, which prefer the
//! same of several matches.
//!
//! Known differences:
//!
//! - A pattern whose program would need more than 64 MiB is refused as too large. Go counts a class as one instruction,
//!   however many characters are in it.
//! - Go makes a tree smaller where alternatives begin alike, before it looks how deep and how large it is; right at the
//!   limits it accepts a few patterns more, or less.

mod class;
mod error;
mod haystack;
mod parser;
mod replace;
mod search;
mod tree;
mod unicode;

use std::fmt;

use regex_automata::meta;

pub use error::Error;

use error::Reason;

/// A compiled pattern.
#[derive(Clone)]
pub struct Regex {
    engine: meta::Regex,
    pattern: Box<[u8]>,
    /// The names of the groups; the first is the whole match.
    names: Box<[Option<Box<[u8]>>]>,
}

/// How much memory the program of a pattern may need.
const PROGRAM: usize = 64 << 20;
/// What a level of a tree may need of the stack, with room to spare in builds that are not optimised.
const LEVEL: usize = 32 << 10;

impl Regex {
    /// Compiles a pattern, or says in Go's words why it is none.
    pub fn compile(pattern: impl AsRef<[u8]>) -> Result<Self, Error> {
        let pattern = pattern.as_ref();
        let parsed = parser::parse(pattern)?;
        let needed = parsed.tree.height * LEVEL;
        let engine = stacker::maybe_grow(needed, needed + LEVEL, || {
            let config = meta::Config::new().nfa_size_limit(Some(PROGRAM));
            meta::Builder::new().configure(config).build_from_hir(&parsed.tree.to_hir()).ok()
        });
        // Nothing else can be wrong with it any more.
        let engine = engine.ok_or_else(|| Reason::TooLarge.of(pattern))?;
        Ok(Self { engine, pattern: pattern.into(), names: parsed.names.into() })
    }

    /// How many groups there are to remember, without the whole match.
    pub fn groups(&self) -> usize {
        self.names.len() - 1
    }
}

impl fmt::Debug for Regex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        String::from_utf8_lossy(&self.pattern).fmt(f)
    }
}

/// A pattern that matches exactly this text.
pub fn quote_meta(text: &[u8]) -> Vec<u8> {
    let mut quoted = Vec::with_capacity(text.len());
    for byte in text {
        if br"\.+*?()|[]{}^$".contains(byte) {
            quoted.push(b'\\');
        }
        quoted.push(*byte);
    }
    quoted
}
