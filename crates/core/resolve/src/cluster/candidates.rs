//! The versions that an instance or an addition can have on a cluster, best first, and why it cannot have the others.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use fitout_helm_ranges::{Version, kubernetes};
use fitout_model::VersionState;

use super::ResolveError;
use super::hops::ways;
use super::index::{Index, IndexedVersion, ParsedRange, Parser};
use super::problem::{Instance, Policy, Problem};

/// A problem with its texts parsed.
pub(super) struct Cluster<'p> {
    pub(super) index: &'p Index,
    pub(super) problem: &'p Problem<'p>,
    pub(super) kubernetes: Version,
    platform: Option<Version>,
    /// The parsed request of each instance.
    pub(super) parsed: Vec<ParsedInstance>,
    /// Whether the cluster's Kubernetes is in a range, by the address of the range.
    supported: RefCell<HashMap<usize, bool>>,
}

pub(super) struct ParsedInstance {
    pub(super) wanted: Option<Arc<ParsedRange>>,
    pub(super) installed: Option<Version>,
    lost: Option<IndexedVersion>,
}

/// A version that fits the cluster by itself.
#[derive(Clone, Debug)]
pub(super) struct Candidate<'v> {
    pub(super) version: &'v IndexedVersion,
    pub(super) is_installed: bool,
    /// Whether others are preferred: it is deprecated, the catalog has lost it, or nobody asked for a pre-release.
    pub(super) is_second: bool,
    pub(super) hops: Vec<&'v IndexedVersion>,
}

/// Why a version does not fit the cluster by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exclusion {
    /// It is outside the requested range.
    Range,
    /// It is yanked or withdrawn.
    State,
    /// It does not support the cluster's Kubernetes.
    Kubernetes,
    /// It does not support the platform.
    Platform,
    /// It cannot replace the installed version, neither in one step nor in several.
    Path,
    /// Only a user moves the instance.
    Manual,
    /// The instance is suspended.
    Suspended,
    /// An instance of the extension exists, and a cluster has at most one.
    Occupied,
}

/// The versions of an extension, as far as an instance or an addition can have them.
#[derive(Clone, Debug, Default)]
pub(super) struct Candidates<'v> {
    /// Best first.
    pub(super) fitting: Vec<Candidate<'v>>,
    /// Newest first.
    pub(super) excluded: Vec<(&'v IndexedVersion, Exclusion)>,
}

impl<'p> Cluster<'p> {
    pub(super) fn new(index: &'p Index, problem: &'p Problem<'p>) -> Result<Self, ResolveError> {
        let reported = problem.kubernetes;
        let kubernetes = kubernetes(reported)
            .map_err(|error| ResolveError::KubernetesVersion { version: reported.to_owned(), error })?;
        let platform = problem.platform.map(|text| {
            Version::parse(text).map_err(|error| ResolveError::PlatformVersion { version: text.to_owned(), error })
        });
        let mut parser = Parser::default();
        let parsed = problem.instances.iter().map(|instance| ParsedInstance {
            wanted: instance.version.map(|text| parser.range(text)),
            installed: instance.installed.and_then(|text| Version::parse(text).ok()),
            lost: instance.lost.as_ref().and_then(|lost| parser.version(lost)),
        });
        let parsed = parsed.collect();
        Ok(Self { index, problem, kubernetes, platform: platform.transpose()?, parsed, supported: RefCell::default() })
    }

    /// The versions of the extension of an instance, newest first, with the lost one.
    fn versions(&self, at: usize) -> Vec<(&IndexedVersion, bool)> {
        let Instance { catalog, extension, .. } = self.problem.instances[at];
        let found = self.index.extension(catalog, extension);
        let offered = found.map_or(&[][..], |found| &self.index.extensions[found].versions);
        let mut versions: Vec<(&IndexedVersion, bool)> = offered.iter().map(|version| (version, true)).collect();
        let is_offered = |lost: &&IndexedVersion| offered.iter().any(|version| version.text == lost.text);
        if let Some(lost) = self.parsed[at].lost.as_ref().filter(|lost| !is_offered(lost)) {
            let place = versions.partition_point(|(version, _)| version.version >= lost.version);
            versions.insert(place, (lost, false));
        }
        versions
    }

    /// The definition of the installed version: the one with the same text, or else one of the same precedence.
    pub(super) fn installed(&self, at: usize) -> Option<&IndexedVersion> {
        let installed = self.parsed[at].installed.as_ref()?;
        let versions = self.versions(at);
        let exact = versions.iter().find(|(version, _)| version.text == installed.original());
        let equal = || versions.iter().find(|(version, _)| version.version == *installed);
        exact.or_else(equal).map(|(version, _)| *version)
    }

    /// The versions that an instance can have.
    pub(super) fn of_instance(&self, at: usize) -> Candidates<'_> {
        let instance = &self.problem.instances[at];
        let ParsedInstance { wanted, installed, .. } = &self.parsed[at];
        let definition = self.installed(at);
        let is_installed = |version: &IndexedVersion| definition.is_some_and(|it| std::ptr::eq(it, version));
        let is_wanted = |version: &Version| wanted.as_ref().is_none_or(|range| range.matches(version));
        // A user who asks for other versions than the installed one has moved the instance.
        let is_manual = instance.policy == Policy::Manual && installed.as_ref().is_some_and(is_wanted);
        let mut candidates = Candidates::default();
        let mut possible = Vec::new();
        for (version, is_offered) in self.versions(at) {
            let is_installed = is_installed(version);
            let exclusion = match () {
                () if !is_wanted(&version.version) => Some(Exclusion::Range),
                () if instance.suspended && !is_installed => Some(Exclusion::Suspended),
                () if !is_installed && !is_installable(version.state) => Some(Exclusion::State),
                () => self.misfit(version),
            };
            match exclusion {
                Some(exclusion) => candidates.excluded.push((version, exclusion)),
                None => possible.push((version, is_offered, is_installed)),
            }
        }
        let steps: Vec<&IndexedVersion> = self.steps(at);
        let mut ways = installed.as_ref().map(|installed| ways(installed, definition, &steps));
        for (version, is_offered, is_installed) in possible {
            let place = steps.iter().position(|step| std::ptr::eq(*step, version));
            let way = match (&mut ways, place) {
                (Some(ways), Some(place)) => ways[place].take(),
                _ => Some(vec![]),
            };
            let is_prerelease = version.version.is_prerelease() && wanted.is_none();
            let is_second = version.state == VersionState::Deprecated || !is_offered || is_prerelease;
            match way {
                _ if is_manual && !is_installed => candidates.excluded.push((version, Exclusion::Manual)),
                Some(hops) => candidates.fitting.push(Candidate { version, is_installed, is_second, hops }),
                None => candidates.excluded.push((version, Exclusion::Path)),
            }
        }
        let stays = is_manual || instance.suspended;
        let current = installed.as_ref();
        candidates.fitting.sort_by_cached_key(|candidate| preference(candidate, instance.policy, stays, current));
        candidates.excluded.sort_by(|(a, _), (b, _)| b.version.cmp(&a.version));
        candidates
    }

    /// The versions that the way of an instance to another version can lead over or to: they fit the cluster, whether they
    /// are in the requested range or not.
    fn steps(&self, at: usize) -> Vec<&IndexedVersion> {
        if self.parsed[at].installed.is_none() {
            return vec![];
        }
        let installed = self.installed(at);
        let is_installed = |version: &IndexedVersion| installed.is_some_and(|it| std::ptr::eq(it, version));
        let can_be = |version: &IndexedVersion| is_installable(version.state) && self.misfit(version).is_none();
        let versions = self.versions(at).into_iter();
        let steps = versions.filter(|(version, is_offered)| is_installed(version) || (*is_offered && can_be(version)));
        steps.map(|(version, _)| version).collect()
    }

    /// The versions of an extension that can be added for others.
    pub(super) fn of_addition(&self, extension: usize) -> Candidates<'_> {
        let extension = &self.index.extensions[extension];
        let is_taken = self.problem.instances.iter().any(|instance| instance.extension == extension.name);
        let mut candidates = Candidates::default();
        for version in &extension.versions {
            let exclusion = match () {
                () if is_taken && version.singleton => Some(Exclusion::Occupied),
                () if !is_installable(version.state) => Some(Exclusion::State),
                () => self.misfit(version),
            };
            let is_second = version.state == VersionState::Deprecated || version.version.is_prerelease();
            match exclusion {
                Some(exclusion) => candidates.excluded.push((version, exclusion)),
                None => {
                    candidates.fitting.push(Candidate { version, is_installed: false, is_second, hops: vec![] });
                }
            }
        }
        // They are newest first.
        candidates.fitting.sort_by_key(|candidate| candidate.is_second);
        candidates
    }

    /// Why a version does not run on the cluster, whatever else is there; none where it does.
    fn misfit(&self, version: &IndexedVersion) -> Option<Exclusion> {
        let supports = |range: &Arc<ParsedRange>| {
            let address = Arc::as_ptr(range).addr();
            *self.supported.borrow_mut().entry(address).or_insert_with(|| range.matches(&self.kubernetes))
        };
        let belongs = |range: &Arc<ParsedRange>| self.platform.as_ref().is_some_and(|it| range.matches(it));
        if !version.kubernetes.as_ref().is_none_or(supports) {
            Some(Exclusion::Kubernetes)
        } else if !version.platform.as_ref().is_none_or(belongs) {
            Some(Exclusion::Platform)
        } else {
            None
        }
    }
}

/// Whether a version in this state is installed where it is not yet.
fn is_installable(state: VersionState) -> bool {
    matches!(state, VersionState::Listed | VersionState::Deprecated)
}

/// The place of a candidate among those of an instance. The smallest is the best.
fn preference(
    candidate: &Candidate,
    policy: Policy,
    stays: bool,
    installed: Option<&Version>,
) -> (u8, bool, std::cmp::Reverse<Version>) {
    let Candidate { version, is_installed, is_second, .. } = candidate;
    let is_withdrawn = version.state == VersionState::Withdrawn && !stays && policy != Policy::Manual;
    let is_upgrade = installed.is_some_and(|installed| version.version > *installed) && !is_second;
    let class = match (*is_installed, policy) {
        (true, _) if is_withdrawn => 3,
        (true, Policy::Latest) if !stays => 1,
        (true, _) => 0,
        (false, Policy::Latest) if is_upgrade => 0,
        (false, _) => 2,
    };
    (class, *is_second, std::cmp::Reverse(version.version.clone()))
}
