//! The origin of each value that an extension is rendered with.

use fitout_go_template::Value as TemplateValue;
use fitout_helm_chart::values;
use fitout_model::{Definition, Engine, Helm, Problem, overlay};
use serde_json::{Value, json};

use crate::manifests::problem;
use crate::{Files, helm, parameters};

/// One layer of values above those of the definition.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// The name of the layer.
    pub name: String,
    /// The values. A null deletes the value below it.
    pub values: Value,
    /// Whether the values are secret and not shown.
    pub secret: bool,
}

/// One value, and the layer that set it.
#[derive(Clone, Debug, PartialEq)]
pub struct Origin {
    /// The keys of its path.
    pub path: Vec<String>,
    /// The value: a scalar, a list or an empty map.
    pub value: Value,
    /// The layer that set it: a given layer, `definition`, or `chart` with the name of a dependency.
    pub layer: String,
    /// The layers whose value in this place is overridden, the strongest first.
    pub over: Vec<String>,
    /// Whether it is a default that no layer has set.
    pub default: bool,
    /// Whether the value is secret and not shown.
    pub secret: bool,
}

/// The layer name of the definition's own values and defaults.
const DEFINITION: &str = "definition";

/// Every value that templates or manifests read, with its layer. Later layers override earlier ones. Values are not
/// validated, so that the origin of an invalid value can be found.
pub fn origins(definition: &Definition, files: Files, layers: &[Layer]) -> Result<Vec<Origin>, Problem> {
    match definition.engine() {
        Some(Engine::Helm(helm)) => chart_origins(definition, helm, files, layers),
        _ => Ok(parameter_origins(&parameters::schema(definition, files)?, layers)),
    }
}

fn chart_origins(definition: &Definition, helm: &Helm, files: Files, layers: &[Layer]) -> Result<Vec<Origin>, Problem> {
    let loaded = helm::load(definition, helm, files)?;
    let chart = &loaded.chart;
    let wrong = |error: fitout_helm_chart::Error| {
        let message = helm::one_line(&error.to_string());
        problem(&format!("chart {}", chart.name()), &message, "correct the values of the instance")
    };
    let own = Value::Object(helm.values.clone().unwrap_or_default());
    let given = layers.iter().map(|layer| (layer.name.as_str(), &layer.values));
    let mut tables = Vec::with_capacity(layers.len() + 1);
    for (name, values) in [(DEFINITION, &own)].into_iter().chain(given) {
        tables.push((name, values::load(values.to_string().as_bytes()).map_err(wrong)?));
    }
    let named: Vec<_> = tables.iter().map(|(name, table)| (*name, &**table)).collect();
    let leaves = values::explain(chart, &named).map_err(wrong)?;
    let origin = |leaf: values::Leaf| Origin {
        path: leaf.path.iter().map(|key| key.to_str().into_owned()).collect(),
        value: read(&leaf.value),
        default: !tables.iter().any(|(name, _)| *name == leaf.layer),
        secret: is_secret(&leaf.layer, layers),
        layer: leaf.layer,
        over: leaf.shadowed,
    };
    Ok(leaves.into_iter().map(origin).collect())
}

/// A template value as it would be written in a values file.
fn read(value: &TemplateValue) -> Value {
    let written = fitout_helm_functions::to_yaml(value).unwrap_or_default();
    fitout_go_yaml::from_yaml(&written).unwrap_or_default()
}

fn is_secret(name: &str, layers: &[Layer]) -> bool {
    layers.iter().any(|layer| layer.secret && layer.name == name)
}

fn parameter_origins(schema: &Value, layers: &[Layer]) -> Vec<Origin> {
    let mut given = json!({});
    for layer in layers {
        overlay(&mut given, &layer.values);
    }
    let (all, defaults) = (parameters::filled(schema, &given), parameters::filled(schema, &json!({})));
    let mut leaves = Vec::new();
    collect(&all, &mut Vec::new(), &mut leaves);
    let origin = |(path, value): (Vec<String>, &Value)| {
        let is_set = |entry: &Entry| *entry == Entry::Value;
        let mut entries = layers.iter().rev().map(|layer| (layer.name.as_str(), entry_at(&layer.values, &path)));
        // A layer that sets or deletes the value hides those below it.
        let winner = entries.find(|(_, entry)| *entry != Entry::Absent).filter(|(_, entry)| is_set(entry));
        let overridden = entries.filter(|(_, entry)| is_set(entry)).map(|(name, _)| name.to_owned());
        let default = (winner.is_some() && is_set(&entry_at(&defaults, &path))).then(|| DEFINITION.to_owned());
        let layer = winner.map_or(DEFINITION, |(name, _)| name);
        Origin {
            over: overridden.chain(default).collect(),
            value: value.clone(),
            layer: layer.to_owned(),
            default: winner.is_none(),
            secret: is_secret(layer, layers),
            path,
        }
    };
    leaves.into_iter().map(origin).collect()
}

fn collect<'a>(value: &'a Value, path: &mut Vec<String>, leaves: &mut Vec<(Vec<String>, &'a Value)>) {
    match value {
        Value::Object(fields) if path.is_empty() || !fields.is_empty() => {
            for (name, inner) in fields {
                path.push(name.clone());
                collect(inner, path, leaves);
                path.pop();
            }
        }
        leaf => leaves.push((path.clone(), leaf)),
    }
}

/// The entry of a layer at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    Absent,
    /// A null, or a parent that is not a map.
    Deleted,
    Value,
}

fn entry_at(values: &Value, path: &[String]) -> Entry {
    let mut value = values;
    for key in path {
        match value.as_object().map(|fields| fields.get(key)) {
            Some(Some(inner)) => value = inner,
            Some(None) => return Entry::Absent,
            None => return Entry::Deleted,
        }
    }
    if value.is_null() { Entry::Deleted } else { Entry::Value }
}
