//! Values from the command line: `--values`, `--set`, `--set-string`, `--set-json` and `--set-file`, as Helm reads them.

mod error;
mod line;

use std::path::Path;

use fitout_api::FreeForm;
use serde_json::{Map, Value};

use crate::arguments::ValuesArgs;
use crate::failure::Failure;
pub(crate) use error::SettingError;
use line::{Reading, Step};

/// The values that one option sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    option: &'static str,
    places: Vec<(Vec<Step>, Value)>,
    /// The JSON object, if the option was given a whole one.
    whole: Value,
}

impl Setting {
    /// Parses the text after `--set`.
    pub(crate) fn typed(text: &str) -> Result<Self, SettingError> {
        Self::read("--set", text, Reading::Typed)
    }

    /// Parses the text after `--set-string`.
    pub(crate) fn text(text: &str) -> Result<Self, SettingError> {
        Self::read("--set-string", text, Reading::Text)
    }

    /// Parses the text after `--set-file`; the values are paths until the files are read.
    pub(crate) fn files(text: &str) -> Result<Self, SettingError> {
        Self::read("--set-file", text, Reading::Text)
    }

    /// Parses the text after `--set-json`: `KEY=JSON` or a whole object.
    pub(crate) fn json(text: &str) -> Result<Self, SettingError> {
        let option = "--set-json";
        if !text.trim_start().starts_with('{') {
            return Self::read(option, text, Reading::Json);
        }
        let whole = serde_json::from_str(text)
            .map_err(|error| SettingError::InvalidJsonObject { text: text.to_owned(), error: error.to_string() })?;
        Ok(Self { option, places: vec![], whole })
    }

    fn read(option: &'static str, text: &str, reading: Reading) -> Result<Self, SettingError> {
        Ok(Self { option, places: line::read(text, reading)?, whole: Value::Null })
    }

    fn apply(&self, values: &mut Value) -> Result<(), Failure> {
        let wrong = |error| Failure::new(format!("{}: {error}", self.option));
        merge(values, &self.whole);
        self.places.iter().try_for_each(|(path, value)| put(values, path, value.clone())).map_err(wrong)
    }

    /// Replaces paths with the content of their files.
    fn with_contents(mut self) -> Result<Self, Failure> {
        for (_, value) in &mut self.places {
            let names = match value {
                Value::Array(names) => names.as_mut_slice(),
                name => std::slice::from_mut(name),
            };
            for name in names {
                let path = name.as_str().unwrap_or_default();
                let sentence = |error| format!("{}: cannot read the file {path}: {error}", self.option);
                *name = std::fs::read_to_string(path).map_err(|error| Failure::new(sentence(error)))?.into();
            }
        }
        Ok(self)
    }
}

fn put(at: &mut Value, path: &[Step], value: Value) -> Result<(), SettingError> {
    let Some((step, rest)) = path.split_first() else {
        *at = value;
        return Ok(());
    };
    match (step, at) {
        (Step::Key(key), at @ (Value::Null | Value::Object(_))) => {
            if at.is_null() {
                *at = Value::Object(Map::new());
            }
            put(&mut at[key.as_str()], rest, value)
        }
        (Step::Index(index), at @ (Value::Null | Value::Array(_))) => {
            if at.is_null() {
                *at = Value::Array(vec![]);
            }
            let Value::Array(items) = at else { return Ok(()) };
            if items.len() <= *index {
                items.resize(index + 1, Value::Null);
            }
            put(&mut items[*index], rest, value)
        }
        (Step::Key(key), _) => Err(SettingError::ParentIsNoMap(key.clone())),
        (Step::Index(index), _) => Err(SettingError::ParentIsNoList(*index)),
    }
}

/// The values of a command line.
pub(crate) struct Given {
    files: Vec<Value>,
    settings: Vec<Setting>,
}

/// Reads the files of a command line.
pub(crate) fn read(values: &ValuesArgs) -> Result<Given, Failure> {
    let files = values.files.iter().map(|file| read_file(file)).collect::<Result<_, _>>()?;
    let contents = values.set_file.iter().cloned().map(Setting::with_contents).collect::<Result<Vec<_>, _>>()?;
    // Helm's order: the later in this list wins, whatever their order on the command line.
    let settings = [&values.set_json, &values.set, &values.set_string, &contents];
    Ok(Given { files, settings: settings.into_iter().flatten().cloned().collect() })
}

fn read_file(path: &Path) -> Result<Value, Failure> {
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::new(format!("cannot read the values file {shown}: {error}")))?;
    let value = fitout_go_yaml::from_yaml_strict(&text)
        .map_err(|error| Failure::new(format!("cannot parse the values file {shown}: {error}")))?;
    match value {
        Value::Object(_) | Value::Null => Ok(value),
        _ => Err(Failure::new(format!("the values file {shown} is not a map")).hint("values are KEY: VALUE lines")),
    }
}

/// Merges files over the previous values, and settings over both. Null is kept, because it removes a value that the chart or
/// the definition sets.
pub(crate) fn layered(before: FreeForm, given: &Given) -> Result<FreeForm, Failure> {
    let mut values = Value::Object(before);
    given.files.iter().for_each(|file| merge(&mut values, file));
    given.settings.iter().try_for_each(|setting| setting.apply(&mut values))?;
    match values {
        Value::Object(values) => Ok(values),
        _ => Ok(FreeForm::new()),
    }
}

fn merge(under: &mut Value, over: &Value) {
    match (under, over) {
        (_, Value::Null) => {}
        (Value::Object(under), Value::Object(over)) => {
            for (name, value) in over {
                match under.get_mut(name) {
                    Some(inner) if inner.is_object() && value.is_object() => merge(inner, value),
                    _ => drop(under.insert(name.clone(), value.clone())),
                }
            }
        }
        (under, over) => under.clone_from(over),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn layered(before: &Value, files: Vec<Value>, settings: Vec<Setting>) -> Result<Value, Failure> {
        let before = before.as_object().unwrap().clone();
        super::layered(before, &Given { files, settings }).map(Value::Object)
    }

    #[track_caller]
    fn sets(setting: Result<Setting, SettingError>, expected: &Value) {
        assert_eq!(layered(&json!({}), vec![], vec![setting.unwrap()]).unwrap(), *expected);
    }

    #[test]
    fn set_parses_as_in_helm() {
        for (text, expected) in [
            ("a=1", json!({ "a": 1 })),
            ("a=01", json!({ "a": "01" })),
            ("a=0", json!({ "a": 0 })),
            ("a=-05,b=+5", json!({ "a": -5, "b": 5 })),
            ("a=1.5", json!({ "a": "1.5" })),
            ("a=TRUE,b=null,c=", json!({ "a": true, "b": null, "c": "" })),
            ("a=1,", json!({ "a": 1 })),
            ("", json!({})),
            ("a =1,b= 1", json!({ "a ": 1, "b": " 1" })),
            ("a.b.c=x", json!({ "a": { "b": { "c": "x" } } })),
            (r"a\.b=x", json!({ "a.b": "x" })),
            (r"a=x\,y", json!({ "a": "x,y" })),
            (r"a=x\", json!({ "a": "x" })),
            ("a=b=c", json!({ "a": "b=c" })),
            ("a=x{y", json!({ "a": "x{y" })),
            (r"a={x\,y,2}", json!({ "a": ["x,y", 2] })),
            ("a={}", json!({ "a": [""] })),
            ("a={x}b=1", json!({ "a": ["x"], "b": 1 })),
            ("a[1].b=x", json!({ "a": [null, { "b": "x" }] })),
        ] {
            sets(Setting::typed(text), &expected);
        }
    }

    #[test]
    fn set_string_keeps_strings() {
        sets(Setting::text("a=1,b={2,true}"), &json!({ "a": "1", "b": ["2", "true"] }));
        sets(Setting::text("a[1].b=1"), &json!({ "a": [null, { "b": "1" }] }));
    }

    #[test]
    fn set_json_takes_a_key_or_an_object() {
        for (text, expected) in [
            (
                r#"a=[1,{"b":null}],c="x",d=1.5,e=,f=true"#,
                json!({ "a": [1, { "b": null }], "c": "x", "d": 1.5, "e": null, "f": true }),
            ),
            ("a=1 b=2", json!({ "a": 1, "b": 2 })),
            (r#"a[0].b={"c":1}"#, json!({ "a": [{ "b": { "c": 1 } }] })),
            (r#" {"a":{"b":1}} "#, json!({ "a": { "b": 1 } })),
        ] {
            sets(Setting::json(text), &expected);
        }
        let error = Setting::json("{a:1}").unwrap_err();
        assert_eq!(error.to_string(), "'{a:1}' is not JSON: key must be a string at line 1 column 2");
    }

    #[test]
    fn set_file_reads_files() {
        let setting = Setting::files("a=Cargo.toml,b={Cargo.toml}").unwrap().with_contents().unwrap();
        let content = std::fs::read_to_string("Cargo.toml").unwrap();
        sets(Ok(setting), &json!({ "a": content, "b": [content] }));
        let failure = Setting::files("a=gone").unwrap().with_contents().unwrap_err();
        assert_eq!(failure.sentence, "--set-file: cannot read the file gone: No such file or directory (os error 2)");
    }

    #[test]
    fn later_setting_wins() {
        let settings = vec![Setting::typed("a.b=1,a.c=2").unwrap(), Setting::typed("a.b=3").unwrap()];
        assert_eq!(layered(&json!({}), vec![], settings).unwrap(), json!({ "a": { "b": 3, "c": 2 } }));
    }

    #[test]
    fn conflicting_setting_names_its_option() {
        let settings = vec![Setting::typed("a=1").unwrap(), Setting::text("a.b=2").unwrap()];
        let failure = layered(&json!({}), vec![], settings).unwrap_err();
        assert_eq!(failure.sentence, "--set-string: cannot set 'b': its parent is not a map");
    }

    #[test]
    fn settings_win_over_files_and_files_over_previous_values() {
        let before = json!({ "kept": 1, "list": [1, 2], "map": { "x": 1 } });
        let files = vec![json!({ "list": [3], "map": { "y": null } }), Value::Null];
        let values = layered(&before, files, vec![Setting::typed("map.x=9").unwrap()]).unwrap();
        assert_eq!(values, json!({ "kept": 1, "list": [3], "map": { "x": 9, "y": null } }));
    }

    #[test]
    fn options_apply_in_helms_order() {
        let values = ValuesArgs {
            set: vec![Setting::typed("a=1,b=1").unwrap()],
            set_string: vec![Setting::text("a=2").unwrap()],
            set_json: vec![Setting::json("a=3,b=3,c=3").unwrap()],
            set_file: vec![],
            files: vec![],
        };
        let values = super::layered(FreeForm::new(), &read(&values).unwrap()).unwrap();
        assert_eq!(Value::Object(values), json!({ "a": "2", "b": 1, "c": 3 }));
    }
}
