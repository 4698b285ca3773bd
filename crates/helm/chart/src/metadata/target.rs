//! What a document is read into, which decides what becomes of a number that is written without quotes.

use fitout_go_template::{Floating, Value, sprint};
use fitout_go_yaml::{Build, read_with};
use serde_json::{Number, Value as Json};

use crate::error::Error;
use crate::values::utf8;

/// The type of Go that a document is read into: where it wants a string, numbers and booleans become one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    /// Anything: a number stays a number.
    Any,
    /// A string.
    Text,
    /// A list of these.
    List(&'static Target),
    /// A map whose values are these.
    Map(&'static Target),
    /// A struct with these fields.
    Struct(&'static [Field]),
}

pub(crate) type Field = (&'static str, Target);

/// The JSON that `yaml.Unmarshal` makes of a text for a variable of this type.
pub(crate) fn read(text: &[u8], target: Target) -> Result<Json, Error> {
    let refuse = |why: String| Error::new(format!("error converting YAML to JSON: {why}"));
    let text = utf8(text).map_err(refuse)?;
    let json = read_with(text.as_bytes(), &Exact).map_err(|error| refuse(error.to_string()))?;
    Ok(target.fitted(json))
}

/// Which of the fields a key is for: the one of this very name, else the first that differs only in case.
pub(crate) fn find(fields: &[Field], key: &str) -> Option<usize> {
    let exact = fields.iter().position(|(name, _)| *name == key);
    exact.or_else(|| fields.iter().position(|(name, _)| folds(name, key)))
}

/// Whether two texts are equal but for case. Of letters beyond ASCII, Go folds two onto ours: `ſ` and the sign of Kelvin.
fn folds(name: &str, key: &str) -> bool {
    let fold = |c: char| match c {
        'ſ' => 's',
        '\u{212A}' => 'k',
        other => other.to_ascii_lowercase(),
    };
    name.chars().map(fold).eq(key.chars().map(fold))
}

impl Target {
    fn fitted(self, json: Json) -> Json {
        match (self, json) {
            (Self::Text, Json::Bool(value)) => Json::String(value.to_string()),
            (Self::Text, Json::Number(number)) => Json::String(written(&number)),
            (Self::List(item), Json::Array(items)) => items.into_iter().map(|json| item.fitted(json)).collect(),
            (Self::Map(value), Json::Object(object)) => {
                object.into_iter().map(|(key, json)| (key, value.fitted(json))).collect()
            }
            (Self::Struct(fields), Json::Object(object)) => {
                let field = |(key, json): (String, Json)| match find(fields, &key) {
                    Some(place) => (key, fields[place].1.fitted(json)),
                    None => (key, json),
                };
                object.into_iter().map(field).collect()
            }
            (_, json) => json,
        }
    }
}

/// A number as the library writes it for a string: a float has the digits of one with 32 bits.
#[expect(clippy::cast_possible_truncation, reason = "rounding is what is asked for")]
fn written(number: &Number) -> String {
    match number.as_f64() {
        Some(float) if number.is_f64() => {
            let single = Value::Float(Floating::Float32, f64::from(float as f32));
            sprint(&[single]).map_or_else(|_| String::new(), |text| text.to_str().into_owned())
        }
        _ => number.to_string(),
    }
}

/// JSON in which a float stays one even where it is whole.
struct Exact;

impl Build for Exact {
    type Value = Json;
    type Key = String;

    fn null(&self) -> Json {
        Json::Null
    }

    fn bool(&self, value: bool) -> Json {
        Json::Bool(value)
    }

    fn int(&self, whole: i64) -> Json {
        Json::Number(whole.into())
    }

    fn uint(&self, whole: u64) -> Json {
        Json::Number(whole.into())
    }

    fn float(&self, float: f64) -> Json {
        Number::from_f64(float).map_or(Json::Null, Json::Number)
    }

    fn text(&self, text: &str) -> Json {
        Json::String(text.to_owned())
    }

    fn array(&self, items: Vec<Json>) -> Json {
        Json::Array(items)
    }

    fn key(&self, text: &str) -> String {
        text.to_owned()
    }

    fn object(&self, pairs: Vec<(String, Json)>) -> Json {
        Json::Object(pairs.into_iter().collect())
    }
}
