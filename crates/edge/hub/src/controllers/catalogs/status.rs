//! The status of a catalog.

use fitout_api::conditions::{self, ConditionStatus, ConditionUpdate};
use fitout_api::{Catalog, CatalogStatus, SourceStatus, reasons};
use fitout_snapshot::Snapshot;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use super::error::SourceError;

/// The problems that a status lists.
const PROBLEMS: usize = 20;

/// The length of a problem in characters.
const PROBLEM: usize = 1000;

/// The result of a sync.
pub(super) struct Synced<'a> {
    /// All that the catalog offers now.
    pub(super) snapshot: &'a Snapshot,
    /// The digest of the snapshot.
    pub(super) digest: Option<String>,
    /// The sources that could not be read, by key.
    pub(super) errors: &'a [(String, SourceError)],
    /// The keys of all sources.
    pub(super) keys: &'a [String],
    /// The Extensions that could not be written, each with the reason.
    pub(super) unwritten: &'a [String],
    /// The reason why an earlier snapshot is lost.
    pub(super) lost: Option<&'a str>,
    /// The request that was handled.
    pub(super) request: Option<String>,
}

/// The status after a sync.
pub(super) fn status(catalog: &Catalog, synced: &Synced, now: &Time) -> CatalogStatus {
    let before = catalog.status.clone().unwrap_or_default();
    let count = |number: usize| u32::try_from(number).ok();
    let extensions = synced.snapshot.sources.values().flat_map(|source| source.extensions.keys());
    let extensions: std::collections::BTreeSet<&String> = extensions.collect();
    let entries = synced.snapshot.sources.values().flat_map(|source| source.extensions.values());
    let versions = entries.map(|entry| entry.versions.len()).sum();
    let is_first = before.synced_at.is_none() && !synced.snapshot.sources.is_empty();
    let has_changed = before.digest != synced.digest;
    let remarks = remarks(synced).chain(synced.lost);
    let mut status = CatalogStatus {
        observed_generation: catalog.metadata.generation,
        // Unknown before the first read.
        extensions: count(extensions.len()).filter(|_| !synced.snapshot.sources.is_empty()),
        versions: count(versions).filter(|_| !synced.snapshot.sources.is_empty()),
        digest: synced.digest.clone(),
        synced_at: if has_changed || is_first { Some(now.clone()) } else { before.synced_at },
        sources: synced.keys.iter().map(|key| source_status(key, synced)).collect(),
        problems: remarks.take(PROBLEMS).map(shortened).collect(),
        last_handled_request: synced.request.clone(),
        conditions: before.conditions,
    };
    let (condition, reason, message) = summary(synced, versions);
    let generation = catalog.metadata.generation;
    let update = |type_| ConditionUpdate { type_, status: condition, reason, message: message.clone(), generation };
    conditions::set(&mut status.conditions, update(conditions::SYNCED), now);
    conditions::set(&mut status.conditions, update(conditions::READY), now);
    status
}

/// The status of a suspended catalog.
pub(super) fn suspended(catalog: &Catalog, now: &Time) -> CatalogStatus {
    let message = "syncing is suspended; the extensions of the last sync stay";
    unsynced(catalog, reasons::synced::SUSPENDED, message, now)
}

/// The status of a catalog that is not synced.
pub(super) fn unsynced(catalog: &Catalog, reason: &'static str, message: &str, now: &Time) -> CatalogStatus {
    let mut status = catalog.status.clone().unwrap_or_default();
    let generation = catalog.metadata.generation;
    let condition = ConditionStatus::False;
    let update = |type_| ConditionUpdate { type_, status: condition, reason, message: message.to_owned(), generation };
    conditions::set(&mut status.conditions, update(conditions::SYNCED), now);
    conditions::set(&mut status.conditions, update(conditions::READY), now);
    status.observed_generation = generation;
    status
}

/// The sentences about versions and Extensions that are not as their source has them.
fn remarks<'a>(synced: &Synced<'a>) -> impl Iterator<Item = &'a str> + use<'a> {
    synced.unwritten.iter().chain(synced.snapshot.remarks()).map(String::as_str)
}

fn source_status(key: &str, synced: &Synced) -> SourceStatus {
    let source = synced.snapshot.sources.get(key);
    let error = synced.errors.iter().find(|(of, _)| of == key).map(|(_, error)| shortened(&error.to_string()));
    SourceStatus {
        key: Some(key.to_owned()).filter(|key| !key.is_empty()),
        revision: source.map(|source| source.revision.clone()).filter(|revision| !revision.is_empty()),
        error,
    }
}

fn summary(synced: &Synced, versions: usize) -> (ConditionStatus, &'static str, String) {
    if let Some((key, error)) = synced.errors.first() {
        let of = if key.is_empty() { String::new() } else { format!("source for Kubernetes {key}: ") };
        let stays = if synced.snapshot.sources.is_empty() { "" } else { "; what was read before stays" };
        return (ConditionStatus::False, error.reason(), format!("{of}{error}{stays}"));
    }
    let kept = synced.snapshot.sources.values().map(|source| source.kept.len()).sum::<usize>();
    let mut remarks = remarks(synced);
    if let Some(first) = remarks.next() {
        let more = match remarks.count() {
            0 => String::new(),
            more => format!(" (and {more} more)"),
        };
        let reason = if kept > 0 { reasons::synced::INCONSISTENT } else { reasons::synced::PARTIALLY_SYNCED };
        return (ConditionStatus::False, reason, format!("{first}{more}"));
    }
    let (reason, message) = match versions {
        0 => (
            reasons::synced::EMPTY,
            "the source has no extension; add EXTENSION/VERSION/definition.yaml to it".to_owned(),
        ),
        1 => (reasons::synced::SYNCED, "1 version was read".to_owned()),
        versions => (reasons::synced::SYNCED, format!("{versions} versions were read")),
    };
    let lost = synced.lost.map(|lost| format!("; {lost}")).unwrap_or_default();
    (ConditionStatus::True, reason, message + &lost)
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= PROBLEM {
        return text.to_owned();
    }
    format!("{}…", text.chars().take(PROBLEM - 1).collect::<String>())
}
