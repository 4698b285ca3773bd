//! Output formats and colours.

use clap::ValueEnum;
use serde::Serialize;
use serde_json::{Value, json};

use crate::failure::Failure;

/// An output format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A table, cut to the width of the terminal.
    #[default]
    Table,
    /// A table with more columns, never cut.
    Wide,
    /// JSON.
    Json,
    /// YAML.
    Yaml,
}

impl Format {
    /// Whether this is a format for people.
    pub(crate) fn is_table(self) -> bool {
        matches!(self, Self::Table | Self::Wide)
    }

    /// A value as text: YAML, unless JSON is asked for.
    pub(crate) fn value(self, value: &Value) -> String {
        match self {
            Self::Json => format!("{value:#}\n"),
            Self::Table | Self::Wide | Self::Yaml => fitout_go_yaml::to_yaml(value),
        }
    }

    /// A value as one document of a stream: a line of JSON, or YAML after `---`.
    pub(crate) fn document(self, value: &Value) -> String {
        match self {
            Self::Json => format!("{value}\n"),
            Self::Table | Self::Wide | Self::Yaml => format!("---\n{}", fitout_go_yaml::to_yaml(value)),
        }
    }

    /// One object, as text for people or serialized.
    pub(crate) fn object<T: Serialize>(self, object: &T, text: impl FnOnce() -> String) -> Result<String, Failure> {
        if self.is_table() { Ok(text()) } else { Ok(self.value(&as_value(object)?)) }
    }

    /// A list of objects, as text for people or as a Kubernetes `List`.
    pub(crate) fn list<T: Serialize>(self, objects: &[T], text: impl FnOnce() -> String) -> Result<String, Failure> {
        if self.is_table() {
            return Ok(text());
        }
        let items = objects.iter().map(as_value).collect::<Result<Vec<_>, _>>()?;
        Ok(self.value(&json!({ "apiVersion": "v1", "kind": "List", "items": items })))
    }
}

/// An object as JSON, without `managedFields`.
pub(crate) fn as_value<T: Serialize>(object: &T) -> Result<Value, Failure> {
    let mut value = serde_json::to_value(object)
        .map_err(|error| Failure::new(format!("cannot serialize the object as JSON: {error}")))?;
    if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
    Ok(value)
}

/// The answer to a dry run without the fields that only the API server sets.
pub(crate) fn proposal(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(object) = object.as_object_mut() {
        object.remove("status");
    }
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        for field in ["managedFields", "uid", "creationTimestamp", "generation", "resourceVersion"] {
            metadata.remove(field);
        }
    }
    object
}

/// Colours text, if colours are on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    on: bool,
}

impl Paint {
    pub(crate) fn new(on: bool) -> Self {
        Self { on }
    }

    pub(crate) fn red(self, text: &str) -> String {
        self.with("1;31", text)
    }

    pub(crate) fn green(self, text: &str) -> String {
        self.with("32", text)
    }

    pub(crate) fn yellow(self, text: &str) -> String {
        self.with("33", text)
    }

    pub(crate) fn cyan(self, text: &str) -> String {
        self.with("36", text)
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    fn with(self, code: &str, text: &str) -> String {
        if self.on { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// The width of the terminal that is the standard output; `None` if it is no terminal or does not know its width.
pub(crate) fn terminal_width() -> Option<usize> {
    let (_, columns) = console::Term::stdout().size_checked()?;
    Some(columns.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_list_is_a_kubernetes_list() {
        let text = Format::Json.list(&[json!({ "kind": "Cluster" })], || unreachable!()).unwrap();
        let list: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&list["kind"], &list["items"][0]["kind"]), (&json!("List"), &json!("Cluster")));
    }

    #[test]
    fn documents_are_separated() {
        let value = json!({ "a": [1] });
        assert_eq!(Format::Json.document(&value), "{\"a\":[1]}\n");
        assert_eq!(Format::Yaml.document(&value), "---\na:\n- 1\n");
    }

    #[test]
    fn proposal_has_no_server_side_fields() {
        let metadata = json!({ "name": "x", "uid": "1", "managedFields": [], "resourceVersion": "3" });
        let answer = json!({ "metadata": metadata, "spec": {}, "status": {} });
        assert_eq!(proposal(&answer), json!({ "metadata": { "name": "x" }, "spec": {} }));
    }

    #[test]
    fn colours_are_off_unless_enabled() {
        assert_eq!(Paint::new(false).red("no"), "no");
        assert_eq!(Paint::new(true).green("yes"), "\x1b[32myes\x1b[0m");
    }
}
