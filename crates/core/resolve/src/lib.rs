//! Which version of an extension fits a cluster, and why not the others.

use fitout_helm_ranges::{Range, Version, kubernetes};

/// What there is to choose from, and for what.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The extension's name.
    pub extension: &'a str,
    /// Its versions, in any order.
    pub versions: &'a [Candidate<'a>],
    /// The range that was asked for.
    pub wanted: Option<&'a str>,
    /// The cluster's Kubernetes version, as the cluster says it.
    pub kubernetes: &'a str,
    /// The version that is installed.
    pub installed: Option<&'a str>,
    /// Whether a newer version that fits is taken, or only one that has to be.
    pub latest: bool,
}

/// One version of an extension.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The version.
    pub version: &'a str,
    /// The Kubernetes versions it is for.
    pub kubernetes: Option<&'a str>,
    /// The versions it may replace in place; none: those of the same major.
    pub replaces: Option<&'a str>,
}

/// The version that was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Its place among the candidates.
    pub index: usize,
    /// Why it is this one.
    pub why: String,
}

/// Chooses a version, or says in a sentence why there is none.
///
/// What is installed stays as long as it fits, unless the latest is asked for; otherwise the newest that fits is taken.
pub fn choose(question: &Question) -> Result<Choice, String> {
    let said = question.kubernetes;
    let cluster = kubernetes(said).map_err(|error| format!("the cluster's version {said} cannot be read: {error}"))?;
    let wanted = question.wanted.map(|range| read(range, "the version that is asked for")).transpose()?;
    let mut fitting = Vec::new();
    let mut reasons = Vec::new();
    for (index, candidate) in question.versions.iter().enumerate() {
        let Ok(version) = Version::parse(candidate.version) else { continue };
        if wanted.as_ref().is_some_and(|range| !range.matches(&version)) {
            continue;
        }
        if let Some(reason) = cannot_replace(question, candidate, &version)? {
            reasons.push((version, reason));
        } else if let Some(reason) = cannot_run(question, candidate, &cluster)? {
            reasons.push((version, reason));
        } else {
            fitting.push((version, index));
        }
    }
    fitting.sort_by(|a, b| b.0.cmp(&a.0));
    let stays = |(version, _): &&(Version, usize)| {
        question.installed.and_then(|text| Version::parse(text).ok()).is_some_and(|installed| installed == *version)
    };
    if let Some((version, index)) = fitting.iter().find(stays).filter(|_| !question.latest) {
        return Ok(Choice { index: *index, why: format!("{version} is installed and fits Kubernetes {said}") });
    }
    if let Some((version, index)) = fitting.first() {
        let asked = question.wanted.map_or_else(String::new, |range| format!(" in {range}"));
        return Ok(Choice {
            index: *index,
            why: format!("{version} is the newest{asked} that fits Kubernetes {said}"),
        });
    }
    Err(explain(question, reasons))
}

/// Why a version may not take the place of the one that is installed.
fn cannot_replace(question: &Question, candidate: &Candidate, version: &Version) -> Result<Option<String>, String> {
    let Some(installed) = question.installed.and_then(|text| Version::parse(text).ok()) else { return Ok(None) };
    let what = format!("{} {}", question.extension, candidate.version);
    let allowed = match candidate.replaces {
        _ if installed == *version => true,
        Some(range) => read(range, &format!("upgradeFrom of {what}"))?.matches(&installed),
        None => installed.major() == version.major(),
    };
    let remedy = "install it side by side under another name";
    Ok((!allowed).then(|| format!("{what} does not replace {installed} in place: {remedy}")))
}

/// Why a version does not run on the cluster.
fn cannot_run(question: &Question, candidate: &Candidate, cluster: &Version) -> Result<Option<String>, String> {
    let Some(range) = candidate.kubernetes else { return Ok(None) };
    let what = format!("{} {}", question.extension, candidate.version);
    let fits = read(range, &format!("the range of {what}"))?.matches(cluster);
    Ok((!fits).then(|| format!("{what} needs Kubernetes {range}, the cluster is {}", question.kubernetes)))
}

fn explain(question: &Question, mut reasons: Vec<(Version, String)>) -> String {
    let Question { extension, wanted, .. } = question;
    reasons.sort_by(|a, b| b.0.cmp(&a.0));
    if let Some((_, reason)) = reasons.first() {
        return format!("{reason}; no other version fits either");
    }
    let mut all: Vec<&str> = question.versions.iter().map(|candidate| candidate.version).collect();
    all.truncate(5);
    match wanted {
        Some(range) if !all.is_empty() => {
            format!("no version of {extension} is in {range}; there are {}", all.join(", "))
        }
        _ => format!("there is no version of {extension}"),
    }
}

fn read(range: &str, what: &str) -> Result<Range, String> {
    Range::parse(range).map_err(|error| format!("{what} is no range: {error}"))
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
        choose(question).map_or_else(|said| format!("no: {said}"), |choice| choice.why)
    }

    #[test]
    fn the_newest_that_fits_is_taken_and_what_fits_stays() {
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
    fn the_latest_moves_on() {
        let question = Question { latest: true, ..ask("v1.36.3", None, Some("1.10.0")) };
        assert_eq!(answer(&question), "2.0.0 is the newest that fits Kubernetes v1.36.3");
    }

    #[test]
    fn another_major_replaces_only_what_it_says() {
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
    fn what_does_not_fit_is_explained() {
        let rows = [
            (
                ask("v1.29.1", None, None),
                "no: web 2.0.0 needs Kubernetes >=1.36, the cluster is v1.29.1; no other version fits either",
            ),
            (ask("v1.36.3", Some("3.x"), None), "no: no version of web is in 3.x; there are 1.9.0, 1.10.0, 2.0.0"),
            (
                ask("v1.37.0", Some("1.x"), None),
                "no: web 1.10.0 needs Kubernetes >=1.33 <1.37, the cluster is v1.37.0; no other version fits either",
            ),
        ];
        for (question, expected) in rows {
            assert_eq!(answer(&question), expected);
        }
        assert_eq!(answer(&Question { versions: &[], ..ask("v1.36.3", None, None) }), "no: there is no version of web");
    }
}
