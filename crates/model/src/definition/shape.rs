//! A document held against its schema: which fields there are.
//!
//! Types are not looked at: whoever reads the document into a type finds out about those.

use std::sync::LazyLock;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::Definition;
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
    Ok(())
}

fn unknown<'a>(field: String, name: &str, known: impl Iterator<Item = &'a String>) -> Problem {
    let meant = nearest(name, known.map(String::as_str));
    let hint = meant.map_or_else(|| "take it out".to_owned(), |meant| format!("did you mean `{meant}`?"));
    Problem { field, message: "there is no such field".to_owned(), hint: Some(hint) }
}
