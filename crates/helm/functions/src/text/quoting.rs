//! Quotes, and values side by side.

use fitout_go_template::{Error, Type, Value, quote, sprint};

use super::TEXT;
use crate::declare::Declare;
use crate::value::shown;

pub(super) fn add(declare: &mut Declare<'_>) {
    declare.variadic(&["quote"], &[Type::Any], TEXT, |a| {
        joined(a, |value, all| {
            all.extend_from_slice(quote(&shown(value)?).as_bytes());
            Ok(())
        })
    });
    declare.variadic(&["squote"], &[Type::Any], TEXT, |a| {
        joined(a, |value, all| {
            all.push(b'\'');
            all.extend_from_slice(&printed(value)?);
            all.push(b'\'');
            Ok(())
        })
    });
    declare.variadic(&["cat"], &[Type::Any], TEXT, |a| {
        joined(a, |value, all| {
            all.extend_from_slice(&printed(value)?);
            Ok(())
        })
    });
}

/// A value as `%v` prints it.
fn printed(value: &Value) -> Result<fitout_go_template::Text, Error> {
    if let Value::String(text) = value { Ok(text.clone()) } else { sprint(std::slice::from_ref(value)) }
}

/// What is written of each value that is not nil, with spaces between.
fn joined(values: &[Value], mut write: impl FnMut(&Value, &mut Vec<u8>) -> Result<(), Error>) -> Result<Value, Error> {
    let mut all = Vec::new();
    let mut first = true;
    for value in values.iter().filter(|value| !matches!(value, Value::Nil)) {
        if !std::mem::take(&mut first) {
            all.push(b' ');
        }
        write(value, &mut all)?;
    }
    Ok(Value::string(all))
}
