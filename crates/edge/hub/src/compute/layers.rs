//! The layers of values of an instance.

use fitout_api::{ExtensionInstance, VALUES_SECRET};
use fitout_model::overlay;
use fitout_plan::{Layer, RenderError};
use kube::ResourceExt;
use serde_json::{Value, json};

use crate::cache::Cache;

/// Why a layer of values cannot be read. It never quotes a value, because that may be a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{object}: {cause}")]
pub(crate) struct LayerError {
    object: String,
    cause: LayerErrorCause,
}

/// The cause of a layer that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum LayerErrorCause {
    #[error("no Secret of type {VALUES_SECRET} has this name; create it, or remove it from valuesFrom")]
    NoSecret,
    #[error("it has no key `{0}`; add the key, or name another")]
    NoKey(String),
    #[error("`{0}` is not UTF-8; save it as UTF-8")]
    NotUtf8(String),
    #[error("`{key}` is not YAML{}; correct it", .line.map(|line| format!(" at line {line}")).unwrap_or_default())]
    NotYaml { key: String, line: Option<usize> },
    #[error("`{0}` is not a map of values; write `name: value` lines")]
    NotAMap(String),
}

impl From<LayerError> for RenderError {
    fn from(error: LayerError) -> Self {
        Self::Invalid(error.to_string())
    }
}

/// The values from Secrets, in order, under those of the instance. A null stays: it deletes a value of the definition
/// or the chart.
pub(crate) fn values(cache: &Cache, instance: &ExtensionInstance) -> Result<Value, LayerError> {
    let mut values = json!({});
    layers(cache, instance)?.iter().for_each(|layer| overlay(&mut values, &layer.values));
    Ok(values)
}

/// The values from Secrets, in order.
pub(crate) fn secrets(cache: &Cache, instance: &ExtensionInstance) -> Result<Value, LayerError> {
    let mut values = json!({});
    for layer in layers(cache, instance)?.iter().filter(|layer| layer.secret) {
        overlay(&mut values, &layer.values);
    }
    Ok(values)
}

/// Each layer over the definition's own, in order.
pub(crate) fn layers(cache: &Cache, instance: &ExtensionInstance) -> Result<Vec<Layer>, LayerError> {
    let namespace = instance.namespace().unwrap_or_default();
    let mut layers = Vec::new();
    for source in &instance.spec.values_from {
        let (name, key) = (&source.secret_key_ref.name, &source.secret_key_ref.key);
        let failed = |cause| LayerError { object: format!("Secret/{namespace}/{name}"), cause };
        let secret = cache.values(&namespace, name).ok_or_else(|| failed(LayerErrorCause::NoSecret))?;
        let content = secret.data.as_ref().and_then(|data| data.get(key));
        let content = content.ok_or_else(|| failed(LayerErrorCause::NoKey(key.clone())))?;
        let text = std::str::from_utf8(&content.0).map_err(|_| failed(LayerErrorCause::NotUtf8(key.clone())))?;
        let layer = fitout_go_yaml::from_yaml_strict(text)
            .map_err(|error| failed(LayerErrorCause::NotYaml { key: key.clone(), line: error.line() }))?;
        if !layer.is_object() && !layer.is_null() {
            return Err(failed(LayerErrorCause::NotAMap(key.clone())));
        }
        if layer.is_object() {
            layers.push(Layer { name: format!("valuesFrom Secret {name}"), values: layer, secret: true });
        }
    }
    let own = instance.spec.values.clone().map(Value::Object);
    layers.extend(own.map(|values| Layer { name: "instance".to_owned(), values, secret: false }));
    Ok(layers)
}
