//! Between the versions of an extension: no two are equal, and each leads to the newest of its major version.

use std::collections::BTreeMap;

use fitout_helm_ranges::{Range, Version};
use fitout_model::Definition;

use super::{Finding, Severity, Subject};

pub(super) fn check(subjects: &[Subject]) -> Vec<Finding> {
    let mut extensions: BTreeMap<&str, Vec<&Subject>> = BTreeMap::new();
    for subject in subjects {
        extensions.entry(&subject.definition.extension).or_default().push(subject);
    }
    extensions.into_values().flat_map(of_extension).collect()
}

fn of_extension(mut versions: Vec<&Subject>) -> Vec<Finding> {
    versions.sort_by(|one, other| one.definition.version.cmp(&other.definition.version));
    let mut findings = Vec::new();
    for pair in versions.windows(2) {
        let (one, other) = (&pair[0].definition.version, &pair[1].definition.version);
        if one.cmp_precedence(other).is_eq() {
            let message =
                format!("{one} and {other} are the same version: build metadata does not distinguish versions");
            findings.push(pair[1].finding(
                Severity::Error,
                "spec.version",
                message,
                "give one of them another version",
            ));
        }
    }
    let mut lines: BTreeMap<u64, Vec<&Subject>> = BTreeMap::new();
    for subject in versions {
        lines.entry(subject.definition.version.major).or_default().push(subject);
    }
    findings.extend(lines.into_values().flat_map(stranded));
    findings
}

/// A version with the versions that it replaces.
struct Step<'s, 'd> {
    subject: &'s Subject<'d>,
    version: Version,
    from: Option<Range>,
}

impl Step<'_, '_> {
    fn replaces(&self, version: &Version) -> bool {
        self.from.as_ref().map_or(version.major() == self.version.major(), |range| range.matches(version))
    }
}

/// The versions of one major version from which no path of upgrades leads to the newest one.
fn stranded(line: Vec<&Subject>) -> Vec<Finding> {
    let mut steps: Vec<Step> = line.into_iter().filter_map(step).collect();
    // Users of releases are not upgraded to pre-releases.
    if steps.iter().any(|step| step.subject.definition.version.pre.is_empty()) {
        steps.retain(|step| step.subject.definition.version.pre.is_empty());
    }
    let Some(newest) = steps.pop() else { return vec![] };
    let target = newest.subject.definition.version.to_string();
    let mut findings = Vec::new();
    // The versions that lead to the newest one. The newest comes first, because it is most often the next step.
    let mut leading = vec![newest];
    while let Some(step) = steps.pop() {
        if leading.iter().any(|next| next.replaces(&step.version)) {
            leading.push(step);
        } else {
            let Definition { extension, version, .. } = &step.subject.definition;
            let message =
                format!("no upgrade leads from {extension} {version} to {target}, the newest of its major version");
            let remedy = format!("widen spec.upgradeFrom of {target}, or add a version between them");
            findings.push(step.subject.finding(Severity::Error, "spec.version", message, &remedy));
        }
    }
    findings
}

fn step<'s, 'd>(subject: &'s Subject<'d>) -> Option<Step<'s, 'd>> {
    let definition = &subject.definition;
    let version = Version::parse(&definition.version.to_string()).ok()?;
    let from = definition.upgrade_from.as_ref().and_then(|range| Range::parse(range).ok());
    Some(Step { subject, version, from })
}
