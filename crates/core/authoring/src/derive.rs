//! Derives the definition of a chart from what it renders.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use fitout_engines::Environment;
use fitout_helm_chart::Chart;
use fitout_helm_ranges::Range;
use fitout_model::{
    Definition, Dependency, Digest, Gvk, Helm, Lifecycle, Package, Problem, Requirements, Scope, parse_definition,
};
use serde_json::Value;

use crate::document::write_definition;
use crate::footprint::{Footprint, is_pinned};
use crate::kubernetes::{Kubernetes, span};
use crate::range::{admitted, kubernetes_range};
use crate::rendering::{OTHER_RELEASE, Objects, Source, render};
use crate::{metadata, roles, schema};

/// The name of a definition's file.
pub(crate) const DEFINITION: &str = "definition.yaml";

/// The name of a schema's file.
const SCHEMA: &str = "values.schema.json";

/// The chart to derive a definition from.
#[derive(Clone, Copy, Debug)]
pub struct ChartSource<'a> {
    /// The chart.
    pub chart: &'a Chart,
    /// Its archive.
    pub archive: &'a [u8],
    /// The name of the archive.
    pub file_name: &'a str,
    /// The repository that offers the chart. Without one, the archive is put beside the definition.
    pub repository: Option<&'a str>,
    /// Whether the repository offers this very archive, so that its digest is known.
    pub is_published: bool,
}

/// A derived definition with its files.
#[derive(Clone, Debug)]
pub struct Derived {
    /// The definition.
    pub definition: Definition,
    /// The files of its directory, by path; `definition.yaml` is one of them.
    pub files: BTreeMap<String, Vec<u8>>,
    /// The facts that no chart shows, for a person to complete.
    pub notes: Vec<String>,
}

/// Derives a definition. It declares exactly what the chart writes and grants on any supported Kubernetes version, rendered
/// with these values under the extension's own name; [`crate::lint`] finds no error in it. It depends on those of the
/// `offered` extensions whose kinds it has objects of.
pub fn derive(
    source: &ChartSource,
    name: Option<&str>,
    values: &Value,
    offered: &[Definition],
    world: &Rc<dyn Environment>,
) -> Result<Derived, Problem> {
    let chart = source.chart;
    let mut definition = skeleton(source, name, values)?;
    valid_text(&definition, "")?;
    let mut files = BTreeMap::new();
    if source.repository.is_none() {
        files.insert(source.file_name.to_owned(), source.archive.to_vec());
    }
    let digest = Digest::of(source.archive);
    let rendered = {
        let none = Value::Object(serde_json::Map::new());
        let archive = source.repository.map(|_| source.archive);
        let source = Source { definition: &definition, files: &files, archive, values: &none, world, digest: &digest };
        let what = format!("chart {} {}", chart.metadata.name, chart.metadata.version);
        rendered(&source, &chart.metadata.kube_version, &what)?
    };
    let footprint = rendered.footprint;
    definition.kubernetes = Some(kubernetes_range(&rendered.fitting, &chart.metadata.kube_version));
    definition.singleton = rendered.is_singleton.then_some(true);
    let display_name = definition.display_name.clone().unwrap_or_default();
    definition.roles = roles::roles(&display_name, &footprint.crds);
    definition.menu = roles::menu(&footprint.crds);
    definition.images = footprint.images.iter().filter(|image| is_pinned(image)).cloned().collect();
    let defining = defining(&footprint.foreign, offered);
    let names: BTreeSet<&String> = defining.values().collect();
    definition.dependencies = names.into_iter().map(|name| dependency(name)).collect();
    let undefined = footprint.foreign.iter().filter(|gvk| !defining.contains_key(gvk.group.as_str()));
    let undefined: Vec<&Gvk> = undefined.collect();
    let notes = notes(chart, &footprint, &undefined, &rendered.excluded);
    definition.requirements = Some(footprint.into_requirements());
    if let Some(schema) = schema(chart) {
        definition.parameters = Some(SCHEMA.to_owned());
        files.insert(SCHEMA.to_owned(), schema);
    }
    let with = if definition.helm.as_ref().is_some_and(|helm| helm.values.is_some()) { "these" } else { "its default" };
    let comment =
        format!("Derived from chart {} {}, rendered with {with} values.", chart.name(), chart.metadata.version);
    files.insert(DEFINITION.to_owned(), valid_text(&definition, &comment)?.into_bytes());
    Ok(Derived { definition, files, notes })
}

/// The requirements of a package whose publisher has declared none: of what it renders with its own values on any Kubernetes
/// version that it supports. With them come the facts that no rendering shows.
pub fn requirements(
    package: &Package,
    archive: Option<&[u8]>,
    world: &Rc<dyn Environment>,
) -> Result<(Requirements, Vec<String>), Problem> {
    let definition = &package.definition;
    let none = Value::Object(serde_json::Map::new());
    let digest = archive.map_or_else(|| package.digest.clone(), Digest::of);
    let source = Source { definition, files: &package.files, archive, values: &none, world, digest: &digest };
    let what = format!("{} {}", definition.extension, definition.version);
    let footprint = rendered(&source, definition.kubernetes.as_deref().unwrap_or_default(), &what)?.footprint;
    let mut notes = vec!["no chart shows which hosts it connects to".to_owned()];
    let unknown = footprint.unknown_roles.iter();
    notes.extend(
        unknown.map(|role| format!("it binds {role}, which it does not contain: the rules of that role are unknown")),
    );
    Ok((footprint.into_requirements(), notes))
}

/// The document of a definition. A name or a value that no definition may have is a problem of its field.
pub(crate) fn valid_text(definition: &Definition, comment: &str) -> Result<String, Problem> {
    let text = write_definition(definition, &[comment.to_owned()]);
    parse_definition(&fitout_go_yaml::from_yaml_strict(&text).unwrap_or_default())?;
    Ok(text)
}

/// The definition with all that is known without a rendering.
fn skeleton(source: &ChartSource, name: Option<&str>, values: &Value) -> Result<Definition, Problem> {
    let metadata = &source.chart.metadata;
    let extension = name.map_or_else(|| metadata::extension_name(&metadata.name), str::to_owned);
    let version = metadata::version(&metadata.version).ok_or_else(|| Problem {
        field: format!("chart {}", metadata.name),
        message: format!("`{}` is not a version", metadata.version),
        hint: Some("correct it in Chart.yaml".to_owned()),
    })?;
    let is_remote = source.repository.is_some();
    let helm = Helm {
        chart: if is_remote { metadata.name.clone() } else { source.file_name.to_owned() },
        version: is_remote.then(|| metadata.version.clone()),
        repository: source.repository.map(str::to_owned),
        digest: (is_remote && source.is_published).then(|| Digest::of(source.archive).as_str().to_owned()),
        values: metadata::values(values),
    };
    let mut definition = Definition { helm: Some(helm), ..crate::blank(extension, version) };
    definition.lifecycle = Lifecycle::External;
    metadata::describe(&mut definition, metadata);
    Ok(definition)
}

/// Why supported versions do not fit: each reason with the minor versions.
type Excluded = BTreeMap<String, Vec<u64>>;

/// The reasons in sentences.
fn sentences(excluded: &Excluded) -> Vec<String> {
    let sentence = |(reason, minors): (&String, &Vec<u64>)| {
        let versions: Vec<String> = minors.iter().map(|minor| format!("1.{minor}")).collect();
        format!("on Kubernetes {}, {reason}", versions.join(", "))
    };
    excluded.iter().map(sentence).collect()
}

/// The results of rendering a chart for each supported version.
struct Renderings {
    fitting: Vec<&'static Kubernetes>,
    excluded: Excluded,
    footprint: Footprint,
    is_singleton: bool,
}

/// Renders for each supported Kubernetes version in a range; an empty range has all. Problems name `what`.
fn rendered(source: &Source, range: &str, what: &str) -> Result<Renderings, Problem> {
    let name = &source.definition.extension;
    let parsed = Range::parse(range).ok().filter(|_| !range.is_empty());
    let (mut fitting, mut excluded) = (Vec::new(), Excluded::new());
    let mut footprint = Footprint::default();
    let mut newest: Option<(&Kubernetes, String, Objects)> = None;
    let mut first_problem = None;
    for (kubernetes, version) in admitted(parsed.as_ref()) {
        let objects = match render(source, kubernetes, &version, name) {
            Ok(objects) => objects,
            Err(problem) => {
                excluded.entry(problem.to_string()).or_default().push(kubernetes.minor);
                first_problem.get_or_insert(problem);
                continue;
            }
        };
        let missing: BTreeSet<&Gvk> = objects.missing(kubernetes).map(|placed| &placed.id.gvk).collect();
        if missing.is_empty() {
            footprint = footprint.union(Footprint::of(&objects, kubernetes, name));
            fitting.push(kubernetes);
            newest = Some((kubernetes, version, objects));
        } else {
            let reason = format!("these kinds are not served: {}", kinds(missing));
            excluded.entry(reason).or_default().push(kubernetes.minor);
        }
    }
    let Some((kubernetes, version, objects)) = newest else {
        return Err(first_problem.map_or_else(|| none_fits(what, range, &excluded), with_remedy));
    };
    // A chart that accepts no other name is installed once.
    let is_singleton =
        render(source, kubernetes, &version, OTHER_RELEASE).map_or(true, |other| objects.shared_with(&other).is_some());
    Ok(Renderings { fitting, excluded, footprint, is_singleton })
}

/// The problem of a rendering, with what an author can do about it.
fn with_remedy(problem: Problem) -> Problem {
    let hint = "give the values that the chart needs with --set or --values, or correct the chart";
    Problem { hint: Some(hint.to_owned()), ..problem }
}

fn none_fits(what: &str, range: &str, excluded: &Excluded) -> Problem {
    let reason =
        if excluded.is_empty() { format!("its Kubernetes range is {range}") } else { sentences(excluded).join("; ") };
    Problem {
        field: what.to_owned(),
        message: format!("it fits none of the supported Kubernetes versions {}: {reason}", span()),
        hint: Some("choose a newer version of the chart".to_owned()),
    }
}

/// Kinds in a list, such as `policy/v1beta1 PodDisruptionBudget`.
pub(crate) fn kinds<'a>(gvks: impl IntoIterator<Item = &'a Gvk>) -> String {
    let names: Vec<String> = gvks.into_iter().map(|gvk| format!("{} {}", gvk.api_version(), gvk.kind)).collect();
    names.join(", ")
}

/// The schema of the chart with descriptions, or one that is derived from its values; none where it has no values.
fn schema(chart: &Chart) -> Option<Vec<u8>> {
    let text = chart.values_text();
    if let Some(schema) = &chart.schema {
        let parsed: Option<Value> = serde_json::from_slice(schema).ok();
        let described = parsed.zip(text).and_then(|(mut schema, text)| {
            schema::add_descriptions(&mut schema, &text).then(|| format!("{schema:#}\n").into_bytes())
        });
        return Some(described.unwrap_or_else(|| schema.to_vec()));
    }
    let text = text?;
    let values = fitout_go_yaml::from_yaml(&text).ok()?;
    if values.as_object().is_none_or(serde_json::Map::is_empty) {
        return None;
    }
    Some(format!("{:#}\n", schema::derived(&values, &text)).into_bytes())
}

/// The offered extension that defines each group of kinds, as its menu or its roles show.
fn defining<'f>(foreign: &'f BTreeSet<Gvk>, offered: &[Definition]) -> BTreeMap<&'f str, String> {
    let defines = |definition: &Definition, group: &str| {
        let entries = definition.menu.iter().flat_map(|menu| menu.values()).filter_map(Value::as_array).flatten();
        let mut crds = entries.filter_map(|entry| entry["crd"].as_str());
        let mut groups = definition.roles.iter().flat_map(|role| &role.rules).flat_map(|rule| &rule.api_groups);
        crds.any(|crd| crd.split_once('.').is_some_and(|(_, of_crd)| of_crd == group)) || groups.any(|one| one == group)
    };
    let find = |group: &str| offered.iter().find(|definition| defines(definition, group));
    let groups = foreign.iter().map(|gvk| gvk.group.as_str());
    groups.filter_map(|group| Some((group, find(group)?.extension.clone()))).collect()
}

fn dependency(name: &str) -> Dependency {
    Dependency { name: name.to_owned(), version: None, optional: false }
}

fn notes(chart: &Chart, footprint: &Footprint, undefined: &[&Gvk], excluded: &Excluded) -> Vec<String> {
    let mut notes = vec![
        "no chart shows which hosts it connects to: set spec.requirements.internetAccess if it connects to any"
            .to_owned(),
    ];
    if !undefined.is_empty() {
        notes.push(format!(
            "it has objects of kinds that another extension defines ({}): name that extension in spec.dependencies",
            kinds(undefined.iter().copied())
        ));
    }
    for role in &footprint.unknown_roles {
        notes.push(format!(
            "it binds {role}, which it does not contain: add the rules of that role to spec.requirements.grants"
        ));
    }
    notes.extend(sentences(excluded).into_iter().map(|reason| format!("its Kubernetes range is smaller: {reason}")));
    if chart.metadata.deprecated {
        notes.push("its Chart.yaml marks it as deprecated".to_owned());
    }
    if footprint.crds.values().any(|crd| crd.scope == Scope::Namespaced) {
        notes.push("the roles and the menu have all of its CRDs: remove those that are internal".to_owned());
    }
    notes
}
