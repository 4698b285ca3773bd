//! A chart and values in, a release out: what `helm template` does.

use std::fmt::Write as _;
use std::rc::Rc;

use fitout_gotmpl::{Map, Text};
use fitout_range::{Range, Version};
use fitout_sprig::World;

use crate::chart::Crd;
use crate::manifest::{self, Hook, Manifest, Manifests};
use crate::render::{self, Capabilities, Error, Options};
use crate::values::{self, Release};
use crate::{Chart, Warnings, dependencies};

/// A chart that has been rendered.
#[derive(Clone, Debug)]
pub struct Rendered {
    /// What is in `crds/`.
    pub crds: Vec<Crd>,
    /// What is applied at some event, in the order of kinds.
    pub hooks: Vec<Hook>,
    /// What the release is made of, in the order of kinds.
    pub objects: Vec<Manifest>,
    /// `NOTES.txt` of the chart itself.
    pub notes: String,
}

/// Renders a chart with values that somebody gave.
pub fn template(
    mut chart: Chart,
    given: &Map,
    release: &Release,
    capabilities: &Capabilities,
    world: &Rc<dyn World>,
    options: &Options,
    warnings: &mut Warnings,
) -> Result<Rendered, Error> {
    installable(&chart)?;
    if chart.metadata.deprecated {
        warnings.push("this chart is deprecated".to_owned());
    }
    dependencies::check(&chart).map_err(|missing| {
        format!(
            "an error occurred while checking for chart dependencies. You may need to run 'helm dependency build' to \
             fetch missing dependencies: {missing}"
        )
    })?;
    dependencies::process(&mut chart, given, warnings)
        .map_err(|error| format!("chart dependencies processing failed: {error}"))?;
    let top = values::render_values(&chart, given, release, capabilities.value(), options.schemas, warnings)
        .map_err(|error| error.to_string())?;
    let range = &chart.metadata.kube_version;
    let kube = &capabilities.kube_version;
    if !range.is_empty() && !fits(range, &kube.normalized) {
        let version = &kube.version;
        let message = format!("chart requires kubeVersion: {range} which is incompatible with Kubernetes {version}");
        return Err(Error::later(message));
    }
    let files = render::render(&chart, &top, world, options)?;
    sorted(&chart, files)
}

fn installable(chart: &Chart) -> Result<(), Error> {
    match chart.metadata.kind.as_str() {
        "" | "application" => Ok(()),
        kind => Err(format!("{kind} charts are not installable").into()),
    }
}

fn fits(range: &str, version: &str) -> bool {
    let (Ok(range), Ok(version)) = (Range::parse(range), Version::parse(version)) else { return false };
    range.matches(&version)
}

fn sorted(chart: &Chart, mut files: Vec<(String, Text)>) -> Result<Rendered, Error> {
    const NOTES: &str = "NOTES.txt";
    let own = format!("{}/templates/{NOTES}", chart.name());
    let notes = files.iter().find(|(path, _)| *path == own).map(|(_, text)| text.to_str().into_owned());
    files.retain(|(path, _)| !path.ends_with(NOTES));
    let Manifests { hooks, objects } = manifest::sort(&files).map_err(Error::later)?;
    Ok(Rendered { crds: chart.crds(), hooks, objects, notes: notes.unwrap_or_default() })
}

/// What of a rendered chart is shown.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// Whether `crds/` is shown too.
    pub crds: bool,
    /// Whether hooks are not shown.
    pub no_hooks: bool,
    /// Whether hooks that are tests are not shown.
    pub no_tests: bool,
    /// Only what came from these templates: patterns of paths within the chart.
    pub only: Vec<String>,
}

impl Rendered {
    /// All of it as one text, as `helm template` prints it.
    pub fn show(&self, shown: &Shown) -> Result<String, String> {
        let mut text = String::new();
        if shown.crds {
            for crd in &self.crds {
                add(&mut text, &crd.filename, &crd.file.data.to_str());
            }
        }
        for object in &self.objects {
            add(&mut text, &object.path, &object.text);
        }
        let mut all = format!("{}\n", text.trim());
        for hook in self.hooks.iter().filter(|_| !shown.no_hooks) {
            if !(shown.no_tests && hook.events.contains(&"test")) {
                add(&mut all, &hook.manifest.path, &hook.manifest.text);
            }
        }
        if shown.only.is_empty() { Ok(all) } else { only(&all, &shown.only) }
    }
}

fn add(text: &mut String, path: &str, document: &str) {
    let _ = write!(text, "---\n# Source: {path}\n{document}\n");
}

/// Of all documents those that came from templates that match, in the order of the patterns.
fn only(all: &str, patterns: &[String]) -> Result<String, String> {
    let documents: Vec<_> = manifest::documents(all).filter_map(|text| Some((source(text)?, text))).collect();
    let mut text = String::new();
    for pattern in patterns {
        let pattern = pattern.as_str();
        let found: Vec<_> =
            documents.iter().filter(|(source, _)| matches!(crate::load::matches(pattern, source), Ok(true))).collect();
        if found.is_empty() {
            return Err(format!("could not find template {pattern} in chart"));
        }
        for (_, document) in found {
            let _ = write!(text, "---\n{document}\n");
        }
    }
    Ok(text)
}

/// The path within the chart that a document says it came from.
fn source(document: &str) -> Option<&str> {
    const MARK: &str = "# Source: ";
    document.match_indices(MARK).find_map(|(at, _)| {
        let line = document[at + MARK.len()..].split('\n').next()?;
        let (chart, path) = line.split_once('/')?;
        (!chart.is_empty() && !path.is_empty()).then_some(path)
    })
}
