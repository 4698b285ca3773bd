//! The language of `--set` and its kin: `name=value,list[0].name={a,b}`.

mod parser;
mod runes;
mod stop;

use fitout_go_template::{Map, Value};

use crate::error::Error;
use parser::{Form, Parser};

/// Puts values into a map: numbers, booleans and nulls are what they look like.
pub fn set(text: &str, into: &Map) -> Result<(), Error> {
    Parser::new(text, Form::Typed).parse(into)
}

/// The same, but every value is a string.
pub fn set_string(text: &str, into: &Map) -> Result<(), Error> {
    Parser::new(text, Form::Text).parse(into)
}

/// The same, but every value names a file, whose content it becomes.
pub fn set_file(text: &str, into: &Map, read: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>) -> Result<(), Error> {
    Parser::new(text, Form::File(read)).parse(into)
}

/// The same, but every value is JSON. One that is empty is null.
pub fn set_json(text: &str, into: &Map) -> Result<(), Error> {
    Parser::new(text, Form::Json).parse(into)
}

/// Puts one value into a map: all that comes after the first equals sign, as it is.
pub fn set_literal(text: &str, into: &Map) -> Result<(), Error> {
    Parser::new(text, Form::Literal).parse(into)
}

/// What a value looks like.
fn typed(text: String) -> Value {
    if folds(&text, "true") {
        return Value::Bool(true);
    }
    if folds(&text, "false") {
        return Value::Bool(false);
    }
    if folds(&text, "null") {
        return Value::Nil;
    }
    if text == "0" {
        return Value::int64(0);
    }
    // Zeros in front have a meaning of their own, so such a number stays as it is.
    match text.parse() {
        Ok(number) if !text.starts_with('0') => Value::int64(number),
        _ => Value::string(text),
    }
}

/// Whether two texts are equal but for case. One letter beyond ASCII folds onto those that matter here.
fn folds(text: &str, word: &str) -> bool {
    text.chars().map(|c| if c == 'ſ' { 's' } else { c.to_ascii_lowercase() }).eq(word.chars())
}
