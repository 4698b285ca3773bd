//! Functions on maps.

mod merge;

use std::rc::Rc;

use fitout_go_template::{Error, Map, Type, Value};

use crate::argument::{map, text};
use crate::declare::Declare;
use crate::value::shown;

const MAP: Type = Type::MAP;
const TEXT: Type = Type::String;

pub(crate) fn add(declare: &mut Declare<'_>) {
    declare.variadic(&["dict"], &[Type::Any], MAP, dict);
    declare.plain(&["get"], &[MAP, TEXT], Type::Any, |a| look(&a[0], text(&a[1])).unwrap_or_else(|| "".into()));
    declare.plain(&["hasKey"], &[MAP, TEXT], Type::Bool, |a| map(&a[0]).look(text(&a[1]), |_| ()).is_some().into());
    declare.panicking(&["set"], &[MAP, TEXT, Type::Any], MAP, |a| {
        let map = map(&a[0]);
        if map.is_nil() {
            return Err(Error::new("assignment to entry in nil map"));
        }
        map.insert(a[1].clone(), a[2].clone());
        Ok(a[0].clone())
    });
    declare.plain(&["unset"], &[MAP, TEXT], MAP, |a| {
        map(&a[0]).remove(&a[1]);
        a[0].clone()
    });
    declare.variadic(&["keys"], &[MAP], Type::STRINGS, |a| {
        // Go has no order; ours is sorted.
        let keys = a.iter().flat_map(|each| map(each).entries());
        Ok(Value::strings(keys.filter_map(|(key, _)| if let Value::String(key) = key { Some(key) } else { None })))
    });
    declare.plain(&["values"], &[MAP], Type::LIST, |a| {
        Value::list(map(&a[0]).entries().into_iter().map(|(_, value)| value))
    });
    declare.variadic(&["pluck"], &[TEXT, MAP], Type::LIST, |a| {
        Ok(Value::list(a[1..].iter().filter_map(|map| look(map, text(&a[0])))))
    });
    declare.variadic(&["pick"], &[MAP, TEXT], MAP, |a| {
        let picked = a[1..].iter().filter_map(|key| Some((key.clone(), look(&a[0], text(key))?)));
        Ok(Value::Map(Rc::new(Map::of(MAP, picked))))
    });
    declare.variadic(&["omit"], &[MAP, TEXT], MAP, |a| {
        let omitted = |key: &Value| a[1..].iter().any(|other| text(other) == text(key));
        let kept = map(&a[0]).entries().into_iter().filter(|(key, _)| !omitted(key));
        Ok(Value::Map(Rc::new(Map::of(MAP, kept))))
    });
    declare.variadic_fallible(&["dig"], &[Type::Any], Type::Any, dig);
    merge::add(declare);
}

fn look(map: &Value, key: &[u8]) -> Option<Value> {
    if let Value::Map(map) = map { map.get(key) } else { None }
}

/// Keys and values in turn. A key without a value has an empty text.
fn dict(pairs: &[Value]) -> Result<Value, Error> {
    let pair =
        |pair: &[Value]| Ok((Value::String(shown(&pair[0])?), pair.get(1).cloned().unwrap_or_else(|| "".into())));
    let entries = pairs.chunks(2).map(pair).collect::<Result<Vec<_>, Error>>()?;
    Ok(Value::Map(Rc::new(Map::of(MAP, entries))))
}

/// Keys, what to answer where one of them is missing, and the map to begin with.
fn dig(arguments: &[Value]) -> Result<Value, Error> {
    let [keys @ .., otherwise, begin] = arguments else {
        return Err(Error::new("dig needs at least three arguments"));
    };
    if keys.is_empty() {
        return Err(Error::new("dig needs at least three arguments"));
    }
    let wrong = |value: &Value, wanted: &str| {
        let found = if let Value::Nil = value { "nil".into() } else { value.type_name() };
        Error::new(format!("interface conversion: interface {{}} is {found}, not {wanted}"))
    };
    let as_map = |value: &Value| match value {
        Value::Map(map) if map.kind() == MAP => Ok(Rc::clone(map)),
        other => Err(wrong(other, "map[string]interface {}")),
    };
    let mut at = as_map(begin)?;
    if let Some(key) = keys.iter().find(|key| !matches!(key, Value::String(_))) {
        return Err(wrong(key, "string"));
    }
    for (place, key) in keys.iter().enumerate() {
        let Some(step) = at.get(text(key)) else { return Ok(otherwise.clone()) };
        if place + 1 == keys.len() {
            return Ok(step);
        }
        at = as_map(&step)?;
    }
    Ok(otherwise.clone())
}
