//! Validation of a document against its schema: known fields, sizes and CEL rules.
//!
//! Types are not checked here: deserialization reports those.

use std::sync::LazyLock;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::Definition;
use super::checks::holds;
use crate::{Problem, nearest};

/// The schema of a document with a definition. Its metadata is not checked.
static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    let properties = json!({ "apiVersion": {}, "kind": {}, "metadata": {}, "spec": schema::<Definition>() });
    json!({ "properties": properties })
});

/// The schema of a type, with all subschemas inlined.
pub(crate) fn schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::default().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

/// Validates a document with a definition.
pub(super) fn check(document: &Value) -> Result<(), Problem> {
    check_field("", document, &DOCUMENT)
}

/// Validates the value of a field against a schema; the field of a document is empty. Checks nested values first: a misspelt
/// field explains more than a rule that misses the field.
pub(crate) fn check_field(field: &str, value: &Value, schema: &Value) -> Result<(), Problem> {
    // The API server treats null as absent.
    if value.is_null() {
        return Ok(());
    }
    if let (Some(fields), Some(known)) = (value.as_object(), schema["properties"].as_object()) {
        for (name, value) in fields {
            let field = if field.is_empty() { name.clone() } else { format!("{field}.{name}") };
            match known.get(name) {
                Some(schema) => check_field(&field, value, schema)?,
                None => return Err(unknown(field, name, known.keys())),
            }
        }
    }
    if let (Some(values), Some(schema)) = (value.as_array(), schema.get("items")) {
        for (index, value) in values.iter().enumerate() {
            check_field(&format!("{field}[{index}]"), value, schema)?;
        }
    }
    check_size(field, value, schema)?;
    check_rules(field, value, schema)
}

fn unknown<'a>(field: String, name: &str, known: impl Iterator<Item = &'a String>) -> Problem {
    let meant = nearest(name, known.map(String::as_str));
    let hint = meant.map_or_else(|| "remove it".to_owned(), |meant| format!("did you mean `{meant}`?"));
    Problem { field, message: "unknown field".to_owned(), hint: Some(hint) }
}

fn check_size(field: &str, value: &Value, schema: &Value) -> Result<(), Problem> {
    let (size, min, max, unit) = match value {
        Value::String(text) => (text.chars().count(), "minLength", "maxLength", "characters"),
        Value::Array(values) => (values.len(), "minItems", "maxItems", "entries"),
        _ => return Ok(()),
    };
    let bound = |name: &str| schema[name].as_u64().and_then(|bound| usize::try_from(bound).ok());
    let problem =
        |message: String, hint: &str| Err(Problem { field: field.to_owned(), message, hint: Some(hint.to_owned()) });
    match (bound(min), bound(max)) {
        (Some(min), _) if size < min => problem("it is empty".to_owned(), "fill it in"),
        (_, Some(max)) if size > max => problem(format!("it has {size} {unit}, and {max} is the limit"), "shorten it"),
        _ => Ok(()),
    }
}

fn check_rules(field: &str, value: &Value, schema: &Value) -> Result<(), Problem> {
    let rules = schema["x-kubernetes-validations"].as_array().into_iter().flatten();
    let mut broken = rules.filter(|rule| rule["rule"].as_str().is_some_and(|rule| !holds(rule, value)));
    broken.next().map_or(Ok(()), |rule| {
        let message = rule["message"].as_str().unwrap_or_default().to_owned();
        Err(Problem { field: field.to_owned(), message, hint: None })
    })
}
