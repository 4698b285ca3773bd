//! The helm engine: renders a chart as Helm does.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use fitout_go_template::Value as TemplateValue;
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
    let crds = loaded.crds(chart_crds)?;
    let given = given(input.definition, input.values);
    let given = values::load(given.to_string().as_bytes())
        .map_err(|error| wrong(&error.to_string(), "correct the values of the instance"))?;
    let release = values::Release {
        name: input.release.name.to_owned(),
        namespace: input.release.namespace.to_owned(),
        revision: input.release.revision.into(),
        is_upgrade: input.release.revision > 1,
    };
    let capabilities = capabilities(input, crds)?;
    let lookups = Rc::new(RefCell::new(BTreeSet::new()));
    let options = Options { answer: Some(answering(input.answers, Rc::clone(&lookups))), ..Options::default() };
    let rendered =
        template(chart.clone(), &given, &release, &capabilities, input.world, &options, &mut Warnings::new());
    // Even an error may disappear once the results of the lookups are known.
    let lookups: Vec<Lookup> = lookups.take().into_iter().collect();
    if !lookups.is_empty() {
        return Ok(RenderOutcome::NeedLookups(lookups));
    }
    let rendered = rendered.map_err(|error| wrong(&error.message, remedy(&error, fits(chart, &capabilities))))?;
    let mut objects = Vec::new();
    for manifest in &rendered.objects {
        // As in the manifest of a release, where the next document begins on a line of its own.
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

/// The hint for a rendering error, given whether the chart supports the cluster's Kubernetes.
fn remedy(error: &Error, fits: bool) -> &'static str {
    match error.begun {
        true if !fits => "choose another version, or upgrade the cluster's Kubernetes",
        // No value fixes a template that cannot be parsed. The error has no code for it, only Helm's message.
        true if error.message.starts_with("parse error") => "choose another version, or fix the chart",
        true => "correct the values of the instance, or fix the template",
        false => "correct the values of the instance, or choose another version",
    }
}

/// The chart of a definition: a directory or an archive among its files, or the fetched archive.
pub(crate) fn load(definition: &Definition, helm: &Helm, files: Files) -> Result<Rc<Loaded>, Problem> {
    loaded(files.digest, || read_chart(definition, helm, files))
}

fn read_chart(definition: &Definition, helm: &Helm, files: Files) -> Result<Chart, Problem> {
    let wrong = |error: fitout_helm_chart::Error| {
        let message = one_line(&error.to_string());
        problem(&format!("chart {}", helm.chart), &message, "choose another version, or fix the chart")
    };
    let warnings = &mut Warnings::new();
    if let Some(archive) = files.archive.or_else(|| files.beside.get(&helm.chart).map(Vec::as_slice)) {
        return Chart::from_archive(archive, warnings).map_err(wrong);
    }
    let folder = format!("{}/", helm.chart.trim_end_matches('/'));
    let entries = files.beside.iter().filter_map(|(path, content)| Some((path.strip_prefix(&folder)?, content)));
    let entries: Vec<File> = entries.map(|(path, content)| File::new(path, content.clone())).collect();
    if entries.is_empty() {
        let message = format!("chart `{}` not found beside the definition", helm.chart);
        let hint = "add its directory or archive there, or set spec.helm.repository";
        return Err(problem(&format!("{}: spec.helm.chart", definition.extension), &message, hint));
    }
    Chart::from_directory(entries, warnings).map_err(wrong)
}

/// The `.Capabilities` of templates. As with Helm, they include the kinds of the CRDs in `crds/`.
fn capabilities(input: &Input, crds: &[Value]) -> Result<Capabilities, Problem> {
    let kube_version = KubeVersion::parse(input.kubernetes).map_err(|error| {
        problem("the cluster's Kubernetes version", &one_line(&error), "ask the cluster's administrator")
    })?;
    if crds.is_empty() {
        return Ok(Capabilities { kube_version, api_versions: input.apis.names() });
    }
    let mut apis = input.apis.clone();
    crds.iter().flat_map(fitout_model::defined_kinds).for_each(|(gvk, scope)| apis.insert(gvk, scope));
    Ok(Capabilities { kube_version, api_versions: apis.names() })
}

/// Answers lookups from the known results, and collects the others, which return an empty map.
fn answering(
    known: &BTreeMap<Lookup, Value>,
    unknown: Rc<RefCell<BTreeSet<Lookup>>>,
) -> Rc<fitout_helm_chart::render::Answer> {
    let known: BTreeMap<Lookup, TemplateValue> =
        known.iter().map(|(lookup, value)| (lookup.clone(), template_value(value))).collect();
    Rc::new(move |lookup| {
        Ok(known.get(lookup).cloned().unwrap_or_else(|| {
            unknown.borrow_mut().insert(lookup.clone());
            nothing()
        }))
    })
}

fn nothing() -> TemplateValue {
    TemplateValue::map([("", TemplateValue::Nil); 0])
}

/// A looked-up object as `client-go` gives it to templates: integers have 64 bits.
fn template_value(value: &Value) -> TemplateValue {
    match value {
        Value::Null => nothing(),
        other => inner(other),
    }
}

fn inner(value: &Value) -> TemplateValue {
    match value {
        Value::Null => TemplateValue::Nil,
        Value::Bool(truth) => TemplateValue::Bool(*truth),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => TemplateValue::int64(whole),
            None => TemplateValue::float(number.as_f64().unwrap_or_default()),
        },
        Value::String(text) => TemplateValue::string(text.as_str()),
        Value::Array(items) => TemplateValue::list(items.iter().map(inner)),
        Value::Object(fields) => TemplateValue::map(fields.iter().map(|(name, value)| (name.as_str(), inner(value)))),
    }
}

/// The objects in `crds/`.
fn chart_crds(chart: &Chart) -> Result<Vec<Value>, Problem> {
    let mut objects = Vec::new();
    for crd in chart.crds() {
        read(&crd.filename, &crd.file.data.to_str(), &mut objects)?;
    }
    Ok(objects)
}

/// Reads the objects of a multi-document text by lines, as Kubernetes' YAML reader does: it ends the last line, which is
/// visible in a literal block scalar with `+`.
pub(crate) fn read(path: &str, text: &str, objects: &mut Vec<Value>) -> Result<(), Problem> {
    for document in manifest::documents(text) {
        // As with Helm, the last of two equal keys counts.
        let whole = if document.ends_with('\n') { Cow::Borrowed(document) } else { format!("{document}\n").into() };
        let value = fitout_go_yaml::from_yaml(&whole)
            .map_err(|error| problem(path, &one_line(&error.to_string()), "correct the values, or fix the template"))?;
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

/// A message of Helm, which may have several lines, in one line.
pub(crate) fn one_line(message: &str) -> String {
    let lines = message.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ")
}
