//! A document held against its schema: which fields there are, how much of each there may be, and which rules hold.
//!
//! Types are not looked at: whoever reads the document into a type finds out about those.

use std::sync::LazyLock;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::Definition;
use super::checks::holds;
use crate::{Problem, nearest};

/// Of a document with a definition. What else is in its metadata is not ours to say.
static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    let properties = json!({ "apiVersion": {}, "kind": {}, "metadata": {}, "spec": schema::<Definition>() });
    json!({ "properties": properties })
});

/// The schema of a type, with all that is in it.
pub(super) fn schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::default().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

/// What is wrong with the shape of a document with a definition, if anything is.
pub(super) fn check(document: &Value) -> Result<(), Problem> {
    check_field("", document, &DOCUMENT)
}

/// What is inside comes first: a field that is misspelt says more than a rule that misses it.
fn check_field(field: &str, value: &Value, schema: &Value) -> Result<(), Problem> {
    // To the API server, null is absent.
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
    let hint = meant.map_or_else(|| "take it out".to_owned(), |meant| format!("did you mean `{meant}`?"));
    Problem { field, message: "there is no such field".to_owned(), hint: Some(hint) }
}

fn check_size(field: &str, value: &Value, schema: &Value) -> Result<(), Problem> {
    let (size, least, most, what) = match value {
        Value::String(text) => (text.chars().count(), "minLength", "maxLength", "characters"),
        Value::Array(values) => (values.len(), "minItems", "maxItems", "entries"),
        _ => return Ok(()),
    };
    let bound = |name: &str| schema[name].as_u64().and_then(|bound| usize::try_from(bound).ok());
    let problem =
        |message: String, hint: &str| Err(Problem { field: field.to_owned(), message, hint: Some(hint.to_owned()) });
    match (bound(least), bound(most)) {
        (Some(least), _) if size < least => problem("it is empty".to_owned(), "fill it in"),
        (_, Some(most)) if size > most => {
            problem(format!("it has {size} {what}, and {most} is the limit"), "shorten it")
        }
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
