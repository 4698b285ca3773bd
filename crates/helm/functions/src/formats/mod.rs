//! Functions on formats: JSON, YAML, TOML.

mod duration;
mod json;
mod pretty;
mod time;
mod toml;
mod view;
mod yaml;

use std::rc::Rc;

use fitout_go_template::{Error, Map, Type, Value};

use crate::Environment;
use crate::argument::text;
use crate::declare::Declare;
use json::{Layout, Unmarshal, from_json};
use time::Place;

pub(crate) fn add(declare: &mut Declare<'_>, world: &Rc<dyn Environment>) {
    add_json(declare);
    add_yaml(declare);
    add_toml(declare, world);
    duration::add(declare);
}

fn add_json(declare: &mut Declare<'_>) {
    let compact = |value: &Value| json::to_json(value, Layout::Compact);
    let pretty = |value: &Value| json::to_json(value, Layout::Pretty);
    let raw = |value: &Value| json::to_json(value, Layout::Raw);
    declare.plain(&["toJson"], &[Type::Any], Type::String, move |arguments| or_nothing(compact(&arguments[0])));
    declare.plain(&["toPrettyJson"], &[Type::Any], Type::String, move |arguments| or_nothing(pretty(&arguments[0])));
    declare.panicking(&["mustToJson"], &[Type::Any], Type::String, move |arguments| written(compact(&arguments[0])));
    declare.panicking(&["toRawJson"], &[Type::Any], Type::String, move |arguments| written(raw(&arguments[0])));
    declare
        .fallible(&["mustToPrettyJson"], &[Type::Any], Type::String, move |arguments| written(pretty(&arguments[0])));
    declare.fallible(&["mustToRawJson"], &[Type::Any], Type::String, move |arguments| written(raw(&arguments[0])));
    declare
        .plain(&["fromJson"], &[Type::String], Type::MAP, |arguments| map(read_json(text(&arguments[0]), Type::MAP)));
    declare.plain(&["fromJsonArray"], &[Type::String], Type::LIST, |arguments| {
        list(read_json(text(&arguments[0]), Type::LIST))
    });
    declare.fallible(&["mustFromJson"], &[Type::String], Type::Any, |arguments| from_json(text(&arguments[0])).whole());
}

fn add_yaml(declare: &mut Declare<'_>) {
    let to_yaml = |value: &Value| yaml::to_yaml(value).map(without_end);
    declare.panicking(&["toYamlPretty"], &[Type::Any], Type::String, |arguments| {
        written(pretty::to_yaml_pretty(&arguments[0]).map(without_end))
    });
    declare.plain(&["toYaml"], &[Type::Any], Type::String, move |arguments| or_nothing(to_yaml(&arguments[0])));
    declare.panicking(&["mustToYaml"], &[Type::Any], Type::String, move |arguments| written(to_yaml(&arguments[0])));
    declare
        .plain(&["fromYaml"], &[Type::String], Type::MAP, |arguments| map(read_yaml(text(&arguments[0]), Type::MAP)));
    declare.plain(&["fromYamlArray"], &[Type::String], Type::LIST, |arguments| {
        list(read_yaml(text(&arguments[0]), Type::LIST))
    });
}

fn add_toml(declare: &mut Declare<'_>, world: &Rc<dyn Environment>) {
    let place = Place::of(&**world);
    declare.panicking(&["toToml"], &[Type::Any], Type::String, |arguments| match toml::to_toml(&arguments[0]) {
        Ok(text) => Ok(Value::string(text)),
        Err(toml::Stop::Error(error)) => Ok(Value::string(error.to_string())),
        Err(toml::Stop::Panic(message)) => Err(Error::new(message)),
    });
    declare.panicking(&["mustToToml"], &[Type::Any], Type::String, |arguments| match toml::to_toml(&arguments[0]) {
        Ok(text) => Ok(Value::string(text)),
        Err(toml::Stop::Error(error)) => Err(error),
        Err(toml::Stop::Panic(message)) => Err(Error::new(message)),
    });
    declare.plain(&["fromToml"], &[Type::String], Type::MAP, move |arguments| {
        map(match toml::from_toml(text(&arguments[0]), &place) {
            Ok(value) => Unmarshal::of(value),
            Err(error) => Unmarshal::refused(Type::MAP, error),
        })
    });
}

/// A value in YAML, as Helm's `toYaml` writes it, but with the end of its last line.
pub fn to_yaml(value: &Value) -> Result<String, Error> {
    yaml::to_yaml(value)
}

/// The mapping in a YAML text, as Helm reads values: all numbers are floats, and a text that says nothing is an empty one.
pub fn from_yaml(text: &[u8]) -> Result<Value, Error> {
    read_yaml(text, Type::MAP).whole()
}

/// What a JSON text stands for: all numbers are floats.
pub fn from_json_text(text: &[u8]) -> Result<Value, Error> {
    from_json(text).whole()
}

/// What the JSON at the beginning of a text stands for, and how many bytes of the text it is.
pub fn json_prefix(text: &[u8]) -> Result<(Value, usize), Error> {
    json::from_json_prefix(text).map_err(Error::new)
}

fn or_nothing(text: Result<String, Error>) -> Value {
    Value::string(text.unwrap_or_default())
}

fn written(text: Result<String, Error>) -> Result<Value, Error> {
    text.map(Value::string)
}

fn without_end(mut text: String) -> String {
    if text.ends_with('\n') {
        text.pop();
    }
    text
}

fn read_json(text: &[u8], target: Type) -> Unmarshal {
    fit(from_json(text), target)
}

fn read_yaml(text: &[u8], target: Type) -> Unmarshal {
    match yaml::from_yaml(text) {
        Err(error) => Unmarshal::refused(target, error),
        // Go decodes into what holds the target, so that null leaves the target as it was.
        Ok(Value::Nil) => Unmarshal::of(empty(target)),
        Ok(value) => {
            let mut found = fit(Unmarshal::of(value), target);
            found.error = found.error.map(|error| format!("error unmarshaling JSON: while decoding JSON: {error}"));
            found
        }
    }
}

fn empty(target: Type) -> Value {
    if target == Type::MAP { Value::Map(Rc::new(Map::of(Type::MAP, []))) } else { Value::list([]) }
}

/// What Go makes of JSON where a type is wanted: null is the nil of the type, and other types do not fit.
fn fit(found: Unmarshal, target: Type) -> Unmarshal {
    let kind = match &found.value {
        // A number that is none is nil, but then it is a number in the first place.
        Value::Nil if !found.number => return Unmarshal { value: Value::zero(target), ..found },
        Value::Map(_) if target == Type::MAP => return found,
        Value::List(_) if target == Type::LIST => return found,
        Value::Map(_) => "object",
        Value::List(_) => "array",
        Value::String(_) => "string",
        Value::Bool(_) => "bool",
        _ => "number",
    };
    Unmarshal::refused(target, format!("json: cannot unmarshal {kind} into Go value of type {target}"))
}

/// The map that was read, with what was wrong in it.
fn map(Unmarshal { value, error, .. }: Unmarshal) -> Value {
    let Some(error) = error else { return value };
    match value {
        Value::Map(map) if !map.is_nil() => {
            map.insert("Error".into(), Value::string(error));
            Value::Map(map)
        }
        _ => Value::Map(Rc::new(Map::of(Type::MAP, [("Error".into(), Value::string(error))]))),
    }
}

/// The list that was read, or one of what was wrong with it.
fn list(Unmarshal { value, error, .. }: Unmarshal) -> Value {
    error.map_or(value, |error| Value::list([Value::string(error)]))
}
