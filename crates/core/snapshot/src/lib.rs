//! Snapshots of catalogs: the extensions that a catalog offered when it was last read, and how they may change.
//!
//! A snapshot is light: for each version it has what choosing a version needs. The definitions are in packs, one for
//! each extension, which are stored by digest.

mod chart;
mod dependencies;
mod entry;
mod filter;
mod pack;
mod published;
mod rules;
mod shared;
mod states;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use fitout_helm_ranges::kubernetes;
use fitout_model::{Digest, Problem, VersionStateRule};
use serde::{Deserialize, Serialize};

pub use chart::{
    CHANGELOG, ChartDefinition, ChartLocation, ChartVersion, chart_definition, chart_definitions, clashing_charts,
    extension_of,
};
pub use dependencies::{Dependencies, dependency_cycles};
pub use entry::{ExtensionEntry, VersionEntry};
pub use filter::{Filters, Pattern};
pub use pack::{Pack, PackError};
pub use published::{Changed, changed_versions};
pub use rules::{CatalogRules, VersionPattern};
pub use states::set_states;

/// All extensions that a catalog offers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The content of each source, by the Kubernetes minor version that it is for, such as `1.36`. The source for all
    /// versions has an empty key.
    #[serde(with = "shared")]
    pub sources: BTreeMap<String, Arc<SourceSnapshot>>,
    /// The rules of the catalog. They are not applied to what was read of the sources.
    #[serde(default, skip_serializing_if = "CatalogRules::is_empty")]
    pub rules: CatalogRules,
}

/// The extensions that one source of a catalog offers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SourceSnapshot {
    /// The digest of the source's address.
    pub origin: String,
    /// The digest of the address and the filters: all that decides what is read.
    #[serde(default)]
    pub settings: String,
    /// The revision that was read: a commit, or the digest of an index or an archive.
    #[serde(default)]
    pub revision: String,
    /// The headers of the next conditional request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub validators: Vec<(String, String)>,
    /// The state that the reader of the source needs at its next read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<serde_json::Value>,
    /// When the source says that it was made, in RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generated: Option<String>,
    /// The states that the source declares for versions, also for those that it does not offer. They are applied to what was
    /// read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<VersionStateRule>,
    /// The extensions by name.
    #[serde(with = "shared")]
    pub extensions: BTreeMap<String, Arc<ExtensionEntry>>,
    /// The problems of versions that were left out, each as a sentence that begins with the file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// The versions whose published content has changed, and that were kept as they were, each as a sentence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<String>,
}

/// The problems that a source lists. One that has more is broken as a whole, and its snapshot stays small.
const PROBLEMS: usize = 1000;

impl SourceSnapshot {
    /// Adds an extension. Fails if there is one of its name, which stays.
    pub fn add(&mut self, name: String, entry: ExtensionEntry) -> Result<(), Problem> {
        match self.extensions.entry(name) {
            Entry::Vacant(place) => {
                place.insert(Arc::new(entry));
                Ok(())
            }
            Entry::Occupied(place) => Err(Problem {
                field: place.key().clone(),
                message: "the source has two extensions of this name, and the first one counts".to_owned(),
                hint: Some("give one of them another name".to_owned()),
            }),
        }
    }

    /// Lists problems, in the order of their texts. Of many, it lists some and says how many there are.
    pub fn set_problems(&mut self, mut problems: Vec<String>) {
        problems.sort();
        let more = problems.len().saturating_sub(PROBLEMS);
        problems.truncate(PROBLEMS);
        if more > 0 {
            problems.push(format!("and {more} more problems of this source; correct the first ones"));
        }
        self.problems = problems;
    }
}

impl Snapshot {
    /// Reads a stored snapshot.
    pub fn parse(text: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(text)
    }

    /// The snapshot to store. Equal snapshots make equal bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        // Keys are texts, so that writing to memory does not fail.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// All sentences that a user should read, those about kept versions first.
    pub fn remarks(&self) -> impl Iterator<Item = &String> {
        let sources = || self.sources.values();
        sources().flat_map(|source| &source.kept).chain(sources().flat_map(|source| &source.problems))
    }

    /// The source for a cluster with this Kubernetes version; none if the catalog has no source for it.
    pub fn source_for(&self, version: &str) -> Option<&Arc<SourceSnapshot>> {
        self.sources.get(&key_of(version)).or_else(|| self.sources.get(""))
    }

    /// The keys of its sources; empty where one source is for all Kubernetes versions.
    pub fn keys(&self) -> Vec<&str> {
        self.sources.keys().map(String::as_str).filter(|key| !key.is_empty()).collect()
    }

    /// The digests of all packs.
    pub fn packs(&self) -> impl Iterator<Item = &Digest> {
        self.sources.values().flat_map(|source| source.extensions.values()).map(|extension| &extension.pack)
    }
}

/// The key of a Kubernetes version: `1.36` for `v1.36.3+k3s1`. Empty for a text that is no version.
pub fn key_of(version: &str) -> String {
    kubernetes(version).map_or_else(|_| String::new(), |version| format!("{}.{}", version.major(), version.minor()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_two_extensions_with_the_same_name_counts() {
        let entry = |pack: &str| ExtensionEntry {
            display_name: None,
            summary: None,
            publisher: None,
            categories: vec![],
            keywords: vec![],
            icon: None,
            pack: Digest::of(pack),
            versions: vec![],
        };
        let mut source = SourceSnapshot::default();
        source.add("web".to_owned(), entry("first")).unwrap();
        source.add("db".to_owned(), entry("other")).unwrap();
        let problem = source.add("web".to_owned(), entry("second")).unwrap_err().to_string();
        let expected =
            "web: the source has two extensions of this name, and the first one counts; give one of them another name";
        assert_eq!(problem, expected);
        assert_eq!(source.extensions["web"].pack, Digest::of("first"));
    }

    #[test]
    fn many_problems_are_counted() {
        let mut source = SourceSnapshot::default();
        source.set_problems(vec!["b".to_owned(), "a".to_owned()]);
        assert_eq!(source.problems, ["a", "b"]);
        source.set_problems((0..PROBLEMS + 7).map(|number| format!("{number:04}")).collect());
        assert_eq!((source.problems.len(), source.problems[PROBLEMS - 1].as_str()), (PROBLEMS + 1, "0999"));
        assert_eq!(source.problems[PROBLEMS], "and 7 more problems of this source; correct the first ones");
    }

    #[test]
    fn a_cluster_gets_the_source_of_its_minor_version() {
        let source = |name: &str| Arc::new(SourceSnapshot { origin: name.to_owned(), ..SourceSnapshot::default() });
        let by_version = Snapshot {
            sources: [("1.35", "old"), ("1.36", "new")].map(|(key, name)| (key.to_owned(), source(name))).into(),
            ..Snapshot::default()
        };
        let origin = |snapshot: &Snapshot, version| snapshot.source_for(version).map(|source| source.origin.clone());
        assert_eq!(origin(&by_version, "v1.35.4").as_deref(), Some("old"));
        assert_eq!(origin(&by_version, "v1.36.3+k3s1").as_deref(), Some("new"));
        assert_eq!(origin(&by_version, "v1.34.0"), None);
        let for_all = Snapshot { sources: [(String::new(), source("all"))].into(), ..Snapshot::default() };
        assert_eq!(origin(&for_all, "v1.34.0-gke.1").as_deref(), Some("all"));
        assert_eq!((for_all.keys().len(), by_version.keys()), (0, vec!["1.35", "1.36"]));
        assert_eq!(Snapshot::parse(&by_version.to_bytes()).unwrap(), by_version);
    }
}
