//! Values from the command line: `--set` and `--values`.
//!
//! `--set` reads as Helm's does: `a.b=1,c[0].d=x,e={x,y}`, with `\` before a character that is meant as itself. `true`,
//! `false`, `null` and whole numbers without leading zeros are what they look like, everything else is text.

use std::path::{Path, PathBuf};

use fitout_api::FreeForm;
use serde_json::{Map, Value};

use crate::failure::Failure;

/// The longest list that an index may call for: a slip of the finger is not to fill the memory.
const MAX_INDEX: usize = 1024;

/// What one `--set` sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setting(Vec<(Vec<Step>, Value)>);

/// One step on the way to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
}

impl Setting {
    /// Reads the text after `--set`; an error is a sentence.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let pairs = split(text, ',').into_iter().map(|pair| {
            let parts = split(pair, '=');
            let (key, value) = match parts.as_slice() {
                [_] => return Err(format!("'{pair}' has no '=': a value is set with KEY=VALUE")),
                [key, ..] => (*key, &pair[key.len() + 1..]),
                [] => return Err("a value is set with KEY=VALUE".to_owned()),
            };
            Ok((path(key)?, read(value)))
        });
        pairs.collect::<Result<_, _>>().map(Self)
    }

    fn apply(&self, values: &mut Value) -> Result<(), String> {
        self.0.iter().try_for_each(|(path, value)| put(values, path, value.clone()))
    }
}

/// The parts between separators; one after `\` or within `{}` separates nothing.
fn split(text: &str, separator: char) -> Vec<&str> {
    let (mut parts, mut start, mut escaped, mut depth) = (vec![], 0, false, 0_usize);
    for (index, letter) in text.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ if letter == separator && depth == 0 => {
                parts.push(&text[start..index]);
                start = index + letter.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn unescaped(text: &str) -> String {
    let mut escaped = false;
    let keep = |letter: &char| {
        escaped = *letter == '\\' && !escaped;
        !escaped
    };
    text.chars().filter(keep).collect()
}

fn path(key: &str) -> Result<Vec<Step>, String> {
    let mut steps = vec![];
    for part in split(key, '.') {
        let (name, mut rest) = part.split_at(part.find('[').unwrap_or(part.len()));
        if name.is_empty() {
            return Err(format!("'{key}' has an empty name in it"));
        }
        steps.push(Step::Key(unescaped(name)));
        while !rest.is_empty() {
            let inner = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
            let index = inner.and_then(|(index, after)| Some((index.parse().ok()?, after)));
            let Some((index, after)) = index.filter(|(index, _)| *index <= MAX_INDEX) else {
                return Err(format!("'{part}': in brackets there is a number from 0 to {MAX_INDEX}"));
            };
            steps.push(Step::Index(index));
            rest = after;
        }
    }
    Ok(steps)
}

fn read(text: &str) -> Value {
    match text.strip_prefix('{').and_then(|inner| inner.strip_suffix('}')) {
        Some("") => Value::Array(vec![]),
        Some(inner) => Value::Array(split(inner, ',').into_iter().map(scalar).collect()),
        None => scalar(text),
    }
}

fn scalar(text: &str) -> Value {
    let leading_zero = text.len() > 1 && text.trim_start_matches('-').starts_with('0');
    match text {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        "null" => Value::Null,
        _ => match text.parse::<i64>() {
            Ok(number) if !leading_zero && !text.starts_with('+') => Value::from(number),
            _ => Value::String(unescaped(text)),
        },
    }
}

fn put(at: &mut Value, path: &[Step], value: Value) -> Result<(), String> {
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
        (Step::Key(key), _) => Err(format!("'{key}' cannot be set: what it is to be in is no map")),
        (Step::Index(index), _) => Err(format!("'[{index}]' cannot be set: what it is to be in is no list")),
    }
}

/// Reads the files, in their order.
pub(crate) fn read_files(files: &[PathBuf]) -> Result<Vec<Value>, Failure> {
    files.iter().map(|file| read_file(file)).collect()
}

fn read_file(path: &Path) -> Result<Value, Failure> {
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::new(format!("cannot read the values file {shown}: {error}")))?;
    let value = fitout_goyaml::from_yaml_strict(&text)
        .map_err(|error| Failure::new(format!("the values file {shown} is not as it should be: {error}")))?;
    match value {
        Value::Object(_) | Value::Null => Ok(value),
        _ => Err(Failure::new(format!("the values file {shown} is no map")).hint("values are KEY: VALUE lines")),
    }
}

/// The values there were, with those of the files over them and those of `--set` over all. Null stays, because it takes
/// away what the chart or the definition sets.
pub(crate) fn layered(before: FreeForm, files: &[Value], set: &[Setting]) -> Result<FreeForm, Failure> {
    let mut values = Value::Object(before);
    for file in files {
        merge(&mut values, file);
    }
    for setting in set {
        setting.apply(&mut values).map_err(|sentence| Failure::new(format!("--set: {sentence}")))?;
    }
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

    fn set(texts: &[&str]) -> Value {
        let settings: Vec<_> = texts.iter().map(|text| Setting::parse(text).unwrap()).collect();
        Value::Object(layered(FreeForm::new(), &[], &settings).unwrap())
    }

    #[test]
    fn settings_read_as_helm_reads_them() {
        let cases = [
            ("a=1", json!({ "a": 1 })),
            ("a=01", json!({ "a": "01" })),
            ("a=0", json!({ "a": 0 })),
            ("a=-5", json!({ "a": -5 })),
            ("a=1.5", json!({ "a": "1.5" })),
            ("a=true,b=null,c=", json!({ "a": true, "b": null, "c": "" })),
            ("a.b.c=x", json!({ "a": { "b": { "c": "x" } } })),
            (r"a\.b=x", json!({ "a.b": "x" })),
            (r"a=x\,y", json!({ "a": "x,y" })),
            ("a=b=c", json!({ "a": "b=c" })),
            ("a={x,2}", json!({ "a": ["x", 2] })),
            ("a={}", json!({ "a": [] })),
            ("a[1].b=x", json!({ "a": [null, { "b": "x" }] })),
        ];
        for (text, expected) in cases {
            assert_eq!(set(&[text]), expected, "{text}");
        }
    }

    #[test]
    fn a_later_setting_wins_and_leaves_others_alone() {
        assert_eq!(set(&["a.b=1,a.c=2", "a.b=3"]), json!({ "a": { "b": 3, "c": 2 } }));
    }

    #[test]
    fn a_wrong_setting_is_refused_with_a_sentence() {
        assert_eq!(Setting::parse("a").unwrap_err(), "'a' has no '=': a value is set with KEY=VALUE");
        assert_eq!(Setting::parse("a..b=1").unwrap_err(), "'a..b' has an empty name in it");
        assert_eq!(Setting::parse("a[x]=1").unwrap_err(), "'a[x]': in brackets there is a number from 0 to 1024");
        let settings = [Setting::parse("a=1").unwrap(), Setting::parse("a.b=2").unwrap()];
        let failure = layered(FreeForm::new(), &[], &settings).unwrap_err();
        assert_eq!(failure.sentence, "--set: 'b' cannot be set: what it is to be in is no map");
    }

    #[test]
    fn files_lie_over_what_was_there_and_settings_over_files() {
        let before = json!({ "kept": 1, "list": [1, 2], "map": { "x": 1 } }).as_object().unwrap().clone();
        let files = [json!({ "list": [3], "map": { "y": null } }), Value::Null];
        let values = layered(before, &files, &[Setting::parse("map.x=9").unwrap()]).unwrap();
        assert_eq!(Value::Object(values), json!({ "kept": 1, "list": [3], "map": { "x": 9, "y": null } }));
    }
}
