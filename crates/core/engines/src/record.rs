//! The chart of a release as a Helm release record contains it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fitout_helm_chart::{Chart, File};
use fitout_helm_release::{Chart as Recorded, Metadata, Release, SharedChart};
use fitout_model::{Definition, Engine, Problem};
use serde_json::{Map, Value, json};

use crate::{Files, Rendered, helm};

/// The chart of a definition for a release record; none where the definition has no chart, or the chart cannot be read.
pub fn chart(definition: &Definition, files: Files) -> Option<SharedChart> {
    let Some(Engine::Helm(helm)) = definition.engine() else { return None };
    helm::load(definition, helm, files).ok().map(|loaded| loaded.recorded(recorded).clone())
}

/// The objects and hooks of a release, from its record.
pub fn made(release: &Release) -> Result<Rendered, Problem> {
    let mut objects = Vec::new();
    helm::read("the release's manifest", &release.manifest, &mut objects)?;
    let mut hooks = Vec::new();
    for hook in &release.hooks {
        let mut object = Vec::new();
        helm::read(&hook.path, &hook.manifest, &mut object)?;
        // The result of an earlier run is not part of the hook.
        let mut hook = hook.clone();
        hook.forget_run();
        hooks.extend(object.pop().map(|object| (hook, object)));
    }
    let (notes, manifest) = (release.info.notes.clone(), Some(release.manifest.clone()));
    Ok(Rendered { objects, crds: vec![], hooks, notes, manifest })
}

fn recorded(chart: &Chart) -> Recorded {
    let read = |text: &str| fitout_go_yaml::from_yaml(text).unwrap_or_default();
    let metadata: Option<Metadata> = serde_json::from_value(read(&chart.metadata.to_yaml())).ok();
    let values = match chart.values_text().map(|text| read(&text)) {
        Some(Value::Object(values)) => values,
        _ => Map::new(),
    };
    let lock = chart.raw.iter().find(|file| &*file.name == "Chart.lock").map(|file| read(&file.data.to_str()));
    let mut recorded = Recorded::new(metadata.unwrap_or_default(), values);
    recorded.rest.insert("templates".to_owned(), files(&chart.templates));
    recorded.rest.insert("files".to_owned(), files(&chart.files));
    recorded
        .rest
        .insert("schema".to_owned(), chart.schema.as_ref().map_or(Value::Null, |text| STANDARD.encode(&**text).into()));
    recorded.rest.insert("lock".to_owned(), lock.unwrap_or_default());
    recorded
}

fn files(files: &[File]) -> Value {
    let file = |file: &File| json!({ "name": &*file.name, "data": STANDARD.encode(&*file.data) });
    if files.is_empty() { Value::Null } else { files.iter().map(file).collect() }
}
