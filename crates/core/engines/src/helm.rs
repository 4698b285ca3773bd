//! The helm engine: a chart, rendered as Helm renders it.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use fitout_go_template::Value as Seen;
use fitout_helm_chart::manifest::{self, Hook as RenderedHook};
use fitout_helm_chart::render::{Capabilities, Error, KubeVersion, Lookup, Options};
use fitout_helm_chart::{Chart, File, Warnings, fits, template, values};
use fitout_helm_release::Hook;
use fitout_model::{Definition, Helm, Problem};
use serde_json::Value;

use crate::chart_cache::{Loaded, loaded};
use crate::manifests::{collect, problem};
use crate::{Files, Input, RenderOutcome, Rendered, given};

pub(crate) fn render(input: &Input, helm: &Helm) -> Result<RenderOutcome, Problem> {
    let loaded = load(input.definition, helm, input.files)?;
    let chart = &loaded.chart;
    let name = format!("chart {} {}", chart.name(), chart.metadata.version);
    let wrong = |message: &str, hint: &str| problem(&name, &one_line(message), hint);
    let crds = loaded.crds(definitions)?;
    let given = given(input.definition, input.values);
    let given = values::load(given.to_string().as_bytes())
        .map_err(|error| wrong(&error.to_string(), "correct the values of the instance"))?;
    let release = values::Release {
        name: input.release.name.to_owned(),
        namespace: input.release.namespace.to_owned(),
        revision: input.release.revision.into(),
        is_upgrade: input.release.revision > 1,
    };
    let capabilities = capabilities(input, crds).map_err(|error| wrong(&error, "ask whoever runs the cluster"))?;
    let asked = Rc::new(RefCell::new(BTreeSet::new()));
    let options = Options { answer: Some(answering(input.answers, Rc::clone(&asked))), ..Options::default() };
    let rendered =
        template(chart.clone(), &given, &release, &capabilities, input.world, &options, &mut Warnings::new());
    // Whatever became of it, it may become something else once the answers are known.
    let asked: Vec<Lookup> = asked.take().into_iter().collect();
    if !asked.is_empty() {
        return Ok(RenderOutcome::NeedLookups(asked));
    }
    let rendered = rendered.map_err(|error| wrong(&error.message, remedy(&error, fits(chart, &capabilities))))?;
    let mut objects = Vec::new();
    for manifest in &rendered.objects {
        // As in the manifest of the release, where the next one begins on a line of its own.
        read(&manifest.path, &format!("{}\n", manifest.text), &mut objects)?;
    }
    let mut hooks = Vec::new();
    for hook in &rendered.hooks {
        let mut object = Vec::new();
        read(&hook.manifest.path, &hook.manifest.text, &mut object)?;
        hooks.extend(object.pop().map(|object| (recorded(hook), object)));
    }
    Ok(RenderOutcome::Rendered(Rendered {
        objects,
        crds: crds.to_vec(),
        hooks,
        manifest: Some(rendered.manifest()),
        notes: rendered.notes,
    }))
}

/// What to do about a chart that was not rendered, given whether it is for the cluster's Kubernetes.
fn remedy(error: &Error, fits: bool) -> &'static str {
    match error.begun {
        true if !fits => "take another version, or upgrade the cluster's Kubernetes",
        // No value makes a template of a text that is none.
        true if error.message.starts_with("parse error") => "take another version, or mend the chart",
        true => "correct the values of the instance, or mend the template",
        false => "correct the values of the instance, or take another version",
    }
}

/// The chart of a definition: its own files, an archive among them, or what was fetched.
pub(crate) fn load(definition: &Definition, helm: &Helm, files: Files) -> Result<Rc<Loaded>, Problem> {
    loaded(files.digest, || read_chart(definition, helm, files))
}

fn read_chart(definition: &Definition, helm: &Helm, files: Files) -> Result<Chart, Problem> {
    let wrong = |error: fitout_helm_chart::Error| {
        let message = one_line(&error.to_string());
        problem(&format!("chart {}", helm.chart), &message, "take another version, or mend the chart")
    };
    let warnings = &mut Warnings::new();
    if let Some(archive) = files.archive.or_else(|| files.beside.get(&helm.chart).map(Vec::as_slice)) {
        return Chart::from_archive(archive, warnings).map_err(wrong);
    }
    let folder = format!("{}/", helm.chart.trim_end_matches('/'));
    let own = files.beside.iter().filter_map(|(path, content)| Some((path.strip_prefix(&folder)?, content)));
    let own: Vec<File> = own.map(|(path, content)| File::new(path, content.clone())).collect();
    if own.is_empty() {
        let message = format!("there is no chart `{}` beside the definition", helm.chart);
        let hint = "put its directory or its archive there, or name the repository it is in";
        return Err(problem(&format!("{}: spec.helm.chart", definition.extension), &message, hint));
    }
    Chart::from_directory(own, warnings).map_err(wrong)
}

/// What templates are told of the cluster. As with Helm, the definitions of custom resources in `crds/` are there when
/// templates are rendered.
fn capabilities(input: &Input, crds: &[Value]) -> Result<Capabilities, String> {
    let kube_version = KubeVersion::parse(input.kubernetes)?;
    if crds.is_empty() {
        return Ok(Capabilities { kube_version, api_versions: input.apis.names() });
    }
    let mut apis = input.apis.clone();
    crds.iter().flat_map(fitout_model::defined_kinds).for_each(|(gvk, scope)| apis.insert(gvk, scope));
    Ok(Capabilities { kube_version, api_versions: apis.names() })
}

/// Answers what is known, and notes what is not: that is nothing, for now.
fn answering(
    known: &BTreeMap<Lookup, Value>,
    asked: Rc<RefCell<BTreeSet<Lookup>>>,
) -> Rc<fitout_helm_chart::render::Answer> {
    let known: BTreeMap<Lookup, Seen> = known.iter().map(|(lookup, value)| (lookup.clone(), seen(value))).collect();
    Rc::new(move |lookup| {
        Ok(known.get(lookup).cloned().unwrap_or_else(|| {
            asked.borrow_mut().insert(lookup.clone());
            nothing()
        }))
    })
}

fn nothing() -> Seen {
    Seen::map([("", Seen::Nil); 0])
}

/// An object as Kubernetes' own library gives it to templates: whole numbers are of 64 bits.
fn seen(value: &Value) -> Seen {
    match value {
        Value::Null => nothing(),
        other => inner(other),
    }
}

fn inner(value: &Value) -> Seen {
    match value {
        Value::Null => Seen::Nil,
        Value::Bool(truth) => Seen::Bool(*truth),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => Seen::int64(whole),
            None => Seen::float(number.as_f64().unwrap_or_default()),
        },
        Value::String(text) => Seen::string(text.as_str()),
        Value::Array(items) => Seen::list(items.iter().map(inner)),
        Value::Object(fields) => Seen::map(fields.iter().map(|(name, value)| (name.as_str(), inner(value)))),
    }
}

/// What is in `crds/`.
fn definitions(chart: &Chart) -> Result<Vec<Value>, Problem> {
    let mut objects = Vec::new();
    for crd in chart.crds() {
        read(&crd.filename, &crd.file.data.to_str(), &mut objects)?;
    }
    Ok(objects)
}

/// The objects of a text of documents, read line by line as Kubernetes' own library does: the last line ends like the others,
/// which shows in a block of text that is kept as it is.
pub(crate) fn read(path: &str, text: &str, objects: &mut Vec<Value>) -> Result<(), Problem> {
    for document in manifest::documents(text) {
        // As with Helm, of two equal keys the last one counts.
        let whole = if document.ends_with('\n') { Cow::Borrowed(document) } else { format!("{document}\n").into() };
        let value = fitout_go_yaml::from_yaml(&whole).map_err(|error| {
            problem(path, &one_line(&error.to_string()), "correct the values, or mend the template")
        })?;
        if !value.is_null() {
            collect(value, path, objects)?;
        }
    }
    Ok(())
}

/// A hook as Helm records it.
fn recorded(hook: &RenderedHook) -> Hook {
    let manifest = &hook.manifest;
    Hook {
        name: manifest.head.name.clone(),
        kind: manifest.head.kind.clone(),
        path: manifest.path.clone(),
        manifest: manifest.text.clone(),
        events: hook.events.iter().map(|event| (*event).to_owned().into()).collect(),
        weight: hook.weight,
        delete_policies: hook.delete_policies.iter().cloned().map(Into::into).collect(),
        output_log_policies: hook.log_policies.iter().cloned().map(Into::into).collect(),
        ..Hook::default()
    }
}

/// Helm's messages may have lines: a sentence has none.
pub(crate) fn one_line(message: &str) -> String {
    let lines = message.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ")
}
