//! The JSON Schema of a chart's values, where the chart has none.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::comments::descriptions;

/// A schema with the type, the default and the description of each value in a `values.yaml`.
pub(crate) fn derived(values: &Value, text: &str) -> Value {
    let mut schema = property(values, &mut Vec::new(), &descriptions(text));
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    schema
}

/// Adds descriptions to the properties of a schema that have none, from the comments of a `values.yaml`. Whether there were
/// any.
pub(crate) fn add_descriptions(schema: &mut Value, text: &str) -> bool {
    describe(schema, &mut Vec::new(), &descriptions(text))
}

fn describe(schema: &mut Value, path: &mut Vec<String>, descriptions: &BTreeMap<Vec<String>, String>) -> bool {
    let mut is_changed = false;
    for (name, property) in schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
        path.push(name.clone());
        is_changed |= describe(property, path, descriptions);
        if let (Some(fields), Some(text)) = (property.as_object_mut(), descriptions.get(path))
            && !["description", "$ref"].iter().any(|field| fields.contains_key(*field))
        {
            fields.insert("description".to_owned(), text.as_str().into());
            is_changed = true;
        }
        path.pop();
    }
    is_changed
}

fn property(value: &Value, path: &mut Vec<String>, descriptions: &BTreeMap<Vec<String>, String>) -> Value {
    let mut schema = Map::new();
    if let Some(description) = descriptions.get(path) {
        schema.insert("description".to_owned(), description.as_str().into());
    }
    // A null says nothing about the type.
    if let Some(type_name) = type_name(value) {
        schema.insert("type".to_owned(), type_name.into());
    }
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let mut properties = Map::new();
            for (name, value) in fields {
                path.push(name.clone());
                properties.insert(name.clone(), property(value, path, descriptions));
                path.pop();
            }
            schema.insert("properties".to_owned(), Value::Object(properties));
        }
        Value::Array(items) => {
            if let Some(first) = items.first().and_then(type_name)
                && items.iter().all(|item| type_name(item) == Some(first))
            {
                schema.insert("items".to_owned(), json!({ "type": first }));
            }
            schema.insert("default".to_owned(), value.clone());
        }
        Value::Null => {}
        _ => drop(schema.insert("default".to_owned(), value.clone())),
    }
    Value::Object(schema)
}

fn type_name(value: &Value) -> Option<&'static str> {
    match value {
        Value::Null => None,
        Value::Bool(_) => Some("boolean"),
        Value::Number(number) if number.is_f64() => Some("number"),
        Value::Number(_) => Some("integer"),
        Value::String(_) => Some("string"),
        Value::Array(_) => Some("array"),
        Value::Object(_) => Some("object"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_describe_the_properties_of_a_schema() {
        let mut schema = json!({ "properties": {
            "a": { "type": "integer", "description": "Own" }, "b": { "properties": { "c": { "type": "string" } } },
        } });
        assert!(add_descriptions(&mut schema, "# Text of a\na: 1\nb:\n  # Text of c\n  c: x\n"));
        assert_eq!(schema["properties"]["a"]["description"], "Own");
        assert_eq!(schema["properties"]["b"]["properties"]["c"]["description"], "Text of c");
        assert!(!add_descriptions(&mut schema, "# Text of c\nc: 1\n"));
    }

    #[test]
    fn every_value_has_its_type_default_and_description() {
        let text =
            "# Replicas\nreplicas: 2\nimage:\n  # Tag\n  tag: ''\nargs: [a]\nextra: {}\nlimit: null\nratio: 0.5\n";
        let values = fitout_go_yaml::from_yaml(text).unwrap();
        let schema = derived(&values, text);
        let expected = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "args": { "type": "array", "items": { "type": "string" }, "default": ["a"] },
                "extra": { "type": "object", "default": {} },
                "image": { "type": "object", "properties": { "tag": { "type": "string", "default": "", "description": "Tag" } } },
                "limit": {},
                "ratio": { "type": "number", "default": 0.5 },
                "replicas": { "type": "integer", "default": 2, "description": "Replicas" },
            },
        });
        assert_eq!(schema, expected);
        assert!(jsonschema::validator_for(&schema).unwrap().is_valid(&values));
    }
}
