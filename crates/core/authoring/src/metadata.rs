//! The descriptive fields of a definition, from `Chart.yaml`.

use fitout_helm_chart::Metadata;
use fitout_model::{Definition, Link};
use serde_json::Value;

/// The annotations of Artifact Hub.
const ANNOTATIONS: &str = "artifacthub.io/";

/// Fills in the descriptive fields. Where `Chart.yaml` says nothing, they stay empty.
pub(crate) fn describe(definition: &mut Definition, metadata: &Metadata) {
    let text = |text: &str, limit: usize| {
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let line: String = line.chars().take(limit).collect();
        (!line.is_empty()).then_some(line)
    };
    let annotation = |name: &str| {
        let annotations = metadata.annotations.as_ref()?;
        annotations.get(&format!("{ANNOTATIONS}{name}")).map(String::as_str)
    };
    definition.app_version = text(&metadata.app_version, 128);
    definition.display_name = text(annotation("alternativeName").unwrap_or(&metadata.name), 128);
    definition.summary = text(metadata.description.trim_end_matches('.'), 512);
    definition.publisher = metadata.maintainers.first().and_then(|maintainer| text(&maintainer.name, 128));
    definition.license = annotation("license").and_then(|license| text(license, 128));
    definition.links = links(metadata, annotation("links"));
    let category = annotation("category").and_then(|category| text(category, 64));
    let keywords = || metadata.keywords.iter().filter_map(|keyword| text(keyword, 64)).take(MOST_KEYWORDS).collect();
    definition.categories = category.map_or_else(keywords, |category| vec![category]);
}

/// The keywords that stand in for categories.
const MOST_KEYWORDS: usize = 8;

/// The most links, and the most characters of a URL, that a definition may have.
const MOST_LINKS: usize = 32;
const LONGEST_URL: usize = 1024;

fn links(metadata: &Metadata, annotated: Option<&str>) -> Vec<Link> {
    let mut links: Vec<Link> = Vec::new();
    let mut add = |name: &str, url: &str| {
        let is_url = url.starts_with("https://") || url.starts_with("http://");
        if is_url && url.len() <= LONGEST_URL && !name.is_empty() && !links.iter().any(|link| link.url == url) {
            links.push(Link { name: name.chars().take(128).collect(), url: url.to_owned() });
        }
    };
    add("Home page", &metadata.home);
    let listed = annotated.and_then(|text| fitout_go_yaml::from_yaml(text).ok()).unwrap_or_default();
    for link in listed.as_array().into_iter().flatten() {
        let field = |name: &str| link[name].as_str().unwrap_or_default();
        add(field("name"), field("url"));
    }
    for source in &metadata.sources {
        add("Source", source);
    }
    links.truncate(MOST_LINKS);
    links
}

/// The version of a chart as Semantic Versioning has it: charts may leave out numbers, or begin with a `v`.
pub(crate) fn version(text: &str) -> Option<semver::Version> {
    let text = text.trim_start_matches('v');
    let (numbers, rest) = text.split_at(text.find(['-', '+']).unwrap_or(text.len()));
    let missing = 2_usize.checked_sub(numbers.matches('.').count())?;
    semver::Version::parse(&format!("{numbers}{}{rest}", ".0".repeat(missing))).ok()
}

/// The name of an extension from the name of a chart: a DNS label.
pub(crate) fn extension_name(chart: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = chart.chars().map(plain).take(63).collect();
    name.trim_matches('-').to_owned()
}

/// A JSON value as the values of a definition; none where it is no object or empty.
pub(crate) fn values(given: &Value) -> Option<serde_json::Map<String, Value>> {
    given.as_object().filter(|values| !values.is_empty()).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_charts_become_semantic_versions() {
        let rows = [("v1.2.3", "1.2.3"), ("1.2", "1.2.0"), ("2", "2.0.0"), ("1.0-rc.1+b", "1.0.0-rc.1+b")];
        for (text, expected) in rows {
            assert_eq!(version(text).unwrap().to_string(), expected);
        }
        assert_eq!(version("latest"), None);
    }

    #[test]
    fn names_of_charts_become_labels() {
        assert_eq!(extension_name("Cert_Manager.io"), "cert-manager-io");
    }
}
