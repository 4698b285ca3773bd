//! The definition of an extension from a version of a chart.

use std::collections::{BTreeMap, BTreeSet};

use fitout_helm_ranges::{Range, Version};
use fitout_model::{Definition, Digest, Problem, parse_definition};
use serde_json::{Map, Value, json};

use super::ChartVersion;
use super::annotations::{changes, from_artifact_hub, from_fitout};

/// Where a chart is published.
#[derive(Clone, Copy, Debug)]
pub struct ChartLocation<'a> {
    /// The address of the repository: `https://…` or `oci://…`.
    pub repository: &'a str,
    /// The name of the chart in it.
    pub chart: &'a str,
}

/// The definition of an extension, made from a version of a chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartDefinition {
    /// The `ExtensionDefinition`.
    pub document: Value,
    /// The same, parsed.
    pub definition: Definition,
    /// Whether the version of the chart is deprecated.
    pub deprecated: bool,
    /// The changes of the version in Markdown, which the definition expects in [`CHANGELOG`].
    pub changes: Option<String>,
    /// The digest of what the publisher has published.
    pub published: Digest,
}

/// The file with the changes of a version.
pub const CHANGELOG: &str = "CHANGELOG.md";

/// Makes a definition from each version of a chart, in the same order.
///
/// A version has no definition if it cannot be installed as it is meant: because its name, version, `kubeVersion` or digest
/// is invalid, or an annotation below `fitout.dev/` is unknown or invalid. An invalid field that only describes it, such as
/// an annotation of Artifact Hub, is left out. Both are a problem, which names the first of the versions that have it.
///
/// Of versions that are equal but for build metadata or their way of writing, only the first has a definition; the others
/// are a problem. Library charts have neither a definition nor a problem.
pub fn chart_definitions(
    versions: &[ChartVersion],
    location: &ChartLocation<'_>,
) -> (Vec<ChartDefinition>, Vec<Problem>) {
    let (mut definitions, mut found) = (Vec::new(), Vec::new());
    let mut seen: BTreeSet<Version> = BTreeSet::new();
    for version in versions.iter().filter(|version| !version.library) {
        let mut problems = Vec::new();
        if let Ok(parsed) = Version::parse(&version.version) {
            match seen.get(&parsed) {
                Some(other) => problems.push(duplicate(other, &parsed)),
                None => drop(seen.insert(parsed)),
            }
        }
        if problems.is_empty() {
            definitions.extend(chart_definition(version, location, &mut problems));
        }
        found.extend(problems.into_iter().map(|problem| (version, problem)));
    }
    (definitions, summarized(found))
}

/// The extension that a chart becomes: the last segment of its name.
pub fn extension_of(chart: &str) -> &str {
    chart.rsplit('/').next().unwrap_or(chart)
}

/// The charts among these that another one leaves no name, each with the problem. Of charts that become the same extension,
/// the first by name counts.
pub fn clashing_charts<'a>(charts: impl IntoIterator<Item = &'a str>) -> BTreeMap<String, Problem> {
    let mut first: BTreeMap<&str, &str> = BTreeMap::new();
    let mut clashing = BTreeMap::new();
    let charts: BTreeSet<&str> = charts.into_iter().collect();
    for chart in charts {
        let extension = extension_of(chart);
        match first.get(extension) {
            None => drop(first.insert(extension, chart)),
            Some(other) => {
                let message = format!("it is the extension {extension}, as {other} is, which counts");
                clashing
                    .insert(chart.to_owned(), problem(chart, message, "choose with charts: which of them to offer"));
            }
        }
    }
    clashing
}

fn duplicate(other: &Version, version: &Version) -> Problem {
    let (first, second) = (other.original(), version.original());
    let message = if first == second {
        "it is listed twice, and the first one counts".to_owned()
    } else if other.metadata() == version.metadata() {
        format!("it is the same version as {first}, which counts")
    } else {
        format!("it differs from {first}, which counts, in nothing but build metadata")
    };
    problem("version", message, "publish it with another version")
}

/// The problems with their versions; one that several versions have is listed once.
fn summarized(found: Vec<(&ChartVersion, Problem)>) -> Vec<Problem> {
    let mut all: Vec<(String, Problem, usize)> = Vec::new();
    for (version, problem) in found {
        match all.iter_mut().find(|(_, other, _)| *other == problem) {
            Some((_, _, more)) => *more += 1,
            None => all.push((format!("{} {}", version.name, version.version), problem, 0)),
        }
    }
    all.into_iter()
        .map(|(version, problem, more)| Problem {
            field: match (problem.field.as_str(), more) {
                (field, 0) => format!("{version}: {field}"),
                (field, more) => format!("{version} and {more} more: {field}"),
            },
            ..problem
        })
        .collect()
}

pub(super) fn problem(field: &str, message: impl Into<String>, hint: &str) -> Problem {
    Problem { field: field.to_owned(), message: message.into(), hint: Some(hint.to_owned()) }
}

/// The definition of one version; none if a problem forbids it. Problems name the field of the chart.
pub fn chart_definition(
    version: &ChartVersion,
    location: &ChartLocation<'_>,
    problems: &mut Vec<Problem>,
) -> Option<ChartDefinition> {
    let changes = changes(version, problems);
    match document(version, location, changes.is_some(), problems) {
        Ok(document) => match parse_definition(&document) {
            Ok(definition) => {
                let (deprecated, published) = (version.deprecated, version.published());
                return Some(ChartDefinition { document, definition, deprecated, changes, published });
            }
            Err(problem) => problems.push(of_chart(problem)),
        },
        Err(problem) => problems.push(problem),
    }
    None
}

/// A problem of the definition as one of the chart, whose name becomes that of the extension.
fn of_chart(problem: Problem) -> Problem {
    if problem.field == "spec.extension" { Problem { field: "name".to_owned(), ..problem } } else { problem }
}

/// The document of a version. Adds what is left out of it to the problems.
fn document(
    version: &ChartVersion,
    location: &ChartLocation<'_>,
    has_changes: bool,
    problems: &mut Vec<Problem>,
) -> Result<Value, Problem> {
    let expected = extension_of(location.chart);
    if version.name != expected {
        let message = format!("the repository lists it as {expected}");
        return Err(problem("name", message, "publish it under its own name"));
    }
    let number = semantic_version(&version.version)?;
    let mut spec = Map::new();
    let mut helm = Map::new();
    helm.insert("chart".to_owned(), json!(location.chart));
    helm.insert("version".to_owned(), json!(version.version));
    helm.insert("repository".to_owned(), json!(location.repository));
    if let Some(text) = &version.digest {
        helm.insert("digest".to_owned(), json!(digest(text)?));
    }
    let mut set = |field: &str, value: Option<Value>| value.map(|value| spec.insert(field.to_owned(), value));
    set("extension", Some(json!(version.name)));
    set("version", Some(json!(number.to_string())));
    set("helm", Some(Value::Object(helm)));
    set("changelog", has_changes.then(|| json!(CHANGELOG)));
    set("kubernetes", kubernetes(version)?);
    set("appVersion", short("appVersion", version.app_version.as_deref(), problems));
    set("summary", version.description.as_deref().map(summary).filter(|text| !text.is_empty()).map(Value::from));
    set("publisher", short("maintainers", version.maintainers.first().map(String::as_str), problems));
    from_artifact_hub(version, &mut spec, problems);
    let mut spec = Value::Object(spec);
    from_fitout(version, &mut spec)?;
    let name = format!("{}-{}", version.name, number).replace('+', "-").to_lowercase();
    Ok(json!({
        "apiVersion": "fitout.dev/v1alpha1",
        "kind": "ExtensionDefinition",
        "metadata": { "name": name },
        "spec": spec,
    }))
}

/// The version without a leading `v`, and with the numbers that Helm lets be missing.
fn semantic_version(text: &str) -> Result<semver::Version, Problem> {
    let hint = "publish it with a version as in Semantic Versioning, such as 1.2.3";
    let parsed = Version::parse(text).map_err(|error| problem("version", error.to_string(), hint))?;
    semver::Version::parse(&parsed.to_string()).map_err(|error| problem("version", error.to_string(), hint))
}

fn digest(text: &str) -> Result<String, Problem> {
    let digits = text.strip_prefix("sha256:").unwrap_or(text).to_ascii_lowercase();
    if digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(format!("sha256:{digits}"));
    }
    Err(problem("digest", format!("{text:?} is not a SHA-256"), "create the index again"))
}

/// Helm installs a chart with an invalid range nowhere.
fn kubernetes(version: &ChartVersion) -> Result<Option<Value>, Problem> {
    let Some(text) = version.kube_version.as_deref().map(str::trim).filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let hint = "write a range such as '>=1.33.0-0 <1.37.0-0'";
    match Range::parse(text) {
        Ok(_) => Ok(Some(json!(text))),
        Err(error) => Err(problem("kubeVersion", format!("{text:?} is not a range of versions: {error}"), hint)),
    }
}

/// A text of at most 128 characters; a longer one is a problem.
pub(super) fn short(field: &str, text: Option<&str>, problems: &mut Vec<Problem>) -> Option<Value> {
    let text = text.map(str::trim).filter(|text| !text.is_empty())?;
    let length = text.chars().count();
    if length > 128 {
        let message = format!("it has {length} characters, and 128 is the limit; it is left out");
        problems.push(problem(field, message, "shorten it"));
        return None;
    }
    Some(json!(text))
}

/// A description as one line of at most 512 characters, cut at a word.
fn summary(text: &str) -> String {
    const LIMIT: usize = 512;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LIMIT {
        return line;
    }
    let cut: String = line.chars().take(LIMIT - 1).collect();
    let end = cut.rfind(' ').unwrap_or(cut.len());
    format!("{}…", cut[..end].trim_end_matches([',', ';', ':']))
}
