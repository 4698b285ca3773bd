//! From YAML's values to JSON's, which knows only text for keys and no infinite numbers.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::build::{Build, Json, Nothing};
use crate::decode::{Decoded, Key};
use crate::stack::enough;
use crate::{Error, float, gosyntax};

/// The value in terms of JSON.
pub(crate) fn to_json<B: Build>(decoded: Decoded<'_>, build: &B) -> Result<B::Value, Error> {
    let mut converter = Converter { build, unsupported: None };
    let value = converter.convert(decoded)?;
    match converter.unsupported {
        Some(float) => Err(Error::not_json(format!("json: unsupported value: {float}"))),
        None => Ok(value),
    }
}

/// The value in JSON, but of a mapping only what is under keys that are wanted: the rest is checked and forgotten.
pub(crate) fn top(decoded: Decoded<'_>, wanted: impl Fn(&str) -> bool) -> Result<Value, Error> {
    let Decoded::Mapping(mapping) = decoded else { return to_json(decoded, &Json) };
    let (mut keeping, mut checking) =
        (Converter { build: &Json, unsupported: None }, Converter { build: &Nothing, unsupported: None });
    let (mut found, mut unsupported) = (Map::new(), None);
    for (key, value) in mapping {
        let key = name(key, &value)?;
        if wanted(&key) {
            found.insert(key.into_owned(), keeping.convert(value)?);
        } else {
            checking.convert(value)?;
        }
        unsupported = unsupported.or(keeping.unsupported).or(checking.unsupported);
    }
    match unsupported {
        Some(float) => Err(Error::not_json(format!("json: unsupported value: {float}"))),
        None => Ok(Value::Object(found)),
    }
}

struct Converter<'b, B> {
    build: &'b B,
    /// Go looks at all keys before it looks at any number, so the first number that JSON does not have is only noted.
    unsupported: Option<&'static str>,
}

impl<B: Build> Converter<'_, B> {
    fn convert(&mut self, decoded: Decoded<'_>) -> Result<B::Value, Error> {
        Ok(match decoded {
            Decoded::Scalar(Key::Null) => self.build.null(),
            Decoded::Scalar(Key::Bool(value)) => self.build.bool(value),
            Decoded::Scalar(Key::Int(whole)) => self.build.int(whole),
            Decoded::Scalar(Key::Uint(whole)) => self.build.uint(whole),
            Decoded::Scalar(Key::Float(bits)) => self.number(bits.get()),
            Decoded::Scalar(Key::Text(text)) => self.build.text(&text),
            Decoded::Sequence(items) => enough(|| {
                let values: Result<_, _> = items.into_iter().map(|item| self.convert(item)).collect();
                Ok(self.build.array(values?))
            })?,
            Decoded::Mapping(mapping) => enough(|| {
                let pair = |(key, value)| {
                    let key = self.build.key(&name(key, &value)?);
                    Ok((key, self.convert(value)?))
                };
                let pairs: Result<_, _> = mapping.into_iter().map(pair).collect();
                Ok(self.build.object(pairs?))
            })?,
        })
    }

    fn number(&mut self, float: f64) -> B::Value {
        if float.is_finite() {
            return self.build.float(float);
        }
        let name = match float {
            f64::INFINITY => "+Inf",
            f64::NEG_INFINITY => "-Inf",
            _ => "NaN",
        };
        self.unsupported.get_or_insert(name);
        self.build.null()
    }
}

fn name<'t>(key: Key<'t>, value: &Decoded<'_>) -> Result<Cow<'t, str>, Error> {
    let kind = match key {
        Key::Text(text) => return Ok(text),
        Key::Bool(value) => return Ok(if value { "true" } else { "false" }.into()),
        Key::Int(whole) => return Ok(whole.to_string().into()),
        Key::Float(bits) => return Ok(float::shortest_single(bits.get()).into()),
        Key::Uint(_) => "uint64",
        Key::Null => "%!s(<nil>)",
    };
    let (key, value) = (gosyntax::key(&key), gosyntax::value(value));
    Err(Error::not_json(format!("unsupported map key of type: {kind}, key: {key}, value: {value}")))
}
