//! Merging maps, as Go's library mergo does.

use std::rc::Rc;

use fitout_go_template::{Error, Map, Shape, Type, Value};

use super::MAP;
use crate::argument::map;
use crate::declare::Declare;
use crate::value::kind_of_type;

/// How deeply maps may be nested that are merged: one that holds itself has no end. Go ends with its stack.
const MAX_DEPTH: usize = 100_000;

pub(super) fn add(declare: &mut Declare<'_>) {
    const PARAMS: &[Type] = &[MAP, MAP];
    for (name, must, overwrite) in [("merge", "mustMerge", false), ("mergeOverwrite", "mustMergeOverwrite", true)] {
        declare.variadic(&[name], PARAMS, Type::Any, move |a| match merge_all(a, overwrite) {
            // Nothing is said of what cannot be merged.
            Err(Refusal::Different) => Ok("".into()),
            Err(Refusal::Panic(message)) => Err(Error::new(message)),
            Ok(merged) => Ok(merged),
        });
        declare.variadic_fallible(&[must], PARAMS, Type::Any, move |a| {
            merge_all(a, overwrite).map_err(|refusal| match refusal {
                Refusal::Different => Error::new("src and dst must be of same type"),
                Refusal::Panic(message) => Error::new(message),
            })
        });
    }
}

/// Why there is nothing to be merged.
enum Refusal {
    /// A pointer on one side and something else on the other.
    Different,
    /// In Go it is a panic.
    Panic(String),
}

/// The first map with all the others merged into it.
fn merge_all(maps: &[Value], overwrite: bool) -> Result<Value, Refusal> {
    let mut target = map(&maps[0]);
    for source in &maps[1..] {
        let source = map(source);
        if target.is_nil() && !source.is_nil() {
            target = Rc::new(Map::of(MAP, []));
        }
        merge(&target, &source, overwrite, 0)?;
    }
    Ok(Value::Map(target))
}

/// Merges a map into another, in place. Where both have something, that of the source counts only if it overwrites or if
/// the other is empty; maps are merged, and what is only in the source is shared with it.
fn merge(target: &Rc<Map>, source: &Rc<Map>, overwrite: bool, depth: usize) -> Result<(), Refusal> {
    if depth > MAX_DEPTH {
        return Err(Refusal::Panic("the map is nested too deeply to be merged: does it hold itself?".to_owned()));
    }
    if Rc::ptr_eq(target, source) && depth > 0 {
        return Ok(());
    }
    for (key, value) in source.entries() {
        let there = look(target, source, &key)?;
        if value.is_nil() && !matches!(source.value_kind(), Type::Any) || matches!(value, Value::Nil) {
            if overwrite {
                put(target, source, key, value)?;
            }
            continue;
        }
        if let Some(there) = &there {
            let kind = target.value_kind();
            if is_composed(&value) {
                merge_composed(there, &value, overwrite, depth)?;
            } else if is_list(&value) && !kind.can_be_nil() {
                let kind = kind_of_type(kind);
                return Err(Refusal::Panic(format!("reflect: call of reflect.Value.IsNil on {kind} Value")));
            }
        }
        // Asked now: an empty map may have been filled.
        let full = there.as_ref().is_some_and(|there| !is_empty(there));
        let both_maps = || is_map(&value) && there.as_ref().is_some_and(is_map);
        if full && (both_maps() || !overwrite) {
            continue;
        }
        put(target, source, key, value)?;
    }
    Ok(())
}

/// What is under a key of the source, if the type of the target has such keys.
fn look(target: &Map, source: &Map, key: &Value) -> Result<Option<Value>, Refusal> {
    let (wanted, given) = (target.key_kind(), source.key_kind());
    if wanted != Type::Any && given != wanted {
        let message = format!("reflect.Value.MapIndex: value of type {given} is not assignable to type {wanted}");
        return Err(Refusal::Panic(message));
    }
    Ok(target.get_value(key))
}

/// Puts a value of the source under a key, if the type of the target has room for it.
fn put(target: &Map, source: &Map, key: Value, value: Value) -> Result<(), Refusal> {
    let (wanted, given) = (target.value_kind(), source.value_kind());
    // A list is taken out of its interface; everything else stays in it.
    let given = if is_list(&value) { value.kind().unwrap_or(given) } else { given };
    if wanted != Type::Any && wanted != given {
        let message = format!("reflect.Value.SetMapIndex: value of type {given} is not assignable to type {wanted}");
        return Err(Refusal::Panic(message));
    }
    target.insert(key, value);
    Ok(())
}

/// Merges what is composed into what is there: maps into maps, and nothing into anything else.
fn merge_composed(there: &Value, value: &Value, overwrite: bool, depth: usize) -> Result<(), Refusal> {
    match (there.underlying(), value.underlying()) {
        (Value::Map(target), Value::Map(source)) if !target.is_nil() => {
            crate::stack::enough(|| merge(&target, &source, overwrite, depth + 1))
        }
        (Value::Map(target), Value::Host(host)) if target.is_nil() && matches!(host.shape(), Shape::Struct(_)) => {
            Err(Refusal::Panic("reflect: call of reflect.Value.IsNil on struct Value".to_owned()))
        }
        (Value::Host(host), Value::Map(source)) => match host.shape() {
            Shape::Pointer(_) if !overwrite && !source.is_nil() => Err(Refusal::Different),
            Shape::Struct(fields) if fields.iter().any(|(name, _)| name.starts_with(char::is_uppercase)) => {
                Err(Refusal::Panic("reflect: call of reflect.Value.Field on map Value".to_owned()))
            }
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}

/// Whether it is a map, a struct or a pointer.
fn is_composed(value: &Value) -> bool {
    match value {
        Value::Map(_) => true,
        Value::Host(host) => match host.shape() {
            Shape::Like(value) => is_map(&value),
            Shape::Struct(_) | Shape::Pointer(_) => true,
        },
        _ => false,
    }
}

fn is_list(value: &Value) -> bool {
    matches!(value.underlying(), Value::List(_) | Value::Bytes(_))
}

fn is_map(value: &Value) -> bool {
    matches!(value.underlying(), Value::Map(_))
}

/// What mergo takes for empty: as elsewhere, but a complex number never is.
fn is_empty(value: &Value) -> bool {
    !matches!(value, Value::Complex(..)) && crate::value::is_empty(value)
}
