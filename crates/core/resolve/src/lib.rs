//! Chooses the version of an extension for a cluster, or explains why none fits.

pub mod cluster;
mod verdict;

use fitout_helm_ranges::{Error as ParseError, Range, Version, kubernetes};
use fitout_model::VersionState;

pub use verdict::verdict;

/// The input of [`choose`].
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The extension's name.
    pub extension: &'a str,
    /// Its versions, in any order.
    pub versions: &'a [Candidate<'a>],
    /// The requested version range.
    pub wanted: Option<&'a str>,
    /// The cluster's Kubernetes version, as the cluster reports it.
    pub kubernetes: &'a str,
    /// The installed version.
    pub installed: Option<&'a str>,
    /// Whether to upgrade to the newest version that fits. Otherwise the installed version stays as long as it fits.
    pub latest: bool,
    /// Whether an installed version that is withdrawn stays until a user moves it.
    pub stays_on_withdrawn: bool,
}

/// One version of an extension.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The version.
    pub version: &'a str,
    /// The Kubernetes versions that it supports.
    pub kubernetes: Option<&'a str>,
    /// The versions that can be upgraded to this one in place; none: those of the same major version.
    pub replaces: Option<&'a str>,
    /// Its state in the catalog.
    pub state: VersionState,
    /// The reason of the state.
    pub note: Option<&'a str>,
    /// Whether the catalog offers it. The installed version is a candidate even if the catalog has lost it.
    pub offered: bool,
}

/// The chosen version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Its index among the candidates.
    pub index: usize,
    /// Why it was chosen, in a sentence.
    pub why: String,
}

/// Why no version was chosen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// The cluster reports a Kubernetes version that cannot be parsed.
    #[error("the cluster's version {version} cannot be parsed: {error}")]
    KubernetesVersion {
        /// The version.
        version: String,
        /// The error of the parser.
        error: ParseError,
    },
    /// A version range cannot be parsed.
    #[error("{subject} is not a version range: {error}")]
    Range {
        /// The origin of the range.
        subject: String,
        /// The error of the parser.
        error: ParseError,
    },
    /// Versions exist, and none fits; this is the reason for the newest of them.
    #[error("{0}; no other version fits either")]
    NoneFits(Mismatch),
    /// No version is in the requested range.
    #[error("no version of {extension} is in {range}; available: {}", .available.join(", "))]
    NotInRange {
        /// The extension.
        extension: String,
        /// The requested range.
        range: String,
        /// Some of the versions that exist.
        available: Vec<String>,
    },
    /// The extension has no versions.
    #[error("extension {0} has no versions")]
    NoVersions(String),
}

/// Why one version does not fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// It cannot replace the installed version in place.
    #[error("{version} does not replace {installed} in place: install it side by side under another name")]
    Upgrade {
        /// The extension and the version.
        version: String,
        /// The installed version.
        installed: String,
    },
    /// It does not support the cluster's Kubernetes version.
    #[error("{version} needs Kubernetes {range}, the cluster is {kubernetes}")]
    Kubernetes {
        /// The extension and the version.
        version: String,
        /// The Kubernetes versions that it supports.
        range: String,
        /// The cluster's Kubernetes version.
        kubernetes: String,
    },
    /// It is yanked or withdrawn, and not installed.
    #[error("{version} is {}{}", .state.adjective(), reason(.note.as_deref()))]
    State {
        /// The extension and the version.
        version: String,
        /// The state.
        state: VersionState,
        /// The reason of the state.
        note: Option<String>,
    },
}

/// The reason of a state, in parentheses.
fn reason(note: Option<&str>) -> String {
    note.map_or_else(String::new, |note| format!(" ({note})"))
}

/// A version that fits.
struct Fitting<'a> {
    version: Version,
    index: usize,
    candidate: &'a Candidate<'a>,
    is_installed: bool,
}

impl Fitting<'_> {
    /// A remark on its state for users, as the end of a sentence.
    fn remark(&self) -> String {
        let Candidate { state, note, offered, .. } = self.candidate;
        match (state, offered) {
            (VersionState::Listed, true) => String::new(),
            (VersionState::Listed, false) => "; the catalog no longer offers it".to_owned(),
            (state, true) => format!("; it is {}{}", state.adjective(), reason(*note)),
            (state, false) => {
                format!("; it is {}{}, and the catalog no longer offers it", state.adjective(), reason(*note))
            }
        }
    }
}

/// Chooses a version.
///
/// The installed version stays as long as it fits, unless the latest is requested or it is withdrawn; otherwise the newest that
/// fits is chosen, a deprecated one only if no other fits. A version that is yanked, withdrawn or no longer offered is never
/// chosen unless it is installed.
///
/// Versions that differ in build metadata alone are equal in order, and different in content. So the installed version is the
/// candidate with the same text, and one that is merely equal counts as installed only where there is no such candidate.
pub fn choose(question: &Question) -> Result<Choice, ResolveError> {
    let reported = question.kubernetes;
    let cluster = kubernetes(reported)
        .map_err(|error| ResolveError::KubernetesVersion { version: reported.to_owned(), error })?;
    let requested = question.wanted.map(|range| parse_range(range, "the requested version")).transpose()?;
    let installed = question.installed.and_then(|text| Version::parse(text).ok());
    let exact = question.versions.iter().position(|candidate| Some(candidate.version) == question.installed);
    let mut fitting = Vec::new();
    let mut mismatches = Vec::new();
    for (index, candidate) in question.versions.iter().enumerate() {
        let Ok(version) = Version::parse(candidate.version) else { continue };
        if requested.as_ref().is_some_and(|range| !range.matches(&version)) {
            continue;
        }
        let is_installed = match exact {
            Some(exact) => index == exact,
            None => installed.as_ref().is_some_and(|installed| *installed == version),
        };
        if let Some(mismatch) = state_mismatch(question, candidate).filter(|_| !is_installed) {
            mismatches.push((version, mismatch));
        } else if let Some(mismatch) = upgrade_mismatch(question, candidate, &version)? {
            mismatches.push((version, mismatch));
        } else if let Some(mismatch) = kubernetes_mismatch(question, candidate, &cluster)? {
            mismatches.push((version, mismatch));
        } else {
            fitting.push(Fitting { version, index, candidate, is_installed });
        }
    }
    let rank = |fit: &Fitting| fit.candidate.state == VersionState::Deprecated || !fit.candidate.offered;
    fitting.sort_by(|a, b| {
        let newer = || b.version.cmp(&a.version).then_with(|| b.is_installed.cmp(&a.is_installed));
        rank(a).cmp(&rank(b)).then_with(newer)
    });
    let current = fitting.iter().position(|fit| fit.is_installed);
    let withdrawn = current.filter(|&at| fitting[at].candidate.state == VersionState::Withdrawn);
    if let Some(at) = withdrawn.filter(|_| !question.stays_on_withdrawn) {
        let from = fitting.remove(at);
        let Some(to) = fitting.first() else {
            let why = format!("{} is installed and no other version fits{}", from.version, from.remark());
            return Ok(Choice { index: from.index, why });
        };
        let note = reason(from.candidate.note);
        let why = format!(
            "{} is withdrawn{note}; {} is the newest that fits Kubernetes {reported}{}",
            from.version,
            to.version,
            to.remark()
        );
        return Ok(Choice { index: to.index, why });
    }
    // The latest is never older than the installed version, whatever the states are.
    let is_latest = |at: usize| fitting[0].version >= fitting[at].version;
    let stays = current.filter(|&at| !question.latest || withdrawn.is_some() || !is_latest(at));
    if let Some(fit) = stays.map(|at| &fitting[at]) {
        let why = format!("{} is installed and fits Kubernetes {reported}{}", fit.version, fit.remark());
        return Ok(Choice { index: fit.index, why });
    }
    if let Some(fit) = fitting.first() {
        let range = question.wanted.map_or_else(String::new, |range| format!(" in {range}"));
        let why = format!("{} is the newest{range} that fits Kubernetes {reported}{}", fit.version, fit.remark());
        return Ok(Choice { index: fit.index, why });
    }
    Err(none_fits(question, mismatches))
}

/// Why a version is not chosen anew because of its state; none where it can be.
fn state_mismatch(question: &Question, candidate: &Candidate) -> Option<Mismatch> {
    let state = candidate.state;
    matches!(state, VersionState::Yanked | VersionState::Withdrawn).then(|| Mismatch::State {
        version: format!("{} {}", question.extension, candidate.version),
        state,
        note: candidate.note.map(str::to_owned),
    })
}

/// Why a version cannot replace the installed one in place; none where it can.
fn upgrade_mismatch(
    question: &Question,
    candidate: &Candidate,
    version: &Version,
) -> Result<Option<Mismatch>, ResolveError> {
    let Some(installed) = question.installed.and_then(|text| Version::parse(text).ok()) else { return Ok(None) };
    let name = format!("{} {}", question.extension, candidate.version);
    let is_allowed = match candidate.replaces {
        _ if installed == *version => true,
        Some(range) => parse_range(range, &format!("upgradeFrom of {name}"))?.matches(&installed),
        None => installed.major() == version.major(),
    };
    Ok((!is_allowed).then(|| Mismatch::Upgrade { version: name, installed: installed.to_string() }))
}

/// Why a version does not run on the cluster's Kubernetes; none where it does.
fn kubernetes_mismatch(
    question: &Question,
    candidate: &Candidate,
    cluster: &Version,
) -> Result<Option<Mismatch>, ResolveError> {
    let Some(range) = candidate.kubernetes else { return Ok(None) };
    let name = format!("{} {}", question.extension, candidate.version);
    let fits = parse_range(range, &format!("the Kubernetes range of {name}"))?.matches(cluster);
    Ok((!fits).then(|| Mismatch::Kubernetes {
        version: name,
        range: range.to_owned(),
        kubernetes: question.kubernetes.to_owned(),
    }))
}

/// At most this many versions are listed in an error.
const LISTED: usize = 5;

fn none_fits(question: &Question, mismatches: Vec<(Version, Mismatch)>) -> ResolveError {
    if let Some((_, mismatch)) =
        mismatches.into_iter().reduce(|newest, other| if other.0 > newest.0 { other } else { newest })
    {
        return ResolveError::NoneFits(mismatch);
    }
    let extension = question.extension.to_owned();
    let available: Vec<String> =
        question.versions.iter().take(LISTED).map(|candidate| candidate.version.to_owned()).collect();
    match question.wanted {
        Some(range) if !available.is_empty() => {
            ResolveError::NotInRange { extension, range: range.to_owned(), available }
        }
        _ => ResolveError::NoVersions(extension),
    }
}

fn parse_range(range: &str, subject: &str) -> Result<Range, ResolveError> {
    Range::parse(range).map_err(|error| ResolveError::Range { subject: subject.to_owned(), error })
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn version<'a>(version: &'a str, kubernetes: &'a str, replaces: Option<&'a str>) -> Candidate<'a> {
        let (state, note, offered) = (VersionState::Listed, None, true);
        Candidate { version, kubernetes: Some(kubernetes), replaces, state, note, offered }
    }

    const VERSIONS: [Candidate<'static>; 3] = [
        version("1.9.0", ">=1.30 <1.36", None),
        version("1.10.0", ">=1.33 <1.37", None),
        version("2.0.0", ">=1.36", Some(">=1.10")),
    ];

    fn ask<'a>(kubernetes: &'a str, wanted: Option<&'a str>, installed: Option<&'a str>) -> Question<'a> {
        let versions = &VERSIONS;
        Question { extension: "web", versions, wanted, kubernetes, installed, latest: false, stays_on_withdrawn: false }
    }

    fn answer(question: &Question) -> String {
        choose(question).map_or_else(|error| format!("no: {error}"), |choice| choice.why)
    }

    #[test]
    fn the_newest_that_fits_is_chosen_and_an_installed_one_stays() {
        let rows = [
            (ask("v1.36.3", None, None), "2.0.0 is the newest that fits Kubernetes v1.36.3"),
            (ask("v1.35.4+k3s1", None, None), "1.10.0 is the newest that fits Kubernetes v1.35.4+k3s1"),
            (ask("v1.36.3", Some("1.x"), None), "1.10.0 is the newest in 1.x that fits Kubernetes v1.36.3"),
            (ask("v1.36.3", None, Some("1.10.0")), "1.10.0 is installed and fits Kubernetes v1.36.3"),
            (ask("v1.36.3", None, Some("1.9.0")), "1.10.0 is the newest that fits Kubernetes v1.36.3"),
        ];
        for (question, expected) in rows {
            assert_eq!(answer(&question), expected);
        }
    }

    #[test]
    fn latest_upgrades_the_installed_version() {
        let question = Question { latest: true, ..ask("v1.36.3", None, Some("1.10.0")) };
        assert_eq!(answer(&question), "2.0.0 is the newest that fits Kubernetes v1.36.3");
    }

    #[test]
    fn another_major_version_replaces_only_its_upgrade_from() {
        let mut versions = VERSIONS;
        versions[2].replaces = None;
        let question = Question { versions: &versions, latest: true, ..ask("v1.36.3", None, Some("1.10.0")) };
        assert_eq!(answer(&question), "1.10.0 is the newest that fits Kubernetes v1.36.3");
        let question = Question { wanted: Some("2.x"), ..question };
        let expected = "no: web 2.0.0 does not replace 1.10.0 in place: install it side by side under another name; \
                        no other version fits either";
        assert_eq!(answer(&question), expected);
    }

    #[test]
    fn errors_explain_why_no_version_fits() {
        let rows = [
            (
                ask("v1.29.1", None, None),
                "no: web 2.0.0 needs Kubernetes >=1.36, the cluster is v1.29.1; no other version fits either",
            ),
            (ask("v1.36.3", Some("3.x"), None), "no: no version of web is in 3.x; available: 1.9.0, 1.10.0, 2.0.0"),
            (
                ask("v1.37.0", Some("1.x"), None),
                "no: web 1.10.0 needs Kubernetes >=1.33 <1.37, the cluster is v1.37.0; no other version fits either",
            ),
        ];
        for (question, expected) in rows {
            assert_eq!(answer(&question), expected);
        }
        assert_eq!(
            answer(&Question { versions: &[], ..ask("v1.36.3", None, None) }),
            "no: extension web has no versions"
        );
    }

    /// The answer where the versions 1.0.0, 1.1.0 and 1.2.0 have these states, each with the note `n`.
    fn with_states(states: [VersionState; 3], question: &Question) -> String {
        let mut versions = ["1.0.0", "1.1.0", "1.2.0"].map(|text| version(text, ">=1.30", None));
        for (version, state) in versions.iter_mut().zip(states) {
            (version.state, version.note) = (state, Some("n"));
        }
        answer(&Question { versions: &versions, ..*question })
    }

    #[test]
    fn the_state_of_a_version_decides_whether_it_is_chosen_anew() {
        use VersionState::{Deprecated, Listed, Withdrawn, Yanked};
        let none = ask("v1.36.3", None, None);
        let has = |installed| ask("v1.36.3", None, Some(installed));
        let fits = "that fits Kubernetes v1.36.3";
        let rows = [
            ([Listed, Listed, Yanked], none, format!("1.1.0 is the newest {fits}")),
            ([Listed, Deprecated, Withdrawn], none, format!("1.0.0 is the newest {fits}")),
            ([Yanked, Deprecated, Withdrawn], none, format!("1.1.0 is the newest {fits}; it is deprecated (n)")),
            (
                [Yanked, Yanked, Withdrawn],
                none,
                "no: web 1.2.0 is withdrawn (n); no other version fits either".to_owned(),
            ),
            ([Yanked, Listed, Listed], has("1.0.0"), {
                "1.0.0 is installed and fits Kubernetes v1.36.3; it is yanked (n)".to_owned()
            }),
            ([Withdrawn, Listed, Yanked], has("1.0.0"), format!("1.0.0 is withdrawn (n); 1.1.0 is the newest {fits}")),
            ([Withdrawn, Yanked, Yanked], has("1.0.0"), {
                "1.0.0 is installed and no other version fits; it is withdrawn (n)".to_owned()
            }),
            (
                [Withdrawn, Listed, Listed],
                Question { stays_on_withdrawn: true, ..has("1.0.0") },
                "1.0.0 is installed and fits Kubernetes v1.36.3; it is withdrawn (n)".to_owned(),
            ),
        ];
        for (states, question, expected) in rows {
            assert_eq!(with_states(states, &question), expected, "{states:?}");
        }
    }

    #[test]
    fn latest_does_not_downgrade_to_avoid_a_deprecated_version() {
        use VersionState::{Deprecated, Listed};
        let question = Question { latest: true, ..ask("v1.36.3", None, Some("1.2.0")) };
        let expected = "1.2.0 is installed and fits Kubernetes v1.36.3; it is deprecated (n)";
        assert_eq!(with_states([Listed, Listed, Deprecated], &question), expected);
    }

    #[test]
    fn another_build_of_the_installed_version_is_another_version() {
        use VersionState::{Listed, Withdrawn, Yanked};
        let builds = |states: [VersionState; 2]| {
            let mut versions = ["1.2.3+6", "1.2.3+5"].map(|text| version(text, ">=1.30", None));
            (versions[0].state, versions[1].state) = (states[0], states[1]);
            versions
        };
        let installed = ask("v1.36.3", None, Some("1.2.3+5"));
        let rows = [
            ([Listed, Listed], installed, "1.2.3+5 is installed and fits Kubernetes v1.36.3"),
            ([Listed, Listed], Question { latest: true, ..installed }, {
                "1.2.3+5 is the newest that fits Kubernetes v1.36.3"
            }),
            ([Yanked, Listed], installed, "1.2.3+5 is installed and fits Kubernetes v1.36.3"),
            ([Withdrawn, Yanked], installed, "1.2.3+5 is installed and fits Kubernetes v1.36.3; it is yanked"),
            ([Listed, Withdrawn], installed, {
                "1.2.3+5 is withdrawn; 1.2.3+6 is the newest that fits Kubernetes v1.36.3"
            }),
        ];
        for (states, question, expected) in rows {
            assert_eq!(answer(&Question { versions: &builds(states), ..question }), expected, "{states:?}");
        }
        let mut lost = builds([Listed, Listed]);
        lost[1].offered = false;
        assert_eq!(
            answer(&Question { versions: &lost, ..installed }),
            "1.2.3+5 is installed and fits Kubernetes v1.36.3; the catalog no longer offers it"
        );
        // A release of another client has its version as the chart writes it.
        let question = Question { versions: &builds([Yanked, Yanked])[1..], ..ask("v1.36.3", None, Some("v1.2.3")) };
        assert_eq!(answer(&question), "1.2.3+5 is installed and fits Kubernetes v1.36.3; it is yanked");
    }

    #[test]
    fn a_lost_version_stays_installed_and_is_replaced_only_on_request() {
        let mut versions = [version("1.0.0", ">=1.30", None), version("1.1.0", ">=1.30", None)];
        versions[1].offered = false;
        let question = Question { versions: &versions, ..ask("v1.36.3", None, Some("1.1.0")) };
        let stays = "1.1.0 is installed and fits Kubernetes v1.36.3; the catalog no longer offers it";
        assert_eq!(answer(&question), stays);
        let question = Question { wanted: Some("1.0.0"), ..question };
        assert_eq!(answer(&question), "1.0.0 is the newest in 1.0.0 that fits Kubernetes v1.36.3");
    }

    #[test]
    fn a_lost_version_that_is_withdrawn_is_left() {
        let mut versions = [version("1.0.0", ">=1.30", None), version("1.1.0", ">=1.30", None)];
        (versions[1].offered, versions[1].state, versions[1].note) = (false, VersionState::Withdrawn, Some("CVE-1"));
        let question = Question { versions: &versions, ..ask("v1.36.3", None, Some("1.1.0")) };
        let left = "1.1.0 is withdrawn (CVE-1); 1.0.0 is the newest that fits Kubernetes v1.36.3";
        assert_eq!(answer(&question), left);
        let question = Question { versions: &versions[1..], ..question };
        let stays = "1.1.0 is installed and no other version fits; it is withdrawn (CVE-1), and the catalog no longer offers it";
        assert_eq!(answer(&question), stays);
    }
}
