//! The layers of values of an instance.

use fitout_api::{ExtensionInstance, VALUES_SECRET};
use fitout_model::overlay;
use fitout_plan::Layer;
use kube::ResourceExt;
use serde_json::{Value, json};

use crate::cache::Cache;

/// The values from Secrets, in order, under those of the instance. A null stays: it deletes a value of the definition
/// or the chart.
pub(crate) fn values(cache: &Cache, instance: &ExtensionInstance) -> Result<Value, String> {
    let mut values = json!({});
    layers(cache, instance)?.iter().for_each(|layer| overlay(&mut values, &layer.values));
    Ok(values)
}

/// The values from Secrets, in order.
pub(crate) fn secrets(cache: &Cache, instance: &ExtensionInstance) -> Result<Value, String> {
    let mut values = json!({});
    for layer in layers(cache, instance)?.iter().filter(|layer| layer.secret) {
        overlay(&mut values, &layer.values);
    }
    Ok(values)
}

/// Each layer over the definition's own, in order. Errors never quote a value, because it may be a secret.
pub(crate) fn layers(cache: &Cache, instance: &ExtensionInstance) -> Result<Vec<Layer>, String> {
    let namespace = instance.namespace().unwrap_or_default();
    let mut layers = Vec::new();
    for source in &instance.spec.values_from {
        let (name, key) = (&source.secret_key_ref.name, &source.secret_key_ref.key);
        let object = format!("Secret/{namespace}/{name}");
        let secret = cache.values(&namespace, name).ok_or_else(|| {
            format!(
                "{object}: no Secret of type {VALUES_SECRET} has this name; create it, or remove it from valuesFrom"
            )
        })?;
        let content = secret.data.as_ref().and_then(|data| data.get(key));
        let content =
            content.ok_or_else(|| format!("{object}: it has no key `{key}`; add the key, or name another"))?;
        let text =
            std::str::from_utf8(&content.0).map_err(|_| format!("{object}: `{key}` is not UTF-8; save it as UTF-8"))?;
        let layer = fitout_go_yaml::from_yaml_strict(text).map_err(|error| match error.line() {
            Some(line) => format!("{object}: `{key}` is not YAML at line {line}; correct it"),
            None => format!("{object}: `{key}` is not YAML; correct it"),
        })?;
        if !layer.is_object() && !layer.is_null() {
            return Err(format!("{object}: `{key}` is not a map of values; write `name: value` lines"));
        }
        if layer.is_object() {
            layers.push(Layer { name: format!("valuesFrom Secret {name}"), values: layer, secret: true });
        }
    }
    let own = instance.spec.values.clone().map(Value::Object);
    layers.extend(own.map(|values| Layer { name: "instance".to_owned(), values, secret: false }));
    Ok(layers)
}
