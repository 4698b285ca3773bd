//! A chart and values in, a release out: what `helm template` does.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::rc::Rc;

use fitout_go_template::{Map, MissingKey, Set, Text, Value};
use fitout_helm_functions::Environment;
use fitout_helm_ranges::{Range, Version};

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
    world: &Rc<dyn Environment>,
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
    named(&release.name)?;
    dependencies::process(&mut chart, given, warnings)
        .map_err(|error| format!("chart dependencies processing failed: {error}"))?;
    let top = values::render_values(&chart, given, release, capabilities.value(), options.schemas, warnings)
        .map_err(|error| error.to_string())?;
    if !fits(&chart, capabilities) {
        let (range, version) = (&chart.metadata.kube_version, &capabilities.kube_version.version);
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

fn named(name: &str) -> Result<(), Error> {
    const PATTERN: &str = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";
    const LONGEST: usize = 53;
    let part = |part: &str| {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        part.starts_with(plain) && part.ends_with(plain) && part.chars().all(|c| plain(c) || c == '-')
    };
    let why = match name {
        "" => "no name provided".to_owned(),
        _ if name.len() <= LONGEST && name.split('.').all(part) => return Ok(()),
        _ => {
            format!("invalid release name, must match regex {PATTERN} and the length must not be longer than {LONGEST}")
        }
    };
    Err(format!("release name check failed: release name {name:?}: {why}").into())
}

/// Whether a chart is for this Kubernetes, as far as it says for which it is.
pub fn fits(chart: &Chart, capabilities: &Capabilities) -> bool {
    let range = &chart.metadata.kube_version;
    let parsed = (Range::parse(range), Version::parse(&capabilities.kube_version.normalized));
    range.is_empty() || matches!(parsed, (Ok(range), Ok(version)) if range.matches(&version))
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
        for (path, document) in self.own_documents(shown) {
            add(&mut text, path, &document);
        }
        let mut all = format!("{}\n", text.trim());
        for (path, document) in self.hook_documents(shown) {
            add(&mut all, path, document);
        }
        if shown.only.is_empty() { Ok(all) } else { only(&all, &shown.only) }
    }

    /// What the release is made of as one text, as Helm keeps it in a record.
    pub fn manifest(&self) -> String {
        let mut text = String::new();
        for object in &self.objects {
            add(&mut text, &object.path, &object.text);
        }
        text
    }

    /// Each document with the path it came from.
    pub fn documents(&self, shown: &Shown) -> impl Iterator<Item = (&str, Cow<'_, str>)> {
        let hooks = self.hook_documents(shown).map(|(path, document)| (path, Cow::Borrowed(document)));
        self.own_documents(shown).chain(hooks)
    }

    fn own_documents(&self, shown: &Shown) -> impl Iterator<Item = (&str, Cow<'_, str>)> {
        let crds = if shown.crds { &self.crds[..] } else { &[] };
        let crds = crds.iter().map(|crd| (crd.filename.as_str(), crd.file.data.to_str()));
        crds.chain(self.objects.iter().map(|object| (object.path.as_str(), Cow::Borrowed(object.text.as_str()))))
    }

    fn hook_documents(&self, shown: &Shown) -> impl Iterator<Item = (&str, &str)> {
        let (none, no_tests) = (shown.no_hooks, shown.no_tests);
        let hooks = self.hooks.iter().filter(move |hook| !(none || no_tests && hook.events.contains(&"test")));
        hooks.map(|hook| (hook.manifest.path.as_str(), hook.manifest.text.as_str()))
    }
}

/// The name of a release that a template gives.
pub fn release_name(text: &str, world: &Rc<dyn Environment>) -> Result<String, Error> {
    const NAME: &str = "name-template";
    let functions = fitout_helm_functions::functions(world);
    let set = Set::new(NAME, Rc::new(functions), MissingKey::Default);
    let name = set.parse(NAME, text).and_then(|_| set.execute(NAME.as_bytes(), &Value::Nil));
    name.map(|name| name.to_str().into_owned()).map_err(|error| error.to_string().into())
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
