//! The config and the annotations of a pushed chart, as `helm push` writes them.

use std::collections::BTreeMap;
use std::io;

use fitout_go_template::Value;
use fitout_helm_chart::{Chart, Dependency, Import, Maintainer, Metadata};
use serde::Serialize;
use serde_json::Value as Json;
use serde_json::ser::{CompactFormatter, Formatter, Serializer};

/// A chart to push.
pub(crate) struct ChartConfig {
    pub(crate) name: String,
    pub(crate) version: String,
    /// `Chart.yaml` as JSON.
    pub(crate) config: Vec<u8>,
    /// The annotations of the manifest.
    pub(crate) annotations: BTreeMap<String, String>,
}

impl ChartConfig {
    /// Reads an archive; the error is in the words of Helm.
    pub(crate) fn read(archive: &[u8], created: &str) -> Result<Self, String> {
        let chart = Chart::from_archive(archive, &mut Vec::new()).map_err(|error| error.to_string())?;
        let metadata = &chart.metadata;
        Ok(Self {
            name: metadata.name.clone(),
            version: metadata.version.clone(),
            config: go_json(&Fields::of(metadata))?,
            annotations: annotations(metadata, created),
        })
    }
}

/// The fields of `Chart.yaml` in Helm's order.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Fields<'c> {
    #[serde(skip_serializing_if = "str::is_empty")]
    name: &'c str,
    #[serde(skip_serializing_if = "str::is_empty")]
    home: &'c str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    sources: &'c [String],
    #[serde(skip_serializing_if = "str::is_empty")]
    version: &'c str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'c str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    keywords: &'c [String],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    maintainers: Vec<MaintainerFields<'c>>,
    #[serde(skip_serializing_if = "str::is_empty")]
    icon: &'c str,
    #[serde(skip_serializing_if = "str::is_empty")]
    api_version: &'c str,
    #[serde(skip_serializing_if = "str::is_empty")]
    condition: &'c str,
    #[serde(skip_serializing_if = "str::is_empty")]
    tags: &'c str,
    #[serde(skip_serializing_if = "str::is_empty")]
    app_version: &'c str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    deprecated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    annotations: Option<&'c BTreeMap<String, String>>,
    #[serde(skip_serializing_if = "str::is_empty")]
    kube_version: &'c str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    dependencies: Vec<DependencyFields<'c>>,
    #[serde(rename = "type", skip_serializing_if = "str::is_empty")]
    kind: &'c str,
}

#[derive(Serialize)]
struct MaintainerFields<'c> {
    #[serde(skip_serializing_if = "str::is_empty")]
    name: &'c str,
    #[serde(skip_serializing_if = "str::is_empty")]
    email: &'c str,
    #[serde(skip_serializing_if = "str::is_empty")]
    url: &'c str,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct DependencyFields<'c> {
    name: &'c str,
    #[serde(skip_serializing_if = "str::is_empty")]
    version: &'c str,
    repository: &'c str,
    #[serde(skip_serializing_if = "str::is_empty")]
    condition: &'c str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    tags: &'c [String],
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    enabled: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    import_values: Vec<Json>,
    #[serde(skip_serializing_if = "str::is_empty")]
    alias: &'c str,
}

impl<'c> Fields<'c> {
    fn of(metadata: &'c Metadata) -> Self {
        Self {
            name: &metadata.name,
            home: &metadata.home,
            sources: &metadata.sources,
            version: &metadata.version,
            description: &metadata.description,
            keywords: &metadata.keywords,
            maintainers: metadata.maintainers.iter().map(MaintainerFields::of).collect(),
            icon: &metadata.icon,
            api_version: &metadata.api_version,
            condition: &metadata.condition,
            tags: &metadata.tags,
            app_version: &metadata.app_version,
            deprecated: metadata.deprecated,
            annotations: metadata.annotations.as_ref().filter(|annotations| !annotations.is_empty()),
            kube_version: &metadata.kube_version,
            dependencies: metadata.dependencies.iter().flatten().map(DependencyFields::of).collect(),
            kind: &metadata.kind,
        }
    }
}

impl<'c> MaintainerFields<'c> {
    fn of(Maintainer { name, email, url }: &'c Maintainer) -> Self {
        Self { name, email, url }
    }
}

impl<'c> DependencyFields<'c> {
    fn of(dependency: &'c Dependency) -> Self {
        Self {
            name: &dependency.name,
            version: &dependency.version,
            repository: &dependency.repository,
            condition: &dependency.condition,
            tags: &dependency.tags,
            enabled: dependency.enabled,
            import_values: dependency.import_values.iter().map(import).collect(),
            alias: &dependency.alias,
        }
    }
}

fn import(import: &Import) -> Json {
    match import {
        Import::Written(value) => to_json(value),
        Import::Processed { child, parent } => serde_json::json!({ "child": child, "parent": parent }),
    }
}

fn to_json(value: &Value) -> Json {
    match value {
        Value::Bool(value) => (*value).into(),
        Value::Int(_, number) => (*number).into(),
        Value::Uint(_, number) => (*number).into(),
        Value::Float(_, number) => (*number).into(),
        Value::String(text) => text.to_str().into(),
        Value::List(list) => list.items().iter().map(to_json).collect(),
        Value::Map(map) => {
            let fields = map.entries().into_iter().filter_map(|(key, value)| match key {
                Value::String(key) => Some((key.to_str().into_owned(), to_json(&value))),
                _ => None,
            });
            Json::Object(fields.collect())
        }
        _ => Json::Null,
    }
}

/// The annotations of the manifest: those of the chart, and what OCI has names for.
fn annotations(metadata: &Metadata, created: &str) -> BTreeMap<String, String> {
    const PREFIX: &str = "org.opencontainers.image.";
    let maintainers = metadata.maintainers.iter().map(|Maintainer { name, email, .. }| match email.as_str() {
        "" => name.clone(),
        email => format!("{name} ({email})"),
    });
    let authors = maintainers.collect::<Vec<_>>().join(", ");
    let source = metadata.sources.first().map_or("", String::as_str);
    let own = [
        ("description", metadata.description.as_str()),
        ("title", &metadata.name),
        ("version", &metadata.version),
        ("url", &metadata.home),
        ("created", created),
        ("source", source),
        ("authors", &authors),
    ];
    let own = own.into_iter().filter(|(_, value)| !value.trim().is_empty());
    let mut all: BTreeMap<_, _> = own.map(|(key, value)| (format!("{PREFIX}{key}"), value.to_owned())).collect();
    let is_fixed = |key: &str| key.strip_prefix(PREFIX).is_some_and(|name| matches!(name, "version" | "title"));
    let charts = metadata.annotations.iter().flatten().filter(|(key, _)| !is_fixed(key));
    all.extend(charts.map(|(key, value)| (key.clone(), value.clone())));
    all
}

/// Writes JSON as Go does, which escapes the characters of HTML.
pub(crate) fn go_json(value: &impl Serialize) -> Result<Vec<u8>, String> {
    let mut text = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut text, GoFormatter)).map_err(|error| error.to_string())?;
    Ok(text)
}

struct GoFormatter;

impl Formatter for GoFormatter {
    fn write_string_fragment<W: io::Write + ?Sized>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(['<', '>', '&', '\u{2028}', '\u{2029}']) {
            let (plain, escaped) = rest.split_at(at);
            let mut characters = escaped.chars();
            let code = characters.next().map_or(0, u32::from);
            CompactFormatter.write_string_fragment(writer, plain)?;
            write!(writer, "\\u{code:04x}")?;
            rest = characters.as_str();
        }
        CompactFormatter.write_string_fragment(writer, rest)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]
    use super::*;

    #[test]
    fn json_is_escaped_as_in_go() {
        let text = "a<b>&c\u{2028}\"\\\n\u{1}\u{7f}é";
        let written = String::from_utf8(go_json(&text).unwrap()).unwrap();
        assert_eq!(written, "\"a\\u003cb\\u003e\\u0026c\\u2028\\\"\\\\\\n\\u0001\u{7f}é\"");
    }
}
