//! Parameters: values that a JSON Schema declares and validates.

use fitout_model::{Definition, Problem, coalesce, nearest};
use jsonschema::error::ValidationErrorKind;
use serde_json::{Value, json};

use crate::manifests::problem;
use crate::{Files, Input};

/// Validated values, completed with the schema's defaults.
#[derive(Debug)]
pub(crate) struct Parameters {
    schema: Value,
    values: Value,
}

impl Parameters {
    /// Validates the values against the schema.
    pub(crate) fn new(input: &Input) -> Result<Self, Problem> {
        let schema = schema(input.definition, input.files)?;
        let values = filled(&schema, input.values);
        unknown(&values, &schema, "values")?;
        let validator = jsonschema::validator_for(&schema).map_err(|error| {
            let path = input.definition.parameters.clone().unwrap_or_default();
            problem(&path, &format!("it is not a valid JSON Schema: {error}"), "fix it")
        })?;
        if let Some(error) = validator.iter_errors(&values).next() {
            let path = error.instance_path().to_string().replace('/', ".");
            let field = format!("values{path}");
            return Err(match error.kind() {
                ValidationErrorKind::Required { property } => {
                    let missing = format!("{field}.{}", property.as_str().unwrap_or_default());
                    problem(&missing, "required value is missing", "set it in the instance's values")
                }
                // The message is part of the status, and the value may be a secret.
                _ => problem(&field, &error.masked_with("it").to_string(), "change the value"),
            });
        }
        Ok(Self { schema, values })
    }

    /// The value of a parameter, by its path separated with dots.
    pub(crate) fn get(&self, name: &str, place: &str) -> Result<&Value, Problem> {
        let mut schema = &self.schema;
        for part in name.split('.') {
            match schema["properties"].get(part) {
                Some(inner) => schema = inner,
                None => return Err(self.undeclared(name, place)),
            }
        }
        let pointer = format!("/{}", name.replace('.', "/"));
        self.values.pointer(&pointer).ok_or_else(|| {
            problem(
                place,
                &format!("the parameter `{name}` has no value"),
                &format!("set `{name}` in the instance's values"),
            )
        })
    }

    fn undeclared(&self, name: &str, place: &str) -> Problem {
        let known = self.schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.as_str());
        let hint = nearest(name, known).map_or_else(
            || "declare it in the parameters, or write `$${` for a literal `${`".to_owned(),
            |meant| format!("did you mean `{meant}`?"),
        );
        problem(place, &format!("no parameter `{name}` is declared"), &hint)
    }
}

/// The schema that the definition declares. Without one, no value is allowed.
pub(crate) fn schema(definition: &Definition, files: Files) -> Result<Value, Problem> {
    let Some(path) = &definition.parameters else {
        return Ok(json!({ "type": "object", "additionalProperties": false }));
    };
    let content = files
        .beside
        .get(path)
        .ok_or_else(|| problem("spec.parameters", &format!("file {path} not found"), "add it beside the definition"))?;
    serde_json::from_slice(content).map_err(|error| problem(path, &format!("it is not JSON: {error}"), "fix it"))
}

/// The values, completed with the schema's defaults.
pub(crate) fn filled(schema: &Value, given: &Value) -> Value {
    let mut values = json!({});
    coalesce(&mut values, given);
    fill(&mut values, schema);
    values
}

/// Adds the defaults of the schema, recursively.
fn fill(values: &mut Value, schema: &Value) {
    let Some(properties) = schema["properties"].as_object() else { return };
    let Some(values) = values.as_object_mut() else { return };
    for (name, property) in properties {
        let default = property.get("default").cloned();
        // An object without a default may have properties with one.
        let default = default.or_else(|| property.get("properties").map(|_| json!({})));
        if let (false, Some(default)) = (values.contains_key(name), default) {
            values.insert(name.clone(), default);
        }
        if let Some(value) = values.get_mut(name) {
            fill(value, property);
        }
    }
}

/// Rejects values that no parameter declares, with a suggestion: most of them are typos.
fn unknown(values: &Value, schema: &Value, path: &str) -> Result<(), Problem> {
    let (Some(values), Some(properties)) = (values.as_object(), schema["properties"].as_object()) else {
        return Ok(());
    };
    if schema.get("additionalProperties").is_some_and(|more| *more != false) {
        return Ok(());
    }
    for (name, value) in values {
        let field = format!("{path}.{name}");
        let Some(property) = properties.get(name) else {
            let meant = nearest(name, properties.keys().map(String::as_str));
            let hint = meant.map_or_else(|| "remove it".to_owned(), |meant| format!("did you mean `{meant}`?"));
            return Err(problem(&field, "unknown parameter", &hint));
        };
        unknown(value, property, &field)?;
    }
    Ok(())
}
