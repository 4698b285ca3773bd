//! The offers of catalogs, read once after each change of a catalog and shared by all clusters.

use std::collections::HashMap;
use std::sync::Arc;

use fitout_helm_ranges::{Error as ParseError, Range, Version};
use fitout_model::{Definition, VersionState};

/// An extension of a catalog, with its versions in any order.
#[derive(Clone, Debug, Default)]
pub struct Extension<'a> {
    /// The catalog. It is an opaque key, so what a catalog offers to one Kubernetes version can have a key of its own.
    pub catalog: &'a str,
    /// The extension's name.
    pub name: &'a str,
    /// Its versions.
    pub versions: Vec<ExtensionVersion<'a>>,
}

/// One version of an extension. The fields are those of its definition, and its state in the catalog.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ExtensionVersion<'a> {
    /// The version.
    pub version: &'a str,
    /// The Kubernetes versions that it supports; none: any.
    pub kubernetes: Option<&'a str>,
    /// The platform versions that it supports, for a native extension; none: any.
    pub platform: Option<&'a str>,
    /// The versions that can be upgraded to it in place; none: those of the same major version.
    pub upgrade_from: Option<&'a str>,
    /// Whether a cluster has at most one instance of the extension.
    pub singleton: bool,
    /// The capabilities that the cluster must have.
    pub capabilities: Vec<&'a str>,
    /// The extensions that have to be installed before it.
    pub dependencies: Vec<Dependency<'a>>,
    /// The capabilities that other extensions can name as a dependency.
    pub provides: Vec<&'a str>,
    /// The extensions that must not be installed on the same cluster.
    pub conflicts: Vec<Requirement<'a>>,
    /// Extensions that complement it.
    pub suggests: Vec<&'a str>,
    /// Its state in the catalog.
    pub state: VersionState,
    /// The reason of the state.
    pub note: Option<&'a str>,
}

/// Something that has to be installed first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Dependency<'a> {
    /// The alternatives, the preferred one first. One of them is enough.
    pub any_of: Vec<Requirement<'a>>,
    /// Whether it may be missing. Where it is installed, it still comes first.
    pub optional: bool,
}

/// An extension, or a capability, and the accepted versions.
///
/// A capability has no version, so a requirement with a range is met by the extension of that name alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Requirement<'a> {
    /// The name of an extension or a capability.
    pub name: &'a str,
    /// The range of versions; none: any.
    pub version: Option<&'a str>,
}

impl<'a> ExtensionVersion<'a> {
    /// The version that a definition describes, listed. `version` is the text of the definition's version.
    ///
    /// `singleton` has its default from what the extension renders, so the caller has to know it.
    pub fn of(definition: &'a Definition, version: &'a str, singleton: bool) -> Self {
        let requirement =
            |name: &'a String, version: &'a Option<String>| Requirement { name, version: version.as_deref() };
        let texts = |texts: &'a [String]| texts.iter().map(String::as_str).collect();
        Self {
            version,
            kubernetes: definition.kubernetes.as_deref(),
            platform: definition.platform.as_deref(),
            upgrade_from: definition.upgrade_from.as_deref(),
            singleton: definition.singleton.unwrap_or(singleton),
            capabilities: definition.requirements.as_ref().map_or_else(Vec::new, |it| texts(&it.capabilities)),
            dependencies: definition
                .dependencies
                .iter()
                .map(|it| Dependency { any_of: vec![requirement(&it.name, &it.version)], optional: it.optional })
                .collect(),
            provides: texts(&definition.provides),
            conflicts: definition.conflicts.iter().map(|it| requirement(&it.name, &it.version)).collect(),
            suggests: texts(&definition.suggests),
            state: VersionState::Listed,
            note: None,
        }
    }
}

/// The offers of catalogs. It is built once after a change of a catalog, and clusters are resolved against it in parallel.
#[derive(Debug, Default)]
pub struct Index {
    pub(super) extensions: Vec<IndexedExtension>,
    by_name: HashMap<String, Vec<usize>>,
    /// The extensions with a version that provides a capability, in the order of their names.
    providers: HashMap<String, Vec<usize>>,
}

#[derive(Debug)]
pub(super) struct IndexedExtension {
    pub(super) catalog: String,
    pub(super) name: String,
    /// Newest first.
    pub(super) versions: Vec<IndexedVersion>,
}

/// A version with parsed ranges. Equal ranges and dependencies of an index share their memory, so that their address is
/// a key for what was already computed about them.
#[derive(Debug)]
pub(super) struct IndexedVersion {
    pub(super) text: String,
    pub(super) version: Version,
    pub(super) kubernetes: Option<Arc<ParsedRange>>,
    pub(super) platform: Option<Arc<ParsedRange>>,
    pub(super) upgrade_from: Option<Arc<ParsedRange>>,
    pub(super) singleton: bool,
    pub(super) capabilities: Vec<String>,
    pub(super) dependencies: Vec<Arc<ParsedDependency>>,
    pub(super) provides: Vec<String>,
    pub(super) conflicts: Vec<Arc<ParsedRequirement>>,
    pub(super) suggests: Vec<String>,
    pub(super) state: VersionState,
    pub(super) note: Option<String>,
}

#[derive(Debug)]
pub(super) struct ParsedRange {
    pub(super) text: String,
    pub(super) range: Result<Range, ParseError>,
}

#[derive(Debug)]
pub(super) struct ParsedDependency {
    pub(super) any_of: Vec<Arc<ParsedRequirement>>,
    pub(super) optional: bool,
}

#[derive(Debug)]
pub(super) struct ParsedRequirement {
    pub(super) name: String,
    pub(super) range: Option<Arc<ParsedRange>>,
}

impl ParsedRange {
    /// Whether a version is in the range. None is in one that cannot be parsed.
    pub(super) fn matches(&self, version: &Version) -> bool {
        self.range.as_ref().is_ok_and(|range| range.matches(version))
    }
}

impl ParsedRequirement {
    /// Whether the extension `name` in this version meets the requirement.
    pub(super) fn is_met_by(&self, name: &str, version: &Version, provides: &[String]) -> bool {
        match &self.range {
            Some(range) => self.name == name && range.matches(version),
            None => self.name == name || provides.contains(&self.name),
        }
    }

    /// As a person writes it: the name, and the range.
    pub(super) fn text(&self) -> String {
        match &self.range {
            Some(range) => format!("{} {}", self.name, range.text),
            None => self.name.clone(),
        }
    }
}

impl ParsedDependency {
    pub(super) fn text(&self) -> String {
        let alternatives: Vec<String> = self.any_of.iter().map(|requirement| requirement.text()).collect();
        alternatives.join(" or ")
    }
}

/// Parses versions, and shares what is equal.
#[derive(Default)]
pub(super) struct Parser<'a> {
    ranges: HashMap<&'a str, Arc<ParsedRange>>,
    requirements: HashMap<Requirement<'a>, Arc<ParsedRequirement>>,
    dependencies: HashMap<Dependency<'a>, Arc<ParsedDependency>>,
}

impl<'a> Parser<'a> {
    pub(super) fn range(&mut self, text: &'a str) -> Arc<ParsedRange> {
        let parse = || Arc::new(ParsedRange { text: text.to_owned(), range: Range::parse(text) });
        Arc::clone(self.ranges.entry(text).or_insert_with(parse))
    }

    fn requirement(&mut self, requirement: &Requirement<'a>) -> Arc<ParsedRequirement> {
        if let Some(known) = self.requirements.get(requirement) {
            return Arc::clone(known);
        }
        let range = requirement.version.map(|text| self.range(text));
        let parsed = Arc::new(ParsedRequirement { name: requirement.name.to_owned(), range });
        self.requirements.insert(*requirement, Arc::clone(&parsed));
        parsed
    }

    fn dependency(&mut self, dependency: &Dependency<'a>) -> Arc<ParsedDependency> {
        if let Some(known) = self.dependencies.get(dependency) {
            return Arc::clone(known);
        }
        let any_of = dependency.any_of.iter().map(|requirement| self.requirement(requirement)).collect();
        let parsed = Arc::new(ParsedDependency { any_of, optional: dependency.optional });
        self.dependencies.insert(dependency.clone(), Arc::clone(&parsed));
        parsed
    }

    /// A parsed version; none where its text is no version.
    pub(super) fn version(&mut self, version: &ExtensionVersion<'a>) -> Option<IndexedVersion> {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        Some(IndexedVersion {
            text: version.version.to_owned(),
            version: Version::parse(version.version).ok()?,
            kubernetes: version.kubernetes.map(|text| self.range(text)),
            platform: version.platform.map(|text| self.range(text)),
            upgrade_from: version.upgrade_from.map(|text| self.range(text)),
            singleton: version.singleton,
            capabilities: owned(&version.capabilities),
            dependencies: version.dependencies.iter().map(|dependency| self.dependency(dependency)).collect(),
            provides: owned(&version.provides),
            conflicts: version.conflicts.iter().map(|conflict| self.requirement(conflict)).collect(),
            suggests: owned(&version.suggests),
            state: version.state,
            note: version.note.map(str::to_owned),
        })
    }
}

impl Index {
    /// The index of these extensions. Versions that cannot be parsed are left out, as catalogs refuse them.
    ///
    /// An extension that is given twice has the versions of both. Of versions with the same text the first one counts.
    pub fn new<'a>(extensions: impl IntoIterator<Item = Extension<'a>>) -> Self {
        let mut parser = Parser::default();
        let mut positions: HashMap<(&str, &str), usize> = HashMap::new();
        let mut index = Self::default();
        for extension in extensions {
            let at = *positions.entry((extension.catalog, extension.name)).or_insert_with(|| {
                let (catalog, name) = (extension.catalog.to_owned(), extension.name.to_owned());
                index.extensions.push(IndexedExtension { catalog, name, versions: vec![] });
                index.extensions.len() - 1
            });
            index.extensions[at].versions.extend(extension.versions.iter().filter_map(|it| parser.version(it)));
        }
        for (at, extension) in index.extensions.iter_mut().enumerate() {
            // The order of catalogs is stable for versions of the same precedence, such as builds of one version.
            extension.versions.sort_by(|a, b| b.version.cmp(&a.version));
            extension.versions.dedup_by(|later, earlier| later.text == earlier.text);
            index.by_name.entry(extension.name.clone()).or_default().push(at);
            for capability in extension.versions.iter().flat_map(|version| &version.provides) {
                let providers = index.providers.entry(capability.clone()).or_default();
                if providers.last() != Some(&at) {
                    providers.push(at);
                }
            }
        }
        for providers in index.providers.values_mut() {
            providers.sort_by_key(|&at| &index.extensions[at].name);
        }
        index
    }

    /// The extension with this name in a catalog.
    pub(super) fn extension(&self, catalog: &str, name: &str) -> Option<usize> {
        let named = self.by_name.get(name)?;
        named.iter().copied().find(|&at| self.extensions[at].catalog == catalog)
    }

    /// The extensions of a catalog with a version that provides a capability, in the order of their names.
    pub(super) fn providers(&self, catalog: &str, capability: &str) -> Vec<usize> {
        let providers = self.providers.get(capability).map_or(&[][..], Vec::as_slice);
        providers.iter().copied().filter(|&at| self.extensions[at].catalog == catalog).collect()
    }
}
