//! The rules of a catalog for the versions of its sources. They hold whether or not a source can be read.

use std::collections::BTreeMap;
use std::sync::Arc;

use fitout_helm_ranges::{Error, Range};
use fitout_model::VersionStateRule;
use serde::{Deserialize, Serialize};

use crate::{ExtensionEntry, Filters, Pattern, Snapshot, SourceSnapshot, VersionEntry, set_states};

/// The rules of a catalog.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CatalogRules {
    /// The patterns of the versions to offer; none: all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<VersionPattern>,
    /// The patterns of the versions not to offer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<VersionPattern>,
    /// The states of versions. They count more than those of the source.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<VersionStateRule>,
}

/// A pattern of extensions and versions, as in [`Pattern`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct VersionPattern {
    /// The name of the extension.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The range of versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

impl CatalogRules {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The filters of the versions to offer.
    pub fn filters(&self) -> Result<Filters, Error> {
        fn pattern(VersionPattern { name, version }: &VersionPattern) -> Pattern<'_> {
            Pattern { name: name.as_deref(), version: version.as_deref() }
        }
        Filters::new(self.include.iter().map(pattern), self.exclude.iter().map(pattern))
    }

    /// Fails if a range of the states is invalid.
    pub fn check_states(&self) -> Result<(), Error> {
        self.states
            .iter()
            .filter_map(|rule| rule.version.as_deref())
            .try_for_each(|range| Range::parse(range).map(drop))
    }

    /// The versions of an extension that are offered, with their states; none without any.
    fn apply(
        &self,
        filters: &Filters,
        name: &str,
        entry: &Arc<ExtensionEntry>,
    ) -> Result<Option<Arc<ExtensionEntry>>, Error> {
        let has_filters = !(self.include.is_empty() && self.exclude.is_empty());
        let has_states = self.states.iter().any(|rule| rule.extension == name);
        if !has_filters && !has_states {
            return Ok(Some(Arc::clone(entry)));
        }
        let mut entry = ExtensionEntry::clone(entry);
        if has_filters {
            entry.versions.retain(|version| filters.admits(name, &version.version.to_string()));
        }
        set_states(name, &mut entry.versions, &self.states)?;
        Ok(Some(Arc::new(entry)).filter(|entry| !entry.versions.is_empty()))
    }
}

impl Snapshot {
    /// The snapshot that the catalog offers: the versions that its rules admit, with the states that they set.
    pub fn offered(&self) -> Result<Self, Error> {
        if self.rules.is_empty() {
            return Ok(self.clone());
        }
        let filters = self.rules.filters()?;
        let mut sources = BTreeMap::new();
        for (key, source) in &self.sources {
            let mut extensions = BTreeMap::new();
            for (name, entry) in &source.extensions {
                let entry = self.rules.apply(&filters, name, entry)?;
                extensions.extend(entry.map(|entry| (name.clone(), entry)));
            }
            sources.insert(key.clone(), Arc::new(SourceSnapshot { extensions, ..source.without_extensions() }));
        }
        Ok(Self { sources, rules: self.rules.clone() })
    }

    /// Sets the state of an installed version that is no longer offered, for a cluster with this Kubernetes version: a version
    /// may be removed because it is withdrawn.
    pub fn set_lost_state(&self, kubernetes: &str, extension: &str, version: &mut VersionEntry) -> Result<(), Error> {
        let of_source = self.source_for(kubernetes).map_or(&[][..], |source| &source.states);
        for rules in [of_source, &self.rules.states] {
            set_states(extension, std::slice::from_mut(version), rules)?;
        }
        Ok(())
    }
}

impl SourceSnapshot {
    fn without_extensions(&self) -> Self {
        Self {
            origin: self.origin.clone(),
            settings: self.settings.clone(),
            revision: self.revision.clone(),
            // For readers of the source.
            validators: vec![],
            memory: None,
            generated: self.generated.clone(),
            states: self.states.clone(),
            extensions: BTreeMap::new(),
            problems: self.problems.clone(),
            kept: self.kept.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use fitout_model::{Digest, VersionState};

    use super::*;

    fn version(text: &str, state: VersionState) -> VersionEntry {
        VersionEntry {
            version: text.parse().unwrap(),
            kubernetes: None,
            upgrade_from: None,
            app_version: None,
            state,
            note: None,
            digest: Digest::of(text),
            published: None,
        }
    }

    fn rule(version: &str, state: VersionState) -> VersionStateRule {
        VersionStateRule { extension: "web".to_owned(), version: Some(version.to_owned()), state, note: None }
    }

    /// A snapshot of a source with the versions 1.0.0, yanked by the source, and 1.1.0 of the extensions web and db.
    fn snapshot(rules: CatalogRules) -> Snapshot {
        let versions = vec![version("1.1.0", VersionState::Listed), version("1.0.0", VersionState::Yanked)];
        let entry = Arc::new(ExtensionEntry {
            display_name: None,
            summary: None,
            publisher: None,
            categories: vec![],
            keywords: vec![],
            icon: None,
            pack: Digest::of("pack"),
            versions,
        });
        let extensions = ["web", "db"].map(|name| (name.to_owned(), Arc::clone(&entry))).into();
        let states = vec![rule("<1.1", VersionState::Yanked)];
        let source = SourceSnapshot { states, extensions, ..SourceSnapshot::default() };
        Snapshot { sources: [(String::new(), Arc::new(source))].into(), rules }
    }

    /// The versions that are offered, with their states.
    fn offered(snapshot: &Snapshot) -> Vec<String> {
        let offered = snapshot.offered().unwrap();
        let versions = offered.sources[""].extensions.iter().flat_map(|(name, entry)| {
            entry
                .versions
                .iter()
                .map(move |version| format!("{name} {} {}", version.version, version.state.adjective()))
        });
        versions.collect()
    }

    #[test]
    fn the_states_of_the_catalog_hold_for_what_was_read_before() {
        let read = snapshot(CatalogRules::default());
        assert_eq!(offered(&read), ["db 1.1.0 listed", "db 1.0.0 yanked", "web 1.1.0 listed", "web 1.0.0 yanked"]);
        let states = vec![rule("1.0.0", VersionState::Withdrawn)];
        let withdrawn = Snapshot { rules: CatalogRules { states, ..CatalogRules::default() }, ..read.clone() };
        assert_eq!(
            offered(&withdrawn),
            ["db 1.1.0 listed", "db 1.0.0 yanked", "web 1.1.0 listed", "web 1.0.0 withdrawn"]
        );
        // What was read is kept, so that a rule can be taken back.
        assert_eq!(offered(&Snapshot { rules: CatalogRules::default(), ..withdrawn.clone() }), offered(&read));
        assert_eq!(Snapshot::parse(&withdrawn.to_bytes()).unwrap(), withdrawn);
    }

    #[test]
    fn the_filters_of_the_catalog_hold_for_what_was_read_before() {
        let pattern = |name: &str, version: Option<&str>| VersionPattern {
            name: Some(name.to_owned()),
            version: version.map(str::to_owned),
        };
        let exclude = vec![pattern("db", None), pattern("web", Some("1.1.0"))];
        let snapshot = snapshot(CatalogRules { exclude, ..CatalogRules::default() });
        assert_eq!(offered(&snapshot), ["web 1.0.0 yanked"]);
        let include = vec![pattern("d*", None)];
        let snapshot = Snapshot { rules: CatalogRules { include, ..CatalogRules::default() }, ..snapshot };
        assert_eq!(offered(&snapshot), ["db 1.1.0 listed", "db 1.0.0 yanked"]);
    }

    #[test]
    fn a_version_that_is_no_longer_offered_can_be_withdrawn() {
        let state = |snapshot: &Snapshot, text: &str| {
            let mut lost = version(text, VersionState::Listed);
            snapshot.set_lost_state("v1.36.0", "web", &mut lost).unwrap();
            lost.state
        };
        let by_source = snapshot(CatalogRules::default());
        assert_eq!(state(&by_source, "0.9.0"), VersionState::Yanked);
        assert_eq!(state(&by_source, "1.2.0"), VersionState::Listed);
        let states = vec![rule("0.9.0", VersionState::Withdrawn)];
        let rules = CatalogRules { states, ..CatalogRules::default() };
        assert_eq!(state(&Snapshot { rules: rules.clone(), ..by_source }, "0.9.0"), VersionState::Withdrawn);
        // A catalog without a source for the Kubernetes version can withdraw, too.
        assert_eq!(state(&Snapshot { rules, sources: BTreeMap::new() }, "0.9.0"), VersionState::Withdrawn);
    }

    #[test]
    fn an_invalid_range_is_an_error() {
        let rules = CatalogRules { states: vec![rule("one", VersionState::Yanked)], ..CatalogRules::default() };
        assert!(rules.check_states().is_err() && snapshot(rules).offered().is_err());
    }
}
