//! Maps of Helm's type `common.Values`, which has methods.

use std::rc::Rc;

use fitout_go_template::{Error, Function, Map, Named, Signature, Type, Value};

use crate::values::{empty, path_value, table};

/// The type.
pub(super) static VALUES: Named =
    Named { name: "common.Values", methods: &["AsMap", "YAML", "Table", "PathValue"], method };

/// A map as one of that type; anything else as it is.
pub(super) fn named(value: Value) -> Value {
    match value {
        Value::Map(map) => Value::Map(Rc::new(Map::under(&VALUES, map))),
        other => other,
    }
}

const NAMED: Type = Type::Named("common.Values");

type Body = Box<dyn Fn(&str) -> Result<Value, Error>>;

fn method(map: &Rc<Map>, name: &[u8]) -> Option<Rc<Function>> {
    let map = map.unnamed();
    let function = |params: &[Type], result, body: Body| {
        let signature = Signature { params: params.to_vec(), variadic: false, result, fails: true };
        Function::new(signature, move |_, arguments| match arguments.first() {
            Some(Value::String(text)) => body(&text.to_str()),
            _ => body(""),
        })
    };
    Some(match name {
        b"AsMap" => Function::plain(&[], Type::MAP, move |_, _| {
            Value::Map(if map.is_empty() { empty() } else { Rc::clone(&map) })
        }),
        b"YAML" => function(
            &[],
            Type::String,
            Box::new(move |_| fitout_helm_functions::to_yaml(&Value::Map(Rc::clone(&map))).map(Value::string)),
        ),
        b"Table" => function(
            &[Type::String],
            NAMED,
            Box::new(move |path| match table(&map, path) {
                Ok(found) => Ok(named(Value::Map(found))),
                Err(missing) => Err(Error::new(format!("{missing:?} is not a table"))),
            }),
        ),
        b"PathValue" => function(
            &[Type::String],
            Type::Any,
            Box::new(move |path| match (path, path_value(&map, path)) {
                ("", _) => Err(Error::new("YAML path cannot be empty")),
                (_, Some(found)) => Ok(found),
                (_, None) => {
                    let last = path.rsplit('.').next().unwrap_or(path);
                    Err(Error::new(format!("{last:?} is not a value")))
                }
            }),
        ),
        _ => return None,
    })
}
