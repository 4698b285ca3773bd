//! The values of an instance, layer by layer.

use fitout_api::{ExtensionInstance, VALUES_SECRET};
use fitout_model::overlay;
use fitout_plan::Layer;
use kube::ResourceExt;
use serde_json::{Value, json};

use crate::cache::Cache;

/// The values from secrets, in their order, under those of the instance itself. A null stays: it deletes what the
/// definition or the chart says.
pub(crate) fn values(index: &Cache, instance: &ExtensionInstance) -> Result<Value, String> {
    let mut values = json!({});
    layers(index, instance)?.iter().for_each(|layer| overlay(&mut values, &layer.values));
    Ok(values)
}

/// The values from secrets, in their order.
pub(crate) fn secrets(index: &Cache, instance: &ExtensionInstance) -> Result<Value, String> {
    let mut values = json!({});
    for layer in layers(index, instance)?.iter().filter(|layer| layer.secret) {
        overlay(&mut values, &layer.values);
    }
    Ok(values)
}

/// Each layer over the definition's own, in their order. What is wrong is said without a value: they may be secrets.
pub(crate) fn layers(index: &Cache, instance: &ExtensionInstance) -> Result<Vec<Layer>, String> {
    let namespace = instance.namespace().unwrap_or_default();
    let mut layers = Vec::new();
    for source in &instance.spec.values_from {
        let (name, key) = (&source.secret_key_ref.name, &source.secret_key_ref.key);
        let what = format!("Secret/{namespace}/{name}");
        let secret = index.values(&namespace, name).ok_or_else(|| {
            format!("{what}: there is no such secret of type {VALUES_SECRET}; make it, or take it out of valuesFrom")
        })?;
        let content = secret.data.as_ref().and_then(|data| data.get(key));
        let content = content.ok_or_else(|| format!("{what}: it has no key `{key}`; add it, or name another"))?;
        let text =
            std::str::from_utf8(&content.0).map_err(|_| format!("{what}: `{key}` is not UTF-8; save it as UTF-8"))?;
        let layer = fitout_go_yaml::from_yaml_strict(text).map_err(|error| match error.line() {
            Some(line) => format!("{what}: `{key}` is not YAML at line {line}; mend it"),
            None => format!("{what}: `{key}` is not YAML; mend it"),
        })?;
        if !layer.is_object() && !layer.is_null() {
            return Err(format!("{what}: `{key}` holds no map of values; write `name: value` lines"));
        }
        if layer.is_object() {
            layers.push(Layer { name: format!("valuesFrom Secret {name}"), values: layer, secret: true });
        }
    }
    let own = instance.spec.values.clone().map(Value::Object);
    layers.extend(own.map(|values| Layer { name: "instance".to_owned(), values, secret: false }));
    Ok(layers)
}
