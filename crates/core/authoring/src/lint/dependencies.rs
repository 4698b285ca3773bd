//! Between the extensions of a catalog: every dependency is offered, and none needs itself.

use std::collections::{BTreeMap, BTreeSet};

use fitout_helm_ranges::{Range, Version};
use fitout_model::{Definition, Dependency, nearest};

use super::{Finding, Severity, Subject};

pub(super) fn check(subjects: &[Subject], offered: &[Definition]) -> Vec<Finding> {
    let all: Vec<&Definition> = subjects.iter().map(|subject| &subject.definition).chain(offered).collect();
    let offers = Offers::of(&all);
    let mut findings = Vec::new();
    for subject in subjects {
        for (index, dependency) in subject.definition.dependencies.iter().enumerate() {
            let field = format!("spec.dependencies[{index}]");
            if let Some((message, remedy)) = offers.absence(dependency) {
                let severity = if dependency.optional { Severity::Warning } else { Severity::Error };
                findings.push(subject.finding(severity, &field, message, &remedy));
            }
        }
    }
    findings.extend(cycles(subjects, &offers));
    findings
}

/// The versions that a name stands for: those of an extension, or of all that provide a capability.
struct Offers<'d> {
    names: BTreeMap<&'d str, Vec<&'d Definition>>,
}

impl<'d> Offers<'d> {
    fn of(all: &[&'d Definition]) -> Self {
        let mut names: BTreeMap<&str, Vec<&Definition>> = BTreeMap::new();
        for definition in all {
            let provided = definition.provides.iter().map(String::as_str);
            for name in provided.chain([definition.extension.as_str()]) {
                names.entry(name).or_default().push(definition);
            }
        }
        Self { names }
    }

    /// The definitions that satisfy a dependency.
    fn satisfying(&self, dependency: &Dependency) -> impl Iterator<Item = &'d Definition> {
        let range = dependency.version.as_ref().and_then(|range| Range::parse(range).ok());
        let fits = move |definition: &&&Definition| {
            let version = Version::parse(&definition.version.to_string());
            range.as_ref().is_none_or(|range| version.is_ok_and(|version| range.matches(&version)))
        };
        self.names.get(dependency.name.as_str()).into_iter().flatten().filter(fits).copied()
    }

    /// Why a dependency is not offered, with the remedy; none where it is.
    fn absence(&self, dependency: &Dependency) -> Option<(String, String)> {
        if self.satisfying(dependency).next().is_some() {
            return None;
        }
        let (name, range) = (&dependency.name, dependency.version.as_deref().unwrap_or_default());
        let Some(offered) = self.names.get(name.as_str()) else {
            let remedy = nearest(name, self.names.keys().copied()).map_or_else(
                || "add it to the catalog, or give the catalog that offers it with --catalog".to_owned(),
                |meant| format!("did you mean {meant}?"),
            );
            return Some((format!("no catalog offers {name}"), remedy));
        };
        let mut versions: Vec<&semver::Version> = offered.iter().map(|definition| &definition.version).collect();
        versions.sort();
        let newest = versions.last().map(ToString::to_string).unwrap_or_default();
        let message = format!("no catalog offers {name} {range}; its newest version is {newest}");
        Some((message, "correct the range, or add such a version".to_owned()))
    }
}

/// The cycles of dependencies, named from their first extension in alphabetical order.
///
/// An extension is in a cycle when all versions that satisfy a dependency lead back to it, or some do: a resolver may have
/// no other choice.
fn cycles(subjects: &[Subject], offers: &Offers) -> Vec<Finding> {
    let mut edges: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for subject in subjects {
        let needed = subject.definition.dependencies.iter().flat_map(|dependency| offers.satisfying(dependency));
        let needed = needed.map(|definition| definition.extension.as_str());
        edges.entry(&subject.definition.extension).or_default().extend(needed);
    }
    let finding = |cycle: Vec<&str>| {
        let next = *cycle.get(1).unwrap_or(&cycle[0]);
        let leads =
            |dependency: &Dependency| offers.satisfying(dependency).any(|definition| definition.extension == next);
        let of_first = subjects.iter().filter(|subject| subject.definition.extension == cycle[0]);
        let leading = of_first.filter_map(|subject| {
            let index = subject.definition.dependencies.iter().position(leads)?;
            Some((subject, index))
        });
        let (subject, index) = leading.max_by(|(a, _), (b, _)| a.definition.version.cmp(&b.definition.version))?;
        let path = cycle.iter().chain(cycle.first()).copied().collect::<Vec<_>>().join(" → ");
        let (field, message) = (format!("spec.dependencies[{index}]"), format!("a cycle of dependencies: {path}"));
        let remedy = "remove one of these dependencies, or name it in spec.suggests";
        Some(subject.finding(Severity::Error, &field, message, remedy))
    };
    fitout_model::cycles(&edges).into_iter().filter_map(finding).collect()
}
