//! What a document says it is.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};

/// The part of an object that Helm reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// `apiVersion`
    pub api_version: String,
    /// `kind`
    pub kind: String,
    /// `metadata.name`
    pub name: String,
    /// `metadata.annotations`
    pub annotations: BTreeMap<String, String>,
}

/// What Go calls the types of the fields.
const METADATA: &str =
    r#"struct { Name string "json:\"name\""; Annotations map[string]string "json:\"annotations\"" }"#;
const ANNOTATIONS: &str = "map[string]string";

/// The fields at the top, in any case.
const FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

impl Head {
    /// Reads a document, all of it: a document that is no YAML, or has something else in one of these places, is refused in
    /// Go's words.
    pub fn read(document: &str) -> Result<Self, String> {
        let wanted = |key: &str| FIELDS.iter().any(|field| key.eq_ignore_ascii_case(field));
        let value = fitout_go_yaml::top(document.as_bytes(), wanted).map_err(|error| error.to_string())?;
        let mut head = Self::default();
        match &value {
            Json::Null => Ok(head),
            Json::Object(object) => head.fill(object).map(|()| head),
            other => Err(format!("{UNREADABLE}{} into Go value of type util.SimpleHead", kind(other))),
        }
    }

    fn fill(&mut self, object: &Map<String, Json>) -> Result<(), String> {
        for (key, value) in sorted(object) {
            if key.eq_ignore_ascii_case("apiVersion") {
                set(&mut self.api_version, value, "SimpleHead.apiVersion")?;
            } else if key.eq_ignore_ascii_case("kind") {
                set(&mut self.kind, value, "SimpleHead.kind")?;
            } else if key.eq_ignore_ascii_case("metadata") {
                match value {
                    Json::Null => {}
                    Json::Object(metadata) => self.fill_metadata(metadata)?,
                    other => return Err(refusal(other, "SimpleHead.metadata", METADATA)),
                }
            }
        }
        Ok(())
    }

    fn fill_metadata(&mut self, metadata: &Map<String, Json>) -> Result<(), String> {
        for (key, value) in sorted(metadata) {
            if key.eq_ignore_ascii_case("name") {
                set(&mut self.name, value, ".metadata.name")?;
            } else if key.eq_ignore_ascii_case("annotations") {
                match value {
                    Json::Null => {}
                    Json::Object(annotations) => {
                        for (name, value) in sorted(annotations) {
                            let mut text = String::new();
                            set(&mut text, value, ".metadata.annotations")?;
                            self.annotations.insert(name.clone(), text);
                        }
                    }
                    other => return Err(refusal(other, ".metadata.annotations", ANNOTATIONS)),
                }
            }
        }
        Ok(())
    }
}

const UNREADABLE: &str = "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ";

/// Go reads the JSON that it wrote itself, with sorted keys.
fn sorted(object: &Map<String, Json>) -> Vec<(&String, &Json)> {
    let mut entries: Vec<_> = object.iter().collect();
    entries.sort_unstable_by_key(|(key, _)| *key);
    entries
}

/// Where a text is wanted, a scalar becomes one.
fn set(field: &mut String, value: &Json, name: &str) -> Result<(), String> {
    *field = match value {
        Json::Null => return Ok(()),
        Json::String(text) => text.clone(),
        Json::Bool(_) | Json::Number(_) => value.to_string(),
        Json::Array(_) | Json::Object(_) => return Err(refusal(value, name, "string")),
    };
    Ok(())
}

fn refusal(value: &Json, field: &str, wanted: &str) -> String {
    format!("{UNREADABLE}{} into Go struct field {field} of type {wanted}", kind(value))
}

fn kind(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "bool",
        Json::Number(_) => "number",
        Json::String(_) => "string",
        Json::Array(_) => "array",
        Json::Object(_) => "object",
    }
}
