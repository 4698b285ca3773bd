//! Plain charts as extensions: a chart without a definition becomes one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fitout_helm_ranges::Version;
use fitout_model::{
    Digest, FileMap, Package, Problem, VersionState, VersionStateRule, check_package_size, pack_files, parse_definition,
};
use fitout_repositories::chart_version;
use fitout_snapshot::{
    CHANGELOG, ChartDefinition, ChartLocation, ChartVersion, chart_definition, chart_definitions, extension_of,
};
use serde_json::{Value, json};

use crate::extension::too_many_versions;
use crate::{SourceExtension, VERSIONS};

/// The folder or archive of a chart in its package.
const CHART: &str = "chart";

/// A chart with its files, which are in the package under `chart/`.
#[derive(Debug)]
pub struct LocalChart {
    /// The folder, for messages.
    pub folder: String,
    /// `Chart.yaml`.
    pub metadata: Value,
    /// The files of its package: `chart/…`, or an archive as `chart`.
    pub files: FileMap,
}

/// The charts among the files of a source, by name, and the files that belong to none. A chart is a folder with a
/// `Chart.yaml` that is in no other chart and belongs to no definition.
pub(crate) fn take_charts(files: FileMap) -> (BTreeMap<String, Vec<LocalChart>>, FileMap) {
    let definitions: BTreeSet<&str> =
        files.keys().filter_map(|path| path.strip_suffix("definition.yaml")).filter(|path| depth(path) == 2).collect();
    let mut folders: Vec<String> = vec![];
    for path in files.keys() {
        let Some(folder) = path.strip_suffix("Chart.yaml").filter(|path| path.is_empty() || path.ends_with('/')) else {
            continue;
        };
        let is_below = |other: &&str| folder.starts_with(*other);
        if !definitions.iter().any(is_below) {
            folders.push(folder.to_owned());
        }
    }
    folders.sort_by_key(String::len);
    let mut outer: Vec<String> = vec![];
    for folder in folders {
        if !outer.iter().any(|other| folder.starts_with(other.as_str())) {
            outer.push(folder);
        }
    }
    let (mut of_chart, mut rest): (BTreeMap<String, FileMap>, FileMap) = Default::default();
    for (path, content) in files {
        match outer.iter().find(|folder| path.starts_with(folder.as_str())) {
            Some(folder) => {
                let inner = format!("{CHART}/{}", &path[folder.len()..]);
                of_chart.entry(folder.clone()).or_default().insert(inner, content);
            }
            None => drop(rest.insert(path, content)),
        }
    }
    let mut charts: BTreeMap<String, Vec<LocalChart>> = BTreeMap::new();
    for (folder, files) in of_chart {
        let text = files.get("chart/Chart.yaml").and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default();
        // A chart that cannot be read is reported with its folder as its name.
        let metadata = fitout_go_yaml::from_yaml(text).unwrap_or_default();
        let name = metadata["name"].as_str().unwrap_or(folder.trim_end_matches('/')).to_owned();
        charts.entry(name).or_default().push(LocalChart { folder, metadata, files });
    }
    (charts, rest)
}

fn depth(folder: &str) -> usize {
    folder.matches('/').count()
}

/// The extension of a chart in several versions, each with its files.
///
/// The first folder by name of those with the same version counts, and the others are a problem.
pub(crate) fn local(name: &str, mut charts: Vec<LocalChart>) -> SourceExtension {
    charts.sort_by(|a, b| a.folder.cmp(&b.folder));
    let mut extension = SourceExtension::default();
    let mut versions = vec![];
    let mut folders: Vec<(semver::Version, String)> = vec![];
    for chart in charts {
        let place = format!("{name}/{}", chart.folder);
        let files = chart.files.iter().map(|(path, content)| (path.as_str(), content.as_slice()));
        // Without the definition, which is made of them.
        let published = Digest::of(pack_files(files));
        let folder = chart.folder.clone();
        match read(chart) {
            Ok(ReadChart { package, version, problems }) => {
                let of = &package.definition;
                extension.problems.extend(problems.into_iter().map(|problem| (place.clone(), problem)));
                if let Some((same, first)) = folders.iter().find(|(same, _)| same.cmp_precedence(&of.version).is_eq()) {
                    let place = format!("{name}/{}", of.version);
                    extension.problems.push((place, duplicate(&folder, &package, first, same)));
                    continue;
                }
                folders.push((of.version.clone(), folder));
                extension.published.insert(of.version.clone(), published);
                if version.deprecated {
                    extension.states.push(deprecated(&of.extension, &of.version.to_string()));
                }
                versions.push(version);
                extension.packages.push(Arc::new(package));
            }
            Err(problem) => extension.problems.push((place, problem)),
        }
    }
    sort(&mut extension);
    describe(&mut extension, &versions);
    extension
}

fn duplicate(folder: &str, package: &Package, first: &str, same: &semver::Version) -> Problem {
    let version = &package.definition.version;
    let but = if version == same { "" } else { " but for build metadata" };
    let problem = Problem {
        field: "version".to_owned(),
        message: format!("{version} equals that of {first}Chart.yaml{but}, which counts"),
        hint: Some("raise the version, or remove one of the charts".to_owned()),
    };
    problem.in_file(&format!("{folder}Chart.yaml"), metadata_text(&package.files).unwrap_or_default())
}

/// The package of a chart that is in the package itself, and the chart's metadata.
pub fn package(chart: LocalChart) -> Result<(Package, ChartVersion), Problem> {
    read(chart).map(|read| (read.package, read.version))
}

/// A chart whose files are in its package.
struct ReadChart {
    package: Package,
    version: ChartVersion,
    /// The problems of fields that are left out.
    problems: Vec<Problem>,
}

fn read(chart: LocalChart) -> Result<ReadChart, Problem> {
    let LocalChart { folder, metadata, mut files } = chart;
    let file = format!("{folder}Chart.yaml");
    let text = metadata_text(&files).ok_or_else(|| Problem {
        field: file.clone(),
        message: "it is not UTF-8".to_owned(),
        hint: Some("save it as UTF-8".to_owned()),
    })?;
    fitout_go_yaml::from_yaml(text).map_err(|error| Problem::of_yaml(&file, &error))?;
    let in_chart = |problem: Problem| problem.in_file(&file, text);
    let version = chart_version(metadata).map_err(in_chart)?;
    if version.library {
        let message = "it is a library chart, which cannot be installed".to_owned();
        let hint = Some("leave it out of the catalog".to_owned());
        return Err(in_chart(Problem { field: "type".to_owned(), message, hint }));
    }
    // The address is replaced below.
    let location = ChartLocation { repository: "https://charts.invalid", chart: &version.name };
    let mut problems = vec![];
    let definition = chart_definition(&version, &location, &mut problems);
    let mut problems: Vec<Problem> = problems.into_iter().map(in_chart).collect();
    let Some(mut definition) = definition else {
        // The last problem is the reason, and those before it are of fields that would be left out.
        return Err(problems.pop().unwrap_or_else(|| Problem {
            field: file.clone(),
            message: "no definition can be made of it".to_owned(),
            hint: Some("`fitout chart lint` says more".to_owned()),
        }));
    };
    let values = definition.document["spec"]["helm"]["values"].take();
    definition.document["spec"]["helm"] = json!({ "chart": CHART });
    if !values.is_null() {
        definition.document["spec"]["helm"]["values"] = values;
    }
    files.insert("definition.yaml".to_owned(), format!("{:#}\n", definition.document).into_bytes());
    files.extend(definition.changes.map(changelog));
    check_package_size("", &files).map_err(|problem| {
        // Its files are in a folder of the package, and nobody wrote the definition.
        let path = problem.field.strip_prefix("chart/").unwrap_or("Chart.yaml");
        Problem { field: format!("{folder}{path}"), ..problem }
    })?;
    let package = Package::of(parse_definition(&definition.document)?, files);
    Ok(ReadChart { package, version, problems })
}

/// The text of `Chart.yaml`, which is empty for an archive; none if it is not UTF-8.
fn metadata_text(files: &FileMap) -> Option<&str> {
    std::str::from_utf8(files.get("chart/Chart.yaml").map_or(&[][..], Vec::as_slice)).ok()
}

/// The extension of a chart in a repository.
pub(crate) fn remote(repository: &str, name: &str, mut versions: Vec<ChartVersion>) -> SourceExtension {
    let too_many = too_many_versions(extension_of(name), versions.len());
    keep_newest(&mut versions);
    let (definitions, found) = chart_definitions(&versions, &ChartLocation { repository, chart: name });
    let mut extension = SourceExtension::default();
    for ChartDefinition { document, definition, deprecated: is_deprecated, changes, published } in definitions {
        if is_deprecated {
            extension.states.push(deprecated(&definition.extension, &definition.version.to_string()));
        }
        extension.published.insert(definition.version.clone(), published);
        let files = changes.into_iter().map(changelog).collect();
        extension.packages.push(Arc::new(Package::of_document(definition, &document, files)));
    }
    let place = format!("{}/", extension_of(name));
    extension.problems = too_many.into_iter().chain(found).map(|problem| (place.clone(), problem)).collect();
    sort(&mut extension);
    describe(&mut extension, &versions);
    extension
}

/// Keeps the newest versions of a chart. A definition takes more memory than the entry of an index.
fn keep_newest(versions: &mut Vec<ChartVersion>) {
    if versions.len() > VERSIONS {
        // Of equal versions, the first counts, and this keeps their order.
        versions.sort_by_cached_key(|version| std::cmp::Reverse(Version::parse(&version.version).ok()));
        versions.truncate(VERSIONS);
    }
}

fn changelog(changes: String) -> (String, Vec<u8>) {
    (CHANGELOG.to_owned(), changes.into_bytes())
}

fn deprecated(extension: &str, version: &str) -> VersionStateRule {
    VersionStateRule {
        extension: extension.to_owned(),
        version: Some(version.to_owned()),
        state: VersionState::Deprecated,
        note: Some("its publisher has deprecated the chart".to_owned()),
    }
}

fn sort(extension: &mut SourceExtension) {
    extension.packages.sort_by(|a, b| a.definition.version.cmp(&b.definition.version));
}

/// Takes keywords and icon from the newest version that is no pre-release.
fn describe(extension: &mut SourceExtension, versions: &[ChartVersion]) {
    let parsed = versions.iter().filter_map(|version| Some((Version::parse(&version.version).ok()?, version)));
    let is_release = |version: &Version| version.prerelease().is_empty();
    let newest = parsed.max_by(|(a, _), (b, _)| is_release(a).cmp(&is_release(b)).then_with(|| a.cmp(b)));
    if let Some((_, newest)) = newest {
        let is_short = |word: &&String| !word.is_empty() && word.chars().count() <= 64;
        extension.keywords = newest.keywords.iter().filter(is_short).take(64).cloned().collect();
        extension.icon = newest.icon.clone().filter(|icon| icon.len() <= 1024);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charts_are_found_outside_of_definitions_and_other_charts() {
        let chart =
            |version: &str| format!("apiVersion: v2\nname: web\nversion: {version}\nkeywords: [tls]\n").into_bytes();
        let files = FileMap::from([
            ("charts/web/Chart.yaml".to_owned(), chart("1.0.0")),
            ("charts/web/charts/db/Chart.yaml".to_owned(), chart("9.0.0")),
            ("old/web/Chart.yaml".to_owned(), chart("0.9.0")),
            ("ext/1.0.0/definition.yaml".to_owned(), vec![]),
            ("ext/1.0.0/chart/Chart.yaml".to_owned(), chart("8.0.0")),
            ("README.md".to_owned(), vec![]),
        ]);
        let (mut charts, rest) = take_charts(files);
        assert_eq!(
            rest.keys().collect::<Vec<_>>(),
            ["README.md", "ext/1.0.0/chart/Chart.yaml", "ext/1.0.0/definition.yaml"]
        );
        let extension = local("web", charts.remove("web").unwrap());
        assert!(charts.is_empty() && extension.problems.is_empty(), "{extension:?}");
        let versions: Vec<String> =
            extension.packages.iter().map(|package| package.definition.version.to_string()).collect();
        assert_eq!(versions, ["0.9.0", "1.0.0"]);
        assert!(extension.packages[1].files.contains_key("chart/charts/db/Chart.yaml"));
        assert_eq!(extension.packages[1].definition.helm.as_ref().unwrap().chart, "chart");
        assert_eq!(extension.keywords, ["tls"]);
        let files = extension.packages[1].files.iter().filter(|(path, _)| path.starts_with("chart/"));
        let archive = pack_files(files.map(|(path, content)| (path.as_str(), content.as_slice())));
        assert_eq!(
            extension.published[&semver::Version::new(1, 0, 0)],
            Digest::of(archive),
            "what is made of it is left out"
        );
    }

    #[test]
    fn the_first_of_two_folders_with_the_same_version_counts() {
        let chart = |version: &str| format!("apiVersion: v2\nname: web\nversion: {version}\n").into_bytes();
        let files = FileMap::from([
            ("b/Chart.yaml".to_owned(), chart("1.0.0")),
            ("b/values.yaml".to_owned(), b"of: b\n".to_vec()),
            ("a/Chart.yaml".to_owned(), chart("1.0.0")),
            ("a/values.yaml".to_owned(), b"of: a\n".to_vec()),
            ("c/Chart.yaml".to_owned(), chart("1.0.0+2")),
            ("d/Chart.yaml".to_owned(), chart("1.1.0")),
        ]);
        let mut charts = take_charts(files).0.remove("web").unwrap();
        charts.reverse();
        let extension = local("web", charts);
        let versions: Vec<String> =
            extension.packages.iter().map(|package| package.definition.version.to_string()).collect();
        assert_eq!(versions, ["1.0.0", "1.1.0"]);
        assert_eq!(extension.packages[0].files["chart/values.yaml"], b"of: a\n");
        let problems: Vec<String> =
            extension.problems.iter().map(|(place, problem)| format!("{place} {problem}")).collect();
        let hint = "which counts; raise the version, or remove one of the charts";
        assert_eq!(
            problems,
            [
                format!("web/1.0.0 b/Chart.yaml:3: version: 1.0.0 equals that of a/Chart.yaml, {hint}"),
                format!(
                    "web/1.0.0+2 c/Chart.yaml:3: version: 1.0.0+2 equals that of a/Chart.yaml but for build metadata, {hint}"
                ),
            ]
        );
    }
}
