//! What is made of a text that is read.

use serde_json::{Number, Value};

use crate::float;

/// Makes values of what is read, in terms of JSON.
pub trait Build {
    /// What is made.
    type Value;
    /// What is made of a key.
    type Key;

    /// Null.
    fn null(&self) -> Self::Value;
    /// A boolean.
    fn bool(&self, value: bool) -> Self::Value;
    /// A whole number.
    fn int(&self, whole: i64) -> Self::Value;
    /// A whole number that is too large for the other kind.
    fn uint(&self, whole: u64) -> Self::Value;
    /// A float. It is finite.
    fn float(&self, float: f64) -> Self::Value;
    /// A string.
    fn text(&self, text: &str) -> Self::Value;
    /// An array.
    fn array(&self, items: Vec<Self::Value>) -> Self::Value;
    /// A key.
    fn key(&self, text: &str) -> Self::Key;
    /// An object. Of two equal keys the later counts.
    fn object(&self, pairs: Vec<(Self::Key, Self::Value)>) -> Self::Value;
}

/// Makes nothing: what is read is only checked.
pub(crate) struct Nothing;

impl Build for Nothing {
    type Value = ();
    type Key = ();

    fn null(&self) {}
    fn bool(&self, _: bool) {}
    fn int(&self, _: i64) {}
    fn uint(&self, _: u64) {}
    fn float(&self, _: f64) {}
    fn text(&self, _: &str) {}
    fn array(&self, _: Vec<()>) {}
    fn key(&self, _: &str) {}
    fn object(&self, _: Vec<((), ())>) {}
}

/// Makes values of JSON. A float that Go's JSON writes without a fraction is whole.
pub(crate) struct Json;

impl Build for Json {
    type Value = Value;
    type Key = String;

    fn null(&self) -> Value {
        Value::Null
    }

    fn bool(&self, value: bool) -> Value {
        Value::Bool(value)
    }

    fn int(&self, whole: i64) -> Value {
        Value::Number(whole.into())
    }

    fn uint(&self, whole: u64) -> Value {
        Value::Number(whole.into())
    }

    fn float(&self, float: f64) -> Value {
        float::whole(float).or_else(|| Number::from_f64(float)).map_or(Value::Null, Value::Number)
    }

    fn text(&self, text: &str) -> Value {
        Value::String(text.to_owned())
    }

    fn array(&self, items: Vec<Value>) -> Value {
        Value::Array(items)
    }

    fn key(&self, text: &str) -> String {
        text.to_owned()
    }

    fn object(&self, pairs: Vec<(String, Value)>) -> Value {
        Value::Object(pairs.into_iter().collect())
    }
}
