//! `${name}` in manifests: substituted in parsed scalars, never in text.

use fitout_model::Problem;
use serde_json::Value;

use crate::manifests::problem;
use crate::parameters::Parameters;

/// Substitutes parameters in every scalar of a document. A scalar that is only `${name}` takes the type of the parameter, such
/// as a number or a map; `$${` is an escaped `${`.
pub(crate) fn substitute(value: Value, parameters: &Parameters, place: &str) -> Result<Value, Problem> {
    Ok(match value {
        Value::String(text) => scalar(text, parameters, place)?,
        Value::Array(items) => {
            items.into_iter().map(|item| substitute(item, parameters, place)).collect::<Result<_, _>>()?
        }
        Value::Object(fields) => {
            let mut filled = serde_json::Map::new();
            for (name, value) in fields {
                let Value::String(name) = as_text(name, parameters, place)? else { continue };
                filled.insert(name, substitute(value, parameters, place)?);
            }
            Value::Object(filled)
        }
        other => other,
    })
}

fn scalar(text: String, parameters: &Parameters, place: &str) -> Result<Value, Problem> {
    match whole(&text) {
        Some(name) => parameters.get(name, place).cloned(),
        None => as_text(text, parameters, place),
    }
}

/// The parameter's name, where the scalar is only one parameter.
fn whole(text: &str) -> Option<&str> {
    let name = text.strip_prefix("${")?.strip_suffix('}')?;
    (!name.contains(['{', '}'])).then_some(name)
}

fn as_text(text: String, parameters: &Parameters, place: &str) -> Result<Value, Problem> {
    if !text.contains("${") {
        return Ok(Value::String(text));
    }
    let mut filled = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(start) = rest.find("${") {
        // An escape loses one `$`.
        if rest[..start].ends_with('$') {
            filled.push_str(&rest[..start - 1]);
            filled.push_str("${");
            rest = &rest[start + 2..];
            continue;
        }
        filled.push_str(&rest[..start]);
        let Some(end) = rest[start..].find('}').map(|end| start + end) else {
            return Err(problem(place, &format!("`{text}` has no closing brace"), "close it, or write `$${`"));
        };
        let name = &rest[start + 2..end];
        match parameters.get(name, place)? {
            Value::String(value) => filled.push_str(value),
            value @ (Value::Number(_) | Value::Bool(_)) => filled.push_str(&value.to_string()),
            _ => {
                let message = format!("the parameter `{name}` is not a scalar and cannot be part of a string");
                return Err(problem(place, &message, "use it as the whole value"));
            }
        }
        rest = &rest[end + 1..];
    }
    filled.push_str(rest);
    Ok(Value::String(filled))
}
