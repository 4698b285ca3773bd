//! Where each value comes from that an extension is made with.

use fitout_go_template::Value as Seen;
use fitout_helm_chart::values;
use fitout_model::{Definition, Engine, Helm, Problem, overlay};
use serde_json::{Value, json};

use crate::manifests::problem;
use crate::{Files, helm, parameters};

/// Values that one hand gave, over those of the definition.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// What it is called.
    pub name: String,
    /// The values. A null deletes what is below it.
    pub values: Value,
    /// Whether they are nobody's to see.
    pub secret: bool,
}

/// One value, and the layer that set it.
#[derive(Clone, Debug, PartialEq)]
pub struct Origin {
    /// The keys that lead to it.
    pub path: Vec<String>,
    /// The value: no map, unless it is empty.
    pub value: Value,
    /// The layer that set it: one that was given, `definition`, or `chart` with the name of a dependency.
    pub layer: String,
    /// The layers that have a value in this place as well, and lost: those that win over others first.
    pub over: Vec<String>,
    /// Whether nobody has set it: it is a default.
    pub default: bool,
    /// Whether it is nobody's to see.
    pub secret: bool,
}

/// What the definition says, of charts and of parameters.
const DEFINITION: &str = "definition";

/// Every value that templates or manifests see, with the layer that it comes from. Of layers, later ones win. Values are
/// not checked: where they are wrong, a person wants to know whose they are.
pub fn origins(definition: &Definition, files: Files, layers: &[Layer]) -> Result<Vec<Origin>, Problem> {
    match definition.engine() {
        Some(Engine::Helm(helm)) => of_chart(definition, helm, files, layers),
        _ => Ok(of_parameters(&parameters::schema(definition, files)?, layers)),
    }
}

fn of_chart(definition: &Definition, helm: &Helm, files: Files, layers: &[Layer]) -> Result<Vec<Origin>, Problem> {
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

/// A value of templates as it would be written in a file.
fn read(value: &Seen) -> Value {
    let written = fitout_helm_functions::to_yaml(value).unwrap_or_default();
    fitout_go_yaml::from_yaml(&written).unwrap_or_default()
}

fn is_secret(name: &str, layers: &[Layer]) -> bool {
    layers.iter().any(|layer| layer.secret && layer.name == name)
}

fn of_parameters(schema: &Value, layers: &[Layer]) -> Vec<Origin> {
    let mut given = json!({});
    for layer in layers {
        overlay(&mut given, &layer.values);
    }
    let (all, defaults) = (parameters::filled(schema, &given), parameters::filled(schema, &json!({})));
    let mut leaves = Vec::new();
    collect(&all, &mut Vec::new(), &mut leaves);
    let origin = |(path, value): (Vec<String>, &Value)| {
        let has = |said: &Said| *said == Said::Value;
        let mut said = layers.iter().rev().map(|layer| (layer.name.as_str(), said(&layer.values, &path)));
        // What is below one that speaks of this place is out of sight.
        let winner = said.find(|(_, said)| *said != Said::Nothing).filter(|(_, said)| has(said));
        let lost = said.filter(|(_, said)| has(said)).map(|(name, _)| name.to_owned());
        let default = (winner.is_some() && has(&self::said(&defaults, &path))).then(|| DEFINITION.to_owned());
        let layer = winner.map_or(DEFINITION, |(name, _)| name);
        Origin {
            over: lost.chain(default).collect(),
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

/// What a layer says of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    Nothing,
    /// There is nothing there, or something else around it.
    Gone,
    Value,
}

fn said(values: &Value, path: &[String]) -> Said {
    let mut value = values;
    for key in path {
        match value.as_object().map(|fields| fields.get(key)) {
            Some(Some(inner)) => value = inner,
            Some(None) => return Said::Nothing,
            None => return Said::Gone,
        }
    }
    if value.is_null() { Said::Gone } else { Said::Value }
}
