//! Writes a definition as YAML in the style of definitions that people write: fields in the order of the documentation,
//! short entries on one line.

use std::fmt::{self, Write};

use fitout_model::Definition;
use serde_json::{Map, Value, json};

/// The longest line with more than one entry.
const WIDTH: usize = 118;

/// The order of fields; others follow alphabetically.
const ORDER: [&str; 75] = [
    "apiVersion",
    "name",
    "kind",
    "metadata",
    "spec",
    "to",
    "hosts",
    "crd",
    "list",
    "detail",
    "edit",
    "apiGroups",
    "resources",
    "resourceNames",
    "nonResourceURLs",
    "verbs",
    "operations",
    "rules",
    "extension",
    "package",
    "channel",
    "chart",
    "repository",
    "path",
    "version",
    "optional",
    "digest",
    "values",
    "upgradeFrom",
    "appVersion",
    "displayName",
    "summary",
    "publisher",
    "logo",
    "description",
    "license",
    "links",
    "url",
    "categories",
    "changelog",
    "lifecycle",
    "kubernetes",
    "platform",
    "singleton",
    "bootstrap",
    "requirements",
    "internetAccess",
    "kubeSystemDeployment",
    "privileged",
    "capabilities",
    "namespaces",
    "installer",
    "grants",
    "webhooks",
    "platformData",
    "registries",
    "dependencies",
    "provides",
    "conflicts",
    "suggests",
    "parameters",
    "configuration",
    "helm",
    "manifests",
    "olm",
    "runtime",
    "operands",
    "images",
    "roles",
    "menu",
    "cluster",
    "project",
    "pages",
    "index",
    "image",
];

/// A definition as a document, after comment lines.
pub fn write_definition(definition: &Definition, comments: &[String]) -> String {
    let mut spec = serde_json::to_value(definition).unwrap_or_default();
    // The default, which nobody writes.
    if let Some(fields) = spec.as_object_mut().filter(|fields| fields.get("lifecycle") == Some(&json!("External"))) {
        fields.remove("lifecycle");
    }
    // Everything else of a role follows its display name.
    for role in spec.get_mut("roles").and_then(Value::as_array_mut).into_iter().flatten() {
        move_last(role, "rules");
    }
    let mut text = String::new();
    for line in comments {
        put(&mut text, format_args!("# {line}\n"));
    }
    text.push_str("apiVersion: fitout.dev/v1alpha1\nkind: ExtensionDefinition\n");
    let name = format!("{}-{}", definition.extension, definition.version.to_string().replace('+', "-"));
    put(&mut text, format_args!("metadata: {{ name: {} }}\n", scalar(&Value::String(name))));
    entry(&mut text, 0, "spec", &spec);
    text
}

/// A key that sorts after all others; the writer drops the mark.
const LAST: char = '\u{10FFFF}';

fn move_last(value: &mut Value, field: &str) {
    if let Some(fields) = value.as_object_mut()
        && let Some(moved) = fields.remove(field)
    {
        fields.insert(format!("{LAST}{field}"), moved);
    }
}

fn sorted(fields: &Map<String, Value>) -> Vec<(&str, &Value)> {
    let mut sorted: Vec<(&str, &Value)> = fields.iter().map(|(name, value)| (name.as_str(), value)).collect();
    let rank = |name: &str| {
        let known = ORDER.iter().position(|known| *known == name).unwrap_or(ORDER.len());
        known + usize::from(name.starts_with(LAST))
    };
    sorted.sort_by_key(|(name, _)| (rank(name), name.to_string()));
    sorted.into_iter().map(|(name, value)| (name.trim_start_matches(LAST), value)).collect()
}

fn put(text: &mut String, part: fmt::Arguments) {
    // Writing to a string cannot fail.
    let _ = text.write_fmt(part);
}

/// Writes `name: value` at an indentation.
fn entry(text: &mut String, indentation: usize, name: &str, value: &Value) {
    let margin = " ".repeat(indentation);
    let name = scalar(&Value::String(name.to_owned()));
    put(text, format_args!("{margin}{name}:"));
    after_key(text, indentation, indentation + name.len() + 1, value);
}

/// Writes the value after a key that ends in this column.
fn after_key(text: &mut String, indentation: usize, column: usize, value: &Value) {
    let is_short = |inline: &str| column + 1 + inline.len() <= WIDTH;
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let inline = inline(value);
            if is_short(&inline) && is_flat(value) {
                put(text, format_args!(" {inline}\n"));
            } else {
                text.push('\n');
                for (name, value) in sorted(fields) {
                    entry(text, indentation + 2, name, value);
                }
            }
        }
        Value::Array(items) if !items.is_empty() => {
            let inline = inline(value);
            if items.iter().any(|item| item.is_object() || item.is_array()) {
                text.push('\n');
                for item in items {
                    list_item(text, indentation + 2, item);
                }
            } else if is_short(&inline) {
                put(text, format_args!(" {inline}\n"));
            } else {
                wrapped(text, indentation, items);
            }
        }
        Value::String(_) => put(text, format_args!(" {}\n", quoted_if(value, |c| "-_./@+()' ;=,:".contains(c)))),
        _ => put(text, format_args!(" {}\n", inline(value))),
    }
}

/// Whether an object is readable on one line: none of its values has objects within.
fn is_flat(value: &Value) -> bool {
    let is_simple = |value: &Value| match value {
        Value::Array(items) => !items.iter().any(|item| item.is_object() || item.is_array()),
        Value::Object(fields) => fields.is_empty(),
        _ => true,
    };
    value.as_object().is_none_or(|fields| fields.values().all(is_simple))
}

fn list_item(text: &mut String, indentation: usize, item: &Value) {
    let margin = " ".repeat(indentation);
    let inline = inline(item);
    let is_short = is_flat(item) && indentation + 2 + inline.len() <= WIDTH;
    match item {
        Value::Object(fields) if !is_short && !fields.is_empty() => {
            for (index, (name, value)) in sorted(fields).into_iter().enumerate() {
                let mut field = String::new();
                entry(&mut field, indentation + 2, name, value);
                if index == 0 {
                    field.replace_range(indentation..=indentation, "-");
                }
                text.push_str(&field);
            }
        }
        _ => put(text, format_args!("{margin}- {inline}\n")),
    }
}

/// A list of scalars on several lines.
fn wrapped(text: &mut String, indentation: usize, items: &[Value]) {
    let margin = " ".repeat(indentation + 2);
    text.push_str(" [\n");
    let mut line = margin.clone();
    for (index, item) in items.iter().enumerate() {
        let end = if index + 1 == items.len() { "" } else { "," };
        let item = format!("{}{end}", scalar(item));
        if line.len() > margin.len() && line.len() + 1 + item.len() > WIDTH {
            put(text, format_args!("{line}\n"));
            line.clone_from(&margin);
        }
        if line.len() > margin.len() {
            line.push(' ');
        }
        line.push_str(&item);
    }
    put(text, format_args!("{line}\n{}]\n", " ".repeat(indentation)));
}

fn inline(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Value::Object(fields) if fields.is_empty() => "{}".to_owned(),
        Value::Object(fields) => {
            let fields: Vec<String> = sorted(fields)
                .into_iter()
                .map(|(name, value)| format!("{}: {}", scalar(&Value::String(name.to_owned())), inline(value)))
                .collect();
            format!("{{ {} }}", fields.join(", "))
        }
        _ => scalar(value),
    }
}

/// A scalar within brackets: plain where it is read back as the same string, otherwise in double quotes.
fn scalar(value: &Value) -> String {
    quoted_if(value, |c| "-_./@+()' ;=:".contains(c))
}

/// A scalar: plain where it has only letters, digits and these characters and is read back as the same string.
fn quoted_if(value: &Value, is_plain: impl Fn(char) -> bool) -> String {
    let Value::String(text) = value else { return value.to_string() };
    let plain = !text.is_empty()
        && text.chars().all(|c| c.is_alphanumeric() || is_plain(c))
        && text.starts_with(|c: char| c.is_alphanumeric() || c == '/' || c == '.')
        && !text.contains(": ")
        && !text.contains("//")
        && !text.ends_with([':', ' '])
        && fitout_go_yaml::from_yaml(text).ok().as_ref() == Some(value);
    if plain { text.clone() } else { value.to_string() }
}

#[cfg(test)]
mod tests {
    use fitout_model::parse_definition;

    use super::*;

    #[test]
    fn definitions_are_written_as_people_write_them() {
        let long: Vec<String> = (0..12).map(|number| format!("resource-number-{number}")).collect();
        let document = json!({ "apiVersion": "fitout.dev/v1alpha1", "kind": "ExtensionDefinition", "spec": {
            "extension": "web", "version": "1.0.0", "summary": "It says: \"hello\"", "appVersion": "1.0",
            "kubernetes": ">=1.33 <1.37", "links": [{ "name": "Source", "url": "https://web.example" }],
            "requirements": { "namespaces": ["web"], "grants": [
                { "apiGroups": [""], "resources": ["pods"], "verbs": ["get"] },
                { "apiGroups": ["a.b"], "resources": long, "verbs": ["get", "list"] },
            ] },
            "helm": { "chart": "web", "values": { "a": { "b": [1, { "c": null }] }, "on": "yes" } },
            "roles": [{ "name": "viewer", "displayName": "Web viewer", "rules": [{ "resources": ["x"], "verbs": ["*"] }] }],
        } });
        let definition = parse_definition(&document).unwrap();
        let text = write_definition(&definition, &["A comment.".to_owned()]);
        let expected = "\
# A comment.
apiVersion: fitout.dev/v1alpha1
kind: ExtensionDefinition
metadata: { name: web-1.0.0 }
spec:
  extension: web
  version: 1.0.0
  appVersion: \"1.0\"
  summary: \"It says: \\\"hello\\\"\"
  links:
    - { name: Source, url: \"https://web.example\" }
  kubernetes: \">=1.33 <1.37\"
  requirements:
    namespaces: [web]
    grants:
      - { apiGroups: [\"\"], resources: [pods], verbs: [get] }
      - apiGroups: [a.b]
        resources: [
          resource-number-0, resource-number-1, resource-number-2, resource-number-3, resource-number-4,
          resource-number-5, resource-number-6, resource-number-7, resource-number-8, resource-number-9,
          resource-number-10, resource-number-11
        ]
        verbs: [get, list]
  helm:
    chart: web
    values:
      a:
        b:
          - 1
          - { c: null }
      \"on\": \"yes\"
  roles:
    - name: viewer
      displayName: Web viewer
      rules:
        - { resources: [x], verbs: [\"*\"] }
";
        assert_eq!(text, expected);
        assert_eq!(parse_definition(&fitout_go_yaml::from_yaml_strict(&text).unwrap()).unwrap(), definition);
    }
}
