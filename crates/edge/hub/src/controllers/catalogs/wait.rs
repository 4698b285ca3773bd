//! The events that a catalog waits for between two syncs.

use std::collections::BTreeSet;
use std::time::Duration;

use fitout_api::{ACCEPT_REVISION, BUILTIN, Catalog, CatalogSource, SYNC_REQUESTED_AT};
use fitout_snapshot::key_of;
use kube::ResourceExt;
use serde_json::{Value, json};

use crate::cache::indexes::Key;
use crate::{Hub, SYSTEM};

/// The interval between two syncs, unless the catalog has one.
const INTERVAL: Duration = Duration::from_mins(10);

/// The first and the longest pause after a failure.
const RETRY: (Duration, Duration) = (Duration::from_secs(2), Duration::from_mins(5));

/// The pause after the first of several changes of a directory, so that they are read together.
pub(super) const SETTLE: Duration = Duration::from_millis(200);

/// A value that differs once a catalog has to be synced at once.
pub(super) fn inputs(hub: &Hub, catalog: &Catalog) -> Value {
    let annotation = |name: &str| catalog.annotations().get(name).cloned();
    let sources: Vec<&CatalogSource> = catalog.spec.source.iter().chain(catalog.spec.sources.values()).collect();
    let urls = sources.iter().filter_map(|source| url(source));
    let namespace = catalog.namespace().unwrap_or_default();
    json!([
        catalog.metadata.uid,
        catalog.metadata.generation,
        annotation(SYNC_REQUESTED_AT),
        annotation(ACCEPT_REVISION),
        catalog.labels().get(BUILTIN),
        keys(hub, catalog),
        urls.map(|url| hub.credentials(&namespace, url).access.fingerprint().to_string()).collect::<Vec<_>>(),
    ])
}

/// The address of a source.
pub(super) fn url(source: &CatalogSource) -> Option<&str> {
    let CatalogSource { archive, helm_repository, git, .. } = source;
    let archive = archive.as_ref().map(|archive| archive.url.as_str());
    let repository = helm_repository.as_ref().map(|repository| repository.url.as_str());
    archive.or(repository).or(git.as_ref().map(|git| git.url.as_str()))
}

/// The sources of a catalog, each with the Kubernetes minor version that it is for; empty for all.
pub(super) fn sources(hub: &Hub, catalog: &Catalog) -> Vec<(String, CatalogSource)> {
    let expand = |(key, source): (String, &CatalogSource)| {
        let source = expanded(source, &key);
        (key, source)
    };
    match &catalog.spec.source {
        Some(source) => match keys(hub, catalog) {
            None => vec![(String::new(), source.clone())],
            Some(keys) => keys.into_iter().map(|key| expand((key, source))).collect(),
        },
        None => catalog.spec.sources.iter().map(|(key, source)| expand((key.clone(), source))).collect(),
    }
}

/// The Kubernetes versions to read the one source of a catalog for; none if it is the same for all.
fn keys(hub: &Hub, catalog: &Catalog) -> Option<Vec<String>> {
    let source = catalog.spec.source.as_ref()?;
    if !serde_json::to_string(source).is_ok_and(|text| text.contains("{kube.")) {
        return None;
    }
    let namespace = catalog.namespace();
    let serves =
        |cluster: &Key| namespace.as_deref() == Some(SYSTEM) || Some(cluster.0.as_str()) == namespace.as_deref();
    let mut clusters = hub.cache.clusters.state();
    clusters.retain(|cluster| serves(&crate::cache::indexes::key(&**cluster)));
    let versions = clusters.iter().filter_map(|cluster| cluster.status.as_ref()?.version.as_deref().map(key_of));
    Some(newest(versions.filter(|key| !key.is_empty()).collect()))
}

/// The Kubernetes versions that one source is read for. As many `sources` can be listed.
const KEYS: usize = 16;

/// The newest of these keys, in their order.
fn newest(keys: BTreeSet<String>) -> Vec<String> {
    let number = |key: &String| key.split('.').filter_map(|part| part.parse().ok()).collect::<Vec<u32>>();
    let mut keys: Vec<String> = keys.into_iter().collect();
    keys.sort_by_key(number);
    keys.split_off(keys.len().saturating_sub(KEYS))
}

/// A source with `{kube.major}` and `{kube.minor}` replaced.
fn expanded(source: &CatalogSource, key: &str) -> CatalogSource {
    let (major, minor) = key.split_once('.').unwrap_or((key, ""));
    let mut value = json!(source);
    replace(&mut value, &|text| text.replace("{kube.major}", major).replace("{kube.minor}", minor));
    // Only texts have changed, so it is a source still.
    serde_json::from_value(value).unwrap_or_else(|_| source.clone())
}

fn replace(value: &mut Value, change: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = change(text),
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, change)),
        Value::Object(fields) => fields.values_mut().for_each(|field| replace(field, change)),
        _ => {}
    }
}

/// The pause before the next sync: the interval with up to a tenth added at random, or a backoff after failures.
pub(super) fn pause(catalog: &Catalog, failures: u32, retry_after: Option<Duration>, random: f64) -> Duration {
    let interval = catalog.spec.interval_seconds.map_or(INTERVAL, |seconds| Duration::from_secs(seconds.into()));
    let pause = match failures {
        0 => interval,
        failures => (RETRY.0 * 2_u32.saturating_pow(failures - 1)).min(RETRY.1).min(interval),
    };
    pause.mul_f64(1.0 + random / 10.0).max(retry_after.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use fitout_api::{CatalogSpec, GitSource};

    use super::*;

    #[test]
    fn kubernetes_versions_are_put_into_all_texts() {
        let git = GitSource {
            url: "https://git.example.com/charts-{kube.major}".to_owned(),
            tag: Some("v{kube.major}.{kube.minor}".to_owned()),
            ..GitSource::default()
        };
        let source = CatalogSource { git: Some(git), ..CatalogSource::default() };
        let git = expanded(&source, "1.36").git.unwrap();
        assert_eq!((git.url.as_str(), git.tag.as_deref()), ("https://git.example.com/charts-1", Some("v1.36")));
    }

    #[test]
    fn a_source_is_read_for_the_newest_kubernetes_versions() {
        let keys = (1..=18).rev().map(|minor| format!("1.{minor}")).collect();
        let newest = newest(keys);
        assert_eq!((newest.len(), newest[0].as_str(), newest[15].as_str()), (16, "1.3", "1.18"));
    }

    #[test]
    fn failures_are_retried_sooner_and_no_sooner_than_the_server_allows() {
        let catalog = |seconds| Catalog::new("x", CatalogSpec { interval_seconds: seconds, ..CatalogSpec::default() });
        let seconds = |catalog: &Catalog, failures, after: Option<u64>, random| {
            pause(catalog, failures, after.map(Duration::from_secs), random).as_secs_f64()
        };
        let rows = [
            (None, 0, None, 0.0, 600.0),
            (Some(100), 0, None, 1.0, 110.0),
            (None, 1, None, 0.0, 2.0),
            (None, 3, None, 0.0, 8.0),
            (None, 40, None, 0.0, 300.0),
            (Some(5), 40, None, 0.0, 5.0),
            (None, 1, Some(60), 0.0, 60.0),
        ];
        for (interval, failures, after, random, expected) in rows {
            let found = seconds(&catalog(interval), failures, after, random);
            assert!((found - expected).abs() < 0.01, "{interval:?} {failures} {found}");
        }
    }
}
