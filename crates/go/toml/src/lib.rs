//! TOML as Go's library `github.com/BurntSushi/toml` reads and writes it.
//!
//! What it makes of a text, where it puts a table, and in which words it refuses: all as version 1.6 does it.
//!
//! Known differences:
//!
//! - Tables and arrays may nest 1,000 levels, where Go has no limit.

mod date;
mod encode;
mod error;
mod item;
mod key;
mod lexer;
mod number;
mod parser;
mod quote;
mod strings;
mod value;

pub use date::{Datetime, Zone};
pub use encode::{Encode, to_toml};
pub use error::Error;
pub use value::{Table, Value};

/// How deep tables and arrays may nest. Each key is looked up from the top, so the time grows with the square of it.
pub const MAX_DEPTH: usize = 1000;

/// What a text says.
pub fn from_toml(text: &[u8]) -> Result<Table, Error> {
    parser::parse(text)
}
