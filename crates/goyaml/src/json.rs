//! From YAML's values to JSON's, which knows only text for keys and no infinite numbers.

use std::borrow::Cow;

use crate::build::Build;
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
