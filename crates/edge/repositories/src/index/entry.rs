//! An entry of an index: a version of a chart.

use std::collections::BTreeMap;

use fitout_helm_ranges::Version;
use fitout_model::Problem;
use fitout_snapshot::ChartVersion;
use serde_json::{Map, Value};

/// The prefixes of the annotations that are kept.
const ANNOTATIONS: [&str; 2] = ["fitout.dev/", "artifacthub.io/"];

/// A version of a chart in an index, with the URLs of its archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Release {
    pub(crate) version: String,
    pub(crate) urls: Vec<String>,
    /// The digest as in the index, usually without `sha256:`.
    pub(crate) digest: Option<String>,
}

impl Release {
    /// Reads an entry; none for one that Helm skips.
    pub(crate) fn read(entry: &Value) -> Option<Self> {
        let (_, version) = identity(entry).ok()?;
        let urls = entry.get("urls").and_then(Value::as_array).into_iter().flatten();
        Some(Self { version, urls: urls.filter_map(text).collect(), digest: digest(entry.get("digest")) })
    }
}

/// Reads an entry of an index, or the `Chart.yaml` of a chart. The problem is one for which Helm skips an entry.
pub fn chart_version(entry: Value) -> Result<ChartVersion, Problem> {
    let (name, version) = identity(&entry)?;
    let Value::Object(mut fields) = entry else { return Err(missing("name")) };
    let maintainers = list(fields.remove("maintainers")).filter_map(|maintainer| maintainer.get("name").and_then(text));
    let maintainers = maintainers.collect();
    let keywords = list(fields.remove("keywords")).filter_map(|keyword| text(&keyword)).collect();
    let annotations = match fields.remove("annotations") {
        Some(Value::Object(all)) => kept(all).collect(),
        _ => BTreeMap::new(),
    };
    let mut take = |key: &str| match fields.remove(key) {
        Some(Value::String(text)) => Some(text).filter(|text| !text.is_empty()),
        _ => None,
    };
    Ok(ChartVersion {
        app_version: take("appVersion"),
        kube_version: take("kubeVersion"),
        description: take("description"),
        home: take("home"),
        icon: take("icon"),
        library: take("type").is_some_and(|kind| kind == "library"),
        deprecated: fields.get("deprecated").and_then(Value::as_bool).unwrap_or_default(),
        digest: digest(fields.get("digest")),
        name,
        version,
        keywords,
        maintainers,
        annotations,
    })
}

/// The name and the version of an entry. Helm skips one without a name, with an invalid version, of an unknown type, with
/// an empty maintainer, or with a dependency that is empty or has an invalid alias.
fn identity(entry: &Value) -> Result<(String, String), Problem> {
    let get = |key: &str| entry.get(key).and_then(text).ok_or_else(|| missing(key));
    let (name, version) = (get("name")?, get("version")?);
    if matches!(&*name, "." | "..") || name.contains('/') {
        return Err(problem("name", format!("{name:?} cannot be the name of a chart"), "write a name without '/'"));
    }
    if let Err(error) = Version::parse(&version) {
        return Err(problem("version", format!("{version:?} is not a version: {error}"), "write one such as 1.2.3"));
    }
    if let Some(kind) = entry.get("type").and_then(text).filter(|kind| !matches!(&**kind, "application" | "library")) {
        let message = format!("{kind:?} is no type of chart");
        return Err(problem("type", message, "write application or library, or leave it out"));
    }
    let all = |key: &str| entry.get(key).and_then(Value::as_array).into_iter().flatten().enumerate();
    let empty = |field: String| problem(&field, "it is empty".to_owned(), "remove it");
    if let Some((index, _)) = all("maintainers").find(|(_, maintainer)| maintainer.is_null()) {
        return Err(empty(format!("maintainers[{index}]")));
    }
    for (index, dependency) in all("dependencies") {
        if dependency.is_null() {
            return Err(empty(format!("dependencies[{index}]")));
        }
        if let Some(alias) = dependency.get("alias").and_then(text).filter(|alias| !is_alias(alias)) {
            let message = format!("{alias:?} has other characters than letters, digits, '_' and '-'");
            return Err(problem(&format!("dependencies[{index}].alias"), message, "correct it"));
        }
    }
    Ok((name, version))
}

fn missing(field: &str) -> Problem {
    problem(field, "it is missing".to_owned(), "add it")
}

fn problem(field: &str, message: String, hint: &str) -> Problem {
    Problem { field: field.to_owned(), message, hint: Some(hint.to_owned()) }
}

fn is_alias(alias: &str) -> bool {
    alias.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// A text; none for an empty one, or for anything else, for which Helm refuses the whole index.
fn text(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// A digest. One that is not a text is kept as an invalid one, because no digest would mean that there is nothing to verify.
fn digest(value: Option<&Value>) -> Option<String> {
    let value = value.filter(|value| !value.is_null() && *value != "")?;
    Some(text(value).unwrap_or_else(|| value.to_string()))
}

fn list(value: Option<Value>) -> impl Iterator<Item = Value> {
    match value {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    }
    .into_iter()
}

fn kept(annotations: Map<String, Value>) -> impl Iterator<Item = (String, String)> {
    let is_kept = |key: &str| ANNOTATIONS.iter().any(|prefix| key.starts_with(prefix));
    annotations.into_iter().filter(move |(key, _)| is_kept(key)).filter_map(|(key, value)| match value {
        Value::String(text) => Some((key, text)),
        _ => None,
    })
}
