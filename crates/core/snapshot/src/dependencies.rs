//! Cycles of dependencies between the extensions of a source.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fitout_helm_ranges::{Range, Version};
use fitout_model::{Package, Problem, cycles};

/// The names that an extension offers and needs: all that finding cycles takes of its versions.
#[derive(Clone, Debug)]
pub struct Dependencies {
    extension: String,
    /// The versions that stand for a name: that of the extension, or of a capability.
    offers: BTreeMap<String, Vec<Version>>,
    /// Each dependency once, with the place of the newest version that has it.
    needs: BTreeMap<Need, String>,
}

/// A name with a range of versions.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Need {
    name: String,
    range: Option<String>,
}

impl Dependencies {
    /// The dependencies of an extension's packages, ordered by version; none without a package. The definitions of charts
    /// are in no file that their publisher knows.
    pub fn of(packages: &[Arc<Package>], is_chart: bool) -> Option<Self> {
        let extension = packages.first()?.definition.extension.clone();
        let (mut offers, mut needs) = (BTreeMap::<String, Vec<Version>>::new(), BTreeMap::new());
        for package in packages.iter().rev() {
            let definition = &package.definition;
            if let Ok(version) = Version::parse(&definition.version.to_string()) {
                for name in definition.provides.iter().chain([&extension]) {
                    offers.entry(name.clone()).or_default().push(version.clone());
                }
            }
            for (index, dependency) in definition.dependencies.iter().enumerate() {
                let need = Need { name: dependency.name.clone(), range: dependency.version.clone() };
                needs.entry(need).or_insert_with(|| place(package, index, is_chart));
            }
        }
        Some(Self { extension, offers, needs })
    }

    /// Whether a version of this extension satisfies a dependency.
    fn satisfies(&self, name: &str, range: Option<&Range>) -> bool {
        let versions = self.offers.get(name).into_iter().flatten();
        versions.into_iter().any(|version| range.is_none_or(|range| range.matches(version)))
    }
}

/// The place of a dependency: its file with the line, or the version of the chart.
fn place(package: &Package, index: usize, is_chart: bool) -> String {
    let (extension, version) = (&package.definition.extension, &package.definition.version);
    if is_chart {
        return format!("{extension} {version}: dependencies");
    }
    let text = package.files.get("definition.yaml").and_then(|content| std::str::from_utf8(content).ok());
    let field = format!("spec.dependencies[{index}]");
    let problem = Problem { field, message: String::new(), hint: None };
    problem.in_file(&format!("{extension}/{version}/definition.yaml"), text.unwrap_or_default()).field
}

/// The comparisons of a dependency with an extension that offers its name. A catalog has some thousands, and one that has
/// more is not checked to the end.
const COMPARISONS: usize = 1_000_000;

/// The cycles of dependencies, each as a problem of its first extension in alphabetical order.
///
/// An extension is in a cycle when all versions that satisfy a dependency lead back to it, or some do: a resolver may have
/// no other choice.
pub fn dependency_cycles(all: &[Dependencies]) -> Vec<Problem> {
    let mut offering: BTreeMap<&str, Vec<&Dependencies>> = BTreeMap::new();
    for extension in all {
        for name in extension.offers.keys() {
            offering.entry(name).or_default().push(extension);
        }
    }
    let mut edges: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut left = COMPARISONS;
    for extension in all {
        let targets = edges.entry(&extension.extension).or_default();
        for need in extension.needs.keys() {
            let range = need.range.as_deref().and_then(|range| Range::parse(range).ok());
            let named = offering.get(need.name.as_str()).map_or(&[][..], Vec::as_slice);
            let Some(rest) = left.checked_sub(named.len()) else { break };
            left = rest;
            let satisfying = named.iter().filter(|other| other.satisfies(&need.name, range.as_ref()));
            targets.extend(satisfying.map(|other| other.extension.as_str()));
        }
    }
    let by_name: BTreeMap<&str, &Dependencies> = all.iter().map(|one| (one.extension.as_str(), one)).collect();
    let problem = |cycle: Vec<&str>| {
        let next = by_name.get(cycle.get(1).unwrap_or(&cycle[0]))?;
        let leads = |need: &Need| {
            let range = need.range.as_deref().and_then(|range| Range::parse(range).ok());
            next.satisfies(&need.name, range.as_ref())
        };
        let (_, place) = by_name.get(cycle[0])?.needs.iter().find(|(need, _)| leads(need))?;
        let path = cycle.iter().chain(cycle.first()).copied().collect::<Vec<_>>().join(" → ");
        Some(Problem {
            field: place.clone(),
            message: format!("a cycle of dependencies: {path}"),
            hint: Some("remove one of these dependencies, or name it in spec.suggests".to_owned()),
        })
    };
    cycles(&edges).into_iter().filter_map(problem).collect()
}

#[cfg(test)]
mod tests {
    use fitout_model::FileMap;

    use super::*;

    fn package(extension: &str, version: &str, fields: &str) -> Arc<Package> {
        let definition = format!(
            "apiVersion: fitout.dev/v1alpha1\nkind: ExtensionDefinition\nmetadata: {{ name: x }}\nspec:\n  \
             extension: {extension}\n  version: {version}\n  manifests: {{ path: m }}\n{fields}"
        );
        let files = FileMap::from([("definition.yaml".to_owned(), definition.into_bytes())]);
        Arc::new(Package::read("", files).unwrap())
    }

    fn found(extensions: &[&[(&str, &str, &str)]], is_chart: bool) -> Vec<String> {
        let of = |versions: &&[(&str, &str, &str)]| {
            let packages: Vec<_> =
                versions.iter().map(|(extension, version, fields)| package(extension, version, fields)).collect();
            Dependencies::of(&packages, is_chart).unwrap()
        };
        let all: Vec<Dependencies> = extensions.iter().map(of).collect();
        dependency_cycles(&all).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn cycles_name_the_newest_version_that_has_the_dependency() {
        let needs = |text: &str| format!("  dependencies:\n  - {{ name: other }}\n  - {{ {text} }}\n");
        let (b, c, a) = (needs("name: b, version: '>=1'"), needs("name: volumes"), needs("name: a"));
        let extensions: [&[(&str, &str, &str)]; 3] = [
            &[("b", "0.9.0", &a), ("b", "1.0.0", &c)],
            &[("a", "1.0.0", ""), ("a", "1.1.0", &b), ("a", "1.2.0", &b), ("a", "1.3.0", "")],
            &[("c", "1.0.0", &format!("{a}  provides: [volumes]\n"))],
        ];
        let path =
            "a cycle of dependencies: a → b → c → a; remove one of these dependencies, or name it in spec.suggests";
        assert!(
            found(&extensions, false).contains(&format!("a/1.2.0/definition.yaml:10: spec.dependencies[1]: {path}"))
        );
        assert!(found(&extensions, true).contains(&format!("a 1.2.0: dependencies: {path}")));
    }

    #[test]
    fn versions_that_are_not_needed_make_no_cycle() {
        let needs = |name: &str, range: &str| format!("  dependencies: [{{ name: {name}, version: '{range}' }}]\n");
        let (b, a) = (needs("b", ">=2"), needs("a", ">=1"));
        let extensions: [&[(&str, &str, &str)]; 2] = [&[("a", "1.0.0", &b)], &[("b", "1.0.0", &a)]];
        assert_eq!(found(&extensions, false), Vec::<String>::new());
    }
}
