//! Chooses the version of an extension for a cluster, or explains why none fits.

use fitout_helm_ranges::{Error as ParseError, Range, Version, kubernetes};

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
}

/// Chooses a version.
///
/// The installed version stays as long as it fits, unless the latest is requested; otherwise the newest that fits is chosen.
pub fn choose(question: &Question) -> Result<Choice, ResolveError> {
    let reported = question.kubernetes;
    let cluster = kubernetes(reported)
        .map_err(|error| ResolveError::KubernetesVersion { version: reported.to_owned(), error })?;
    let requested = question.wanted.map(|range| parse_range(range, "the requested version")).transpose()?;
    let mut fitting = Vec::new();
    let mut mismatches = Vec::new();
    for (index, candidate) in question.versions.iter().enumerate() {
        let Ok(version) = Version::parse(candidate.version) else { continue };
        if requested.as_ref().is_some_and(|range| !range.matches(&version)) {
            continue;
        }
        if let Some(mismatch) = upgrade_mismatch(question, candidate, &version)? {
            mismatches.push((version, mismatch));
        } else if let Some(mismatch) = kubernetes_mismatch(question, candidate, &cluster)? {
            mismatches.push((version, mismatch));
        } else {
            fitting.push((version, index));
        }
    }
    fitting.sort_by(|a, b| b.0.cmp(&a.0));
    let is_installed = |(version, _): &&(Version, usize)| {
        question.installed.and_then(|text| Version::parse(text).ok()).is_some_and(|installed| installed == *version)
    };
    if let Some((version, index)) = fitting.iter().find(is_installed).filter(|_| !question.latest) {
        return Ok(Choice { index: *index, why: format!("{version} is installed and fits Kubernetes {reported}") });
    }
    if let Some((version, index)) = fitting.first() {
        let range = question.wanted.map_or_else(String::new, |range| format!(" in {range}"));
        return Ok(Choice {
            index: *index,
            why: format!("{version} is the newest{range} that fits Kubernetes {reported}"),
        });
    }
    Err(none_fits(question, mismatches))
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

    const VERSIONS: [Candidate<'static>; 3] = [
        Candidate { version: "1.9.0", kubernetes: Some(">=1.30 <1.36"), replaces: None },
        Candidate { version: "1.10.0", kubernetes: Some(">=1.33 <1.37"), replaces: None },
        Candidate { version: "2.0.0", kubernetes: Some(">=1.36"), replaces: Some(">=1.10") },
    ];

    fn ask<'a>(kubernetes: &'a str, wanted: Option<&'a str>, installed: Option<&'a str>) -> Question<'a> {
        Question { extension: "web", versions: &VERSIONS, wanted, kubernetes, installed, latest: false }
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
}
