//! Makes a chart of a folder of manifests: plain ones, or Go templates with parameters.

mod parameters;
mod rewrite;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use fitout_engines::Environment;
use fitout_go_template::{MissingKey, Set};
use fitout_helm_chart::render::{Capabilities, KubeVersion, Options, functions};
use fitout_helm_chart::values::{Release, load};
use fitout_helm_chart::{Chart, File, Warnings, template};
use fitout_model::{Problem, coalesce};
use serde_json::{Value, json};

use crate::kubernetes::supported;
use parameters::Parameters;
use rewrite::{Actions, BUILT_IN};

/// A folder of manifests, and how its chart is called.
#[derive(Clone, Copy, Debug)]
pub struct Folder<'a> {
    /// The files, by path within the folder.
    pub files: &'a BTreeMap<String, Vec<u8>>,
    /// The name of the chart.
    pub name: &'a str,
    /// The version of the chart. Defaults to that of `addon.yaml`, else to 0.1.0.
    pub version: Option<&'a str>,
    /// Parameters over the defaults in the folder.
    pub parameters: &'a Value,
    /// The name of a `ConfigMap` with the files beside the manifests.
    pub config_map: Option<&'a str>,
}

/// A chart that was made of manifests.
#[derive(Clone, Debug)]
pub struct ManifestChart {
    /// The name of the chart.
    pub name: String,
    /// The files of the chart, by path.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Decisions that a person may want to change.
    pub notes: Vec<String>,
}

/// The chart of a folder: with its default values, it renders what the manifests rendered with the same parameters.
///
/// A file is a template where it uses a parameter, or is not YAML as it is; its root fields become values. Any other `{{` is
/// text, and is escaped.
pub fn chart_from_manifests(folder: &Folder, environment: &Rc<dyn Environment>) -> Result<ManifestChart, Problem> {
    if folder.files.contains_key("Chart.yaml") {
        return Err(problem("Chart.yaml", "the folder is a chart already", "use it as it is"));
    }
    if let Some(name) = folder.config_map.filter(|name| !is_object_name(name)) {
        let hint = "use lowercase letters, digits, '-' and '.'";
        return Err(problem("the ConfigMap", &format!("`{name}` is not a name of an object"), hint));
    }
    let parameters = Parameters::read(folder.files)?;
    let mut values = parameters.values.clone();
    coalesce(&mut values, folder.parameters);
    let mut conversion = Conversion::new(folder, &parameters, &values, environment);
    conversion.convert()?;
    let Conversion { mut files, notes, .. } = conversion;
    let is_as_written = folder.parameters.as_object().is_none_or(serde_json::Map::is_empty);
    let values_text = match &parameters.text {
        Some(text) if is_as_written => text.clone(),
        _ if values == json!({}) => String::new(),
        _ => fitout_go_yaml::to_yaml(&values),
    };
    files.insert("values.yaml".to_owned(), values_text.into_bytes());
    let version = folder.version.or(parameters.version.as_deref()).unwrap_or("0.1.0");
    let metadata = json!({
        "apiVersion": "v2", "name": folder.name, "version": version, "type": "application",
        "description": parameters.description.as_deref().unwrap_or("A chart made of manifests"),
    });
    files.insert("Chart.yaml".to_owned(), fitout_go_yaml::to_yaml(&metadata).into_bytes());
    ensure_rendered(&files, folder.name, environment)?;
    Ok(ManifestChart { name: folder.name.to_owned(), files, notes })
}

fn problem(field: &str, message: &str, hint: &str) -> Problem {
    Problem { field: field.to_owned(), message: message.to_owned(), hint: Some(hint.to_owned()) }
}

/// Whether a name is a DNS subdomain.
fn is_object_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_label = |label: &str| {
        let bytes = label.as_bytes();
        let has_ends = bytes.first().zip(bytes.last()).is_some_and(|(first, last)| is_plain(*first) && is_plain(*last));
        has_ends && bytes.iter().all(|byte| is_plain(*byte) || *byte == b'-')
    };
    name.len() <= 253 && name.split('.').all(is_label)
}

/// The conversion of the files of a folder.
struct Conversion<'a> {
    folder: &'a Folder<'a>,
    parameters: &'a Parameters,
    /// The defaults of the chart.
    values: &'a Value,
    /// The names of root fields that are parameters.
    known: BTreeSet<&'a str>,
    /// Knows the functions of charts.
    set: Rc<Set>,
    files: BTreeMap<String, Vec<u8>>,
    notes: Vec<String>,
    /// Whether some template refers to files.
    uses_files: bool,
}

impl<'a> Conversion<'a> {
    fn new(
        folder: &'a Folder<'a>,
        parameters: &'a Parameters,
        values: &'a Value,
        environment: &Rc<dyn Environment>,
    ) -> Self {
        let known = values.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
        let set = Set::new("manifests", Rc::new(functions(environment, false, None)), MissingKey::Zero);
        let (files, notes) = (BTreeMap::new(), Vec::new());
        Self { folder, parameters, values, known, set, files, notes, uses_files: false }
    }

    fn convert(&mut self) -> Result<(), Problem> {
        let (mut sources, mut others) = (Vec::new(), Vec::new());
        for (path, content) in self.folder.files {
            let is_hidden = path.split('/').any(|part| part.starts_with('.'));
            if is_hidden || self.parameters.is_source(path) {
                continue;
            }
            if is_index(path) {
                self.notes.push(format!("{path} is left out, because it is not an object of Kubernetes"));
            } else if is_document(path) {
                self.files.insert(path.clone(), content.clone());
            } else if is_manifest(path) || is_partial(path) {
                let text =
                    std::str::from_utf8(content).map_err(|_| problem(path, "it is not UTF-8", "save it as UTF-8"))?;
                sources.push((path.as_str(), text));
            } else {
                others.push((path.as_str(), content));
            }
        }
        if sources.is_empty() {
            return Err(problem(
                "the folder",
                "it contains no manifest",
                "add a file that ends in .yaml, .yml or .json",
            ));
        }
        let mut templates = Vec::new();
        for (path, text) in sources {
            match self.actions(path, text)? {
                Some(actions) => templates.push((path, actions)),
                None => drop(self.files.insert(template_path(path), escaped(text).into_bytes())),
            }
        }
        // Defined templates that use built-in objects are called with all of them.
        let whole = templates.iter().any(|(_, actions)| actions.defined_uses_built_in(&self.known));
        for (path, actions) in templates {
            let rewritten = actions.rewritten(&self.known, whole);
            self.uses_files |= rewritten.uses_files;
            for name in rewritten.fields.iter().filter(|name| !self.known.contains(name.as_str())) {
                self.notes.push(format!("{path} uses the parameter {name}, which has no default: give one with --set"));
            }
            for name in self.large_numbers(&rewritten.text) {
                self.notes.push(format!(
                    "{path} prints the number {name}, which Helm prints with an exponent: write `{name} | int64` in the \
                     template"
                ));
            }
            self.files.insert(template_path(path), rewritten.text.into_bytes());
        }
        self.add_others(&others);
        Ok(())
    }

    /// The parameters that a template prints as they are, and that are whole numbers which Helm's values print as `1e+06`.
    fn large_numbers(&self, template: &str) -> Vec<&'a str> {
        const LIMIT: f64 = 1e6;
        let is_large =
            |value: &Value| value.as_f64().is_some_and(|number| number.abs() >= LIMIT && number.fract() == 0.0);
        let is_printed = |name: &str| {
            [" }}", "}}", " -}}"].iter().any(|end| template.contains(&format!("{{{{ .Values.{name}{end}")))
        };
        let all = self.values.as_object().into_iter().flatten();
        let large = all.filter(|(_, value)| is_large(value)).map(|(name, _)| name.as_str());
        large.filter(|name| is_printed(name)).collect()
    }

    /// The actions of a template; none for a file whose `{{` is text.
    fn actions<'t>(&self, path: &str, text: &'t str) -> Result<Option<Actions<'t>>, Problem> {
        if !text.contains("{{") {
            return Ok(None);
        }
        let parsed = self.set.parse_only(path, text);
        let actions = Actions::scan(text);
        let is_yaml = || fitout_go_yaml::documents(text).is_ok();
        let uses_known = |actions: &Actions| {
            actions.fields().iter().any(|name| self.known.contains(name.as_str()) || BUILT_IN.contains(&name.as_str()))
        };
        match (parsed, actions) {
            (Ok(_), Some(actions)) => {
                let is_template = uses_known(&actions) || actions.fields().is_empty() || !is_yaml();
                Ok(is_template.then_some(actions))
            }
            (_, actions) if is_yaml() && !actions.as_ref().is_some_and(uses_known) => Ok(None),
            (Err(error), _) => {
                let hint =
                    "use the functions that charts have, those of sprig and of Helm, or write the value as a parameter";
                Err(problem(path, &error.to_string(), hint))
            }
            (Ok(_), None) => Err(problem(path, "an action has no end", "close it with }}")),
        }
    }

    /// Adds the files beside the manifests, and their `ConfigMap`.
    fn add_others(&mut self, others: &[(&str, &Vec<u8>)]) {
        for (path, content) in others {
            self.files.insert(format!("files/{path}"), (*content).clone());
        }
        let names: Vec<&str> = others.iter().map(|(path, _)| *path).collect();
        match self.folder.config_map {
            Some(name) => {
                let manifest = format!(
                    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  \
                     {{{{- (.Files.Glob \"files/**\").AsConfig | nindent 2 }}}}\n"
                );
                self.files.insert(format!("templates/{name}-configmap.yaml"), manifest.into_bytes());
            }
            None if !names.is_empty() && !self.uses_files => self.notes.push(format!(
                "no manifest refers to {}: make a ConfigMap of it with --config-map NAME",
                names.join(", ")
            )),
            None => {}
        }
    }
}

fn has_extension(path: &str, extensions: &[&str]) -> bool {
    path.rsplit_once('.').is_some_and(|(_, extension)| extensions.contains(&extension))
}

fn is_manifest(path: &str) -> bool {
    has_extension(path, &["yaml", "yml", "json"])
}

/// A file with definitions only.
fn is_partial(path: &str) -> bool {
    has_extension(path, &["tpl"])
}

/// An index of other tools.
fn is_index(path: &str) -> bool {
    ["kustomization.yaml", "kustomization.yml"].contains(&path.rsplit('/').next().unwrap_or(path))
}

/// A file about the folder itself, which stays at its place.
fn is_document(path: &str) -> bool {
    !path.contains('/') && (has_extension(path, &["md"]) || path == "LICENSE")
}

/// The path in the chart. Helm renders no file whose name begins with an underscore, and every other one.
fn template_path(path: &str) -> String {
    let (folder, name) = path.rsplit_once('/').map_or(("", path), |(folder, name)| (folder, name));
    let plain = name.trim_start_matches('_');
    let name = if is_partial(path) { format!("_{plain}") } else { plain.to_owned() };
    if folder.is_empty() { format!("templates/{name}") } else { format!("templates/{folder}/{name}") }
}

fn escaped(text: &str) -> String {
    text.replace("{{", "{{ \"{{\" }}")
}

/// Renders the chart with its default values.
fn ensure_rendered(
    files: &BTreeMap<String, Vec<u8>>,
    name: &str,
    environment: &Rc<dyn Environment>,
) -> Result<(), Problem> {
    let wrong = |message: &str| {
        let message = message.lines().map(str::trim).collect::<Vec<_>>().join(" ");
        let hint = "give the parameters that it needs with --set, or correct the manifest";
        problem(&format!("chart {name}"), &message, hint)
    };
    let Some(kubernetes) = supported().last() else { return Ok(()) };
    let files = files.iter().map(|(path, content)| File::new(path.as_str(), content.as_slice())).collect();
    let chart = Chart::from_files(files, &mut Warnings::new()).map_err(|error| wrong(&error.to_string()))?;
    let kube_version = KubeVersion::parse(&kubernetes.version).map_err(|error| wrong(&error))?;
    let capabilities = Capabilities { kube_version, api_versions: kubernetes.apis.names() };
    let release = Release { name: name.to_owned(), namespace: name.to_owned(), revision: 1, is_upgrade: false };
    let none = load(b"").map_err(|error| wrong(&error.to_string()))?;
    let options = Options::default();
    template(chart, &none, &release, &capabilities, environment, &options, &mut Warnings::new())
        .map(drop)
        .map_err(|error| wrong(&error.message))
}
