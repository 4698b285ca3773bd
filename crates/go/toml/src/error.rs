//! Why a text is no TOML, in Go's words.

use std::fmt;

use crate::quote::quote;

/// Why a text was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The line that Go names. Where the text ends too early it is the one before.
    pub line: isize,
    /// The key that was being read; empty where there is none.
    pub last_key: String,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, last_key, message } = self;
        if last_key.is_empty() {
            write!(f, "toml: line {line}: {message}")
        } else {
            write!(f, "toml: line {line} (last key {}): {message}", quote(last_key))
        }
    }
}

impl std::error::Error for Error {}
