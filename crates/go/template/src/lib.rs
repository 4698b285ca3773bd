//! Go's `text/template`, to the byte: what a template makes of a value, and in which words it is refused.
//!
//! The rows under `tests/cases` are Go's own answers, and `tests/live_oracle.rs` asks Go again.
//!
//! Known differences:
//!
//! - Delimiters cannot be changed, comments are not kept, and there is no iterating over channels and functions.
//! - A percent sign in the name of a parsed text is shown as it is; Go takes it for a verb in its messages.
//! - A slice has no room behind its end: Go lets `slice` reach into it. There is no nil `[]byte`, only an empty one.
//! - Keys of different types in one map are ordered by type; Go orders them by where the types lie in memory.
//! - A value that holds itself cannot be printed; in Go that ends the program.

mod builtin;
mod classes;
mod error;
mod exec;
mod function;
mod host;
mod kind;
mod lexer;
mod list;
mod map;
mod node;
mod number;
mod operand;
mod parser;
mod print;
mod quick;
mod quote;
pub mod rune;
mod set;
mod show;
mod stack;
mod text;
mod token;
mod value;

pub use error::Error;
pub use function::{Function, Functions, Signature};
pub use host::{Field, Fields, Format, Host, Shape};
pub use kind::{Floating, Signed, Type, Unsigned};
pub use list::List;
pub use map::{Map, Named};
pub use node::Template;
pub use number::{parse_float, parse_int};
pub use set::{Context, MissingKey, Parsed, Set};
pub use text::Text;
pub use value::Value;

/// `fmt.Sprint` of values.
pub fn sprint(values: &[Value]) -> Result<Text, Error> {
    Ok(print::printed(|buffer| print::print(buffer, values))?)
}

/// `fmt.Sprintf` of values.
pub fn sprintf(format: &[u8], values: &[Value]) -> Result<Text, Error> {
    Ok(print::printed(|buffer| print::printf(buffer, format, values))?)
}

/// `strconv.Quote`.
pub fn quote(text: &[u8]) -> String {
    quote::quote(text)
}

/// `unicode.IsPrint`.
pub fn is_print(rune: char) -> bool {
    rune::is_print(rune)
}

/// The shortest number that is read as this float, as Go finds it, such as `1.5e3`.
pub fn shortest(float: f64) -> String {
    print::shortest(float, print::Size::Double)
}

/// `strconv.CanBackquote`.
pub fn can_backquote(text: &[u8]) -> bool {
    quote::can_backquote(text)
}
