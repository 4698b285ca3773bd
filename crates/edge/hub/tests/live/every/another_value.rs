//! A value of a chart that makes a difference.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::rc::Rc;

use anyhow::{Result, anyhow};
use fitout_helm_chart::render::{Capabilities, KubeVersion, Options};
use fitout_helm_chart::template;
use fitout_helm_chart::values::{self, Release};
use fitout_helm_functions::{Environment, Replay};
use fitout_testkit::differences;
use serde_json::{Map, Value, json};

type Objects = BTreeMap<[String; 3], Value>;

/// Renders no more often than this to find one.
const ATTEMPTS: usize = 80;

/// Values that change what a chart renders: if possible, no object comes or goes. None where no value does.
pub fn another_value(chart: &Path, name: &str) -> Result<Option<Value>> {
    let own = fs::read_to_string(chart.join("values.yaml")).unwrap_or_default();
    let own = fitout_go_yaml::from_yaml(&own).map_err(|error| anyhow!("{error}"))?;
    let mut found = Vec::new();
    collect(&own, &mut vec![], &mut found);
    found.sort_by_key(|(rank, _)| *rank);
    let before = render(chart, name, &json!({}))?;
    let mut with_others = None;
    for (_, given) in found.into_iter().take(ATTEMPTS) {
        let Ok(after) = render(chart, name, &given) else { continue };
        if after == before || touches_what_is_fixed(&before, &after) {
            continue;
        }
        if after.keys().eq(before.keys()) {
            return Ok(Some(given));
        }
        with_others.get_or_insert(given);
    }
    Ok(with_others)
}

/// Each value that might be another, with how likely that is to be harmless: 0 is best.
fn collect(value: &Value, path: &mut Vec<String>, found: &mut Vec<(usize, Value)>) {
    let Some(fields) = value.as_object().filter(|_| path.len() < 4) else { return };
    for (name, value) in fields {
        let key = name.to_lowercase();
        let another = match value {
            Value::Object(inner) if inner.is_empty() && key.ends_with("annotations") => {
                Some((0, json!({ "example.com/changed": "yes" })))
            }
            Value::Number(number) if number.as_u64().is_some_and(|number| number > 0) => {
                let rank = if key.contains("replica") { 1 } else { 3 };
                Some((rank, json!(number.as_u64().unwrap_or_default() + 1)))
            }
            Value::Object(inner) if inner.is_empty() && key.ends_with("labels") => {
                Some((4, json!({ "example.com/changed": "yes" })))
            }
            Value::Bool(truth) => Some((5, json!(!truth))),
            // The tag of an image may be anything; other texts may be words that have a meaning.
            Value::String(text) if !text.is_empty() => {
                Some((if ["tag", "image"].contains(&key.as_str()) { 2 } else { 6 }, json!(format!("{text}x"))))
            }
            _ => None,
        };
        path.push(name.clone());
        found.extend(another.map(|(rank, value)| (rank * 10 + path.len(), nested(path, value))));
        collect(value, path, found);
        path.pop();
    }
}

fn nested(path: &[String], value: Value) -> Value {
    path.iter().rev().fold(value, |inner, name| Value::Object(Map::from_iter([(name.clone(), inner)])))
}

/// What Kubernetes does not let anybody change: a job, what selects pods, whom a binding is about.
fn touches_what_is_fixed(before: &Objects, after: &Objects) -> bool {
    let fixed = [".spec.selector", ".roleRef", ".spec.serviceName", ".spec.volumeClaimTemplates", ".spec.clusterIP"];
    before.iter().any(|(id, object)| {
        let Some(other) = after.get(id) else { return false };
        let changed = differences(object, other);
        // A set's own claims are volumes of its pods, which plain ones do not have: their controller never updates them.
        let claims = object["spec"]["volumeClaimTemplates"].as_array().is_some_and(|claims| !claims.is_empty());
        let whole = (id[0] == "Job" || claims) && !changed.is_empty();
        whole || changed.iter().any(|line| fixed.iter().any(|path| line.starts_with(path)))
    })
}

/// What a chart renders with some values, without chance.
fn render(chart: &Path, name: &str, given: &Value) -> Result<Objects> {
    let mut warnings = Vec::new();
    let chart = fitout_environment::load(chart, &mut warnings).map_err(|error| anyhow!("{error}"))?;
    let given = values::load(given.to_string().as_bytes()).map_err(|error| anyhow!("{error}"))?;
    let release = Release { name: name.to_owned(), namespace: name.to_owned(), revision: 1, is_upgrade: false };
    let capabilities = Capabilities::assumed(KubeVersion::parse("1.36.3").map_err(|error| anyhow!("{error}"))?);
    let world: Rc<dyn Environment> = Rc::new(Replay::default());
    let rendered = template(chart, &given, &release, &capabilities, &world, &Options::default(), &mut warnings);
    let rendered = rendered.map_err(|error| anyhow!("{error}"))?;
    let mut objects = BTreeMap::new();
    for manifest in &rendered.objects {
        let object = fitout_go_yaml::from_yaml(&manifest.text).map_err(|error| anyhow!("{error}"))?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let metadata = &object["metadata"];
        objects.insert([text(&object["kind"]), text(&metadata["namespace"]), text(&metadata["name"])], object);
    }
    Ok(objects)
}
