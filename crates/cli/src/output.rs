//! The forms in which things are printed.

use clap::ValueEnum;
use serde::Serialize;
use serde_json::{Value, json};

use crate::failure::Failure;

/// How to print what is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    #[default]
    Table,
    /// For people with wide screens.
    Wide,
    /// For programs.
    Json,
    /// For files.
    Yaml,
}

impl Format {
    /// Whether it is for people.
    pub(crate) fn is_table(self) -> bool {
        matches!(self, Self::Table | Self::Wide)
    }

    /// A value as text, for programs. People get YAML.
    pub(crate) fn value(self, value: &Value) -> String {
        match self {
            Self::Json => format!("{value:#}\n"),
            Self::Table | Self::Wide | Self::Yaml => fitout_go_yaml::to_yaml(value),
        }
    }

    /// A value as one of several that follow each other: JSON on a line, YAML after `---`.
    pub(crate) fn document(self, value: &Value) -> String {
        match self {
            Self::Json => format!("{value}\n"),
            Self::Table | Self::Wide | Self::Yaml => format!("---\n{}", fitout_go_yaml::to_yaml(value)),
        }
    }

    /// One object, either in our words or as it is.
    pub(crate) fn object<T: Serialize>(self, object: &T, words: impl FnOnce() -> String) -> Result<String, Failure> {
        if self.is_table() { Ok(words()) } else { Ok(self.value(&as_value(object)?)) }
    }

    /// Many objects, either in our words or as Kubernetes lists them.
    pub(crate) fn list<T: Serialize>(self, objects: &[T], words: impl FnOnce() -> String) -> Result<String, Failure> {
        if self.is_table() {
            return Ok(words());
        }
        let items = objects.iter().map(as_value).collect::<Result<Vec<_>, _>>()?;
        Ok(self.value(&json!({ "apiVersion": "v1", "kind": "List", "items": items })))
    }
}

/// An object as a value, without the record of who set which field.
pub(crate) fn as_value<T: Serialize>(object: &T) -> Result<Value, Failure> {
    let mut value = serde_json::to_value(object)
        .map_err(|error| Failure::new(format!("cannot write the object as JSON: {error}")))?;
    if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
    Ok(value)
}

/// What would be written: an object as an API server answers a dry run, without what the server alone decides.
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

/// Colours, where there is a terminal that wants them.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_reads_as_one_of_kubernetes() {
        let text = Format::Json.list(&[json!({ "kind": "Cluster" })], || unreachable!()).unwrap();
        let list: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&list["kind"], &list["items"][0]["kind"]), (&json!("List"), &json!("Cluster")));
    }

    #[test]
    fn documents_are_told_apart() {
        let value = json!({ "a": [1] });
        assert_eq!(Format::Json.document(&value), "{\"a\":[1]}\n");
        assert_eq!(Format::Yaml.document(&value), "---\na:\n- 1\n");
    }

    #[test]
    fn a_proposal_has_nothing_that_the_server_decides() {
        let metadata = json!({ "name": "x", "uid": "1", "managedFields": [], "resourceVersion": "3" });
        let answer = json!({ "metadata": metadata, "spec": {}, "status": {} });
        assert_eq!(proposal(&answer), json!({ "metadata": { "name": "x" }, "spec": {} }));
    }

    #[test]
    fn there_is_no_colour_unless_it_is_wanted() {
        assert_eq!(Paint::new(false).red("no"), "no");
        assert_eq!(Paint::new(true).green("yes"), "\x1b[32myes\x1b[0m");
    }
}
