//! Fields of a definition from the annotations of a chart.

use fitout_model::{Problem, coalesce, nearest};
use serde_json::{Map, Value, json};

use super::ChartVersion;
use super::definition::{problem, short};

/// The prefix of the annotations for us.
const PREFIX: &str = "fitout.dev/";

/// The annotations for us. Each but the first sets one field.
const KNOWN: [&str; 7] = [
    "fitout.dev/definition",
    "fitout.dev/dependencies",
    "fitout.dev/display-name",
    "fitout.dev/kubernetes",
    "fitout.dev/provides",
    "fitout.dev/singleton",
    "fitout.dev/upgrade-from",
];

/// The fields that the chart itself decides.
const DECIDED: [&str; 5] = ["extension", "version", "manifests", "olm", "runtime"];

/// Sets the fields that Artifact Hub has annotations for. One that is invalid is left out.
pub(super) fn from_artifact_hub(version: &ChartVersion, spec: &mut Map<String, Value>, problems: &mut Vec<Problem>) {
    let get = |key: &str| version.annotations.get(key).map(String::as_str);
    for (key, field) in [("artifacthub.io/alternativeName", "displayName"), ("artifacthub.io/license", "license")] {
        if let Some(text) = short(&annotation(key), get(key), problems) {
            spec.insert(field.to_owned(), text);
        }
    }
    let category =
        get("artifacthub.io/category").map(str::trim).filter(|text| (1..=64).contains(&text.chars().count()));
    if let Some(category) = category {
        spec.insert("categories".to_owned(), json!([category]));
    }
    let mut links: Vec<Value> = Vec::new();
    links.extend(
        version.home.as_deref().filter(|url| is_url(url)).map(|url| json!({ "name": "Home page", "url": url })),
    );
    links.extend(list("artifacthub.io/links", get("artifacthub.io/links"), link, problems));
    links.truncate(32);
    if !links.is_empty() {
        spec.insert("links".to_owned(), Value::Array(links));
    }
    let images = list("artifacthub.io/images", get("artifacthub.io/images"), image, problems);
    // The field states all images: a list with an image that is not pinned is not one.
    if !images.is_empty() && images.len() <= 256 && images.iter().all(is_pinned) {
        spec.insert("images".to_owned(), Value::Array(images));
    }
}

/// The changes of a version as a list in Markdown; none without the annotation, or if it is invalid.
pub(super) fn changes(version: &ChartVersion, problems: &mut Vec<Problem>) -> Option<String> {
    const KEY: &str = "artifacthub.io/changes";
    let entries = list(KEY, version.annotations.get(KEY).map(String::as_str), change, problems);
    let lines: Vec<&str> = entries.iter().filter_map(Value::as_str).collect();
    (!lines.is_empty()).then(|| format!("{}\n", lines.join("\n")))
}

/// The line of a change: a text, or a kind with a description.
fn change(entry: &Value) -> Option<Value> {
    let text = entry.as_str().or_else(|| entry["description"].as_str())?;
    let kind = entry["kind"].as_str().map_or_else(String::new, |kind| format!("{kind}: "));
    Some(json!(format!("- {kind}{}", text.split_whitespace().collect::<Vec<_>>().join(" "))))
}

/// The entries of a list in YAML; none if one of them is invalid, which is a problem.
fn list(
    key: &str,
    text: Option<&str>,
    entry: impl Fn(&Value) -> Option<Value>,
    problems: &mut Vec<Problem>,
) -> Vec<Value> {
    let Some(text) = text else { return Vec::new() };
    let entries = match fitout_go_yaml::from_yaml(text) {
        Ok(Value::Array(entries)) => entries.iter().map(entry).collect::<Option<Vec<_>>>(),
        Ok(Value::Null) => Some(Vec::new()),
        _ => None,
    };
    entries.unwrap_or_else(|| {
        let message = "it is not the list that Artifact Hub describes; it is left out";
        problems.push(problem(&annotation(key), message, "correct it"));
        Vec::new()
    })
}

fn link(entry: &Value) -> Option<Value> {
    let name = entry["name"].as_str().filter(|name| (1..=128).contains(&name.chars().count()))?;
    let url = entry["url"].as_str().filter(|url| is_url(url))?;
    Some(json!({ "name": name, "url": url }))
}

fn is_url(text: &str) -> bool {
    (text.starts_with("https://") || text.starts_with("http://")) && text.len() <= 1024
}

fn image(entry: &Value) -> Option<Value> {
    entry["image"].as_str().map(|image| json!(image.trim()))
}

fn is_pinned(image: &Value) -> bool {
    let Some((name, digits)) = image.as_str().and_then(|image| image.split_once("@sha256:")) else { return false };
    let is_digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    !name.is_empty() && !name.contains([' ', '@']) && digits.len() == 64 && digits.bytes().all(is_digit)
}

/// Merges the annotations below `fitout.dev/` over a definition: first `fitout.dev/definition`, then those for one field.
/// They are strict, as a definition is.
pub(super) fn from_fitout(version: &ChartVersion, spec: &mut Value) -> Result<(), Problem> {
    let unknown = version.annotations.keys().find(|key| key.starts_with(PREFIX) && !KNOWN.contains(&key.as_str()));
    if let Some(key) = unknown {
        let names = KNOWN.iter().filter_map(|known| known.strip_prefix(PREFIX));
        let hint = match nearest(key.trim_start_matches(PREFIX), names) {
            Some(meant) => format!("did you mean `{PREFIX}{meant}`?"),
            None => "remove it".to_owned(),
        };
        return Err(problem(&annotation(key), "unknown annotation", &hint));
    }
    for key in KNOWN {
        if let Some(text) = version.annotations.get(key) {
            coalesce(spec, &fields(key, text.trim())?);
        }
    }
    Ok(())
}

/// The fields that an annotation sets.
fn fields(key: &str, text: &str) -> Result<Value, Problem> {
    let invalid = |message: String, hint: &str| problem(&annotation(key), message, hint);
    let yaml = || {
        fitout_go_yaml::from_yaml_strict(text)
            .map_err(|error| invalid(error.to_string().replace("\n  ", " "), "correct it"))
    };
    match key {
        "fitout.dev/definition" => {
            let fields = yaml()?;
            decided_by_chart(&fields).map_or(Ok(fields), |(message, hint)| Err(invalid(message, hint)))
        }
        "fitout.dev/dependencies" => {
            let entries = match yaml()? {
                Value::Array(entries) => entries,
                one => vec![one],
            };
            Ok(json!({ "dependencies": entries.iter().map(dependency).collect::<Vec<_>>() }))
        }
        "fitout.dev/provides" => Ok(match yaml()? {
            list @ Value::Array(_) => json!({ "provides": list }),
            _ => json!({ "provides": text.split(',').map(str::trim).collect::<Vec<_>>() }),
        }),
        "fitout.dev/singleton" => match text {
            "true" => Ok(json!({ "singleton": true })),
            "false" => Ok(json!({ "singleton": false })),
            _ => Err(invalid(format!("{text:?} is neither true nor false"), "correct it")),
        },
        "fitout.dev/kubernetes" => Ok(json!({ "kubernetes": text })),
        "fitout.dev/upgrade-from" => Ok(json!({ "upgradeFrom": text })),
        _ => Ok(json!({ "displayName": text })),
    }
}

/// The reason why fields may not be in an annotation, and what to do.
fn decided_by_chart(fields: &Value) -> Option<(String, &'static str)> {
    let Some(fields) = fields.as_object() else {
        return Some(("it is not a mapping of fields".to_owned(), "write fields of the definition's spec"));
    };
    if let Some(field) = DECIDED.iter().find(|field| fields.contains_key(**field)) {
        return Some((format!("the chart decides the field {field}"), "remove it"));
    }
    let helm = fields.get("helm")?;
    let field = helm
        .as_object()
        .map_or(Some("helm"), |helm| helm.keys().map(String::as_str).find(|field| *field != "values"))?;
    let field = if field == "helm" { field.to_owned() } else { format!("helm.{field}") };
    Some((format!("the chart decides the field {field}"), "remove it; only helm.values can be set"))
}

/// A dependency: an object, or a name with an optional range after it.
fn dependency(entry: &Value) -> Value {
    match entry.as_str().map(|text| text.split_once(' ').map_or((text, ""), |(name, range)| (name, range.trim()))) {
        Some((name, "")) => json!({ "name": name }),
        Some((name, range)) => json!({ "name": name, "version": range }),
        None => entry.clone(),
    }
}

fn annotation(key: &str) -> String {
    format!("annotations[{key}]")
}
