//! The values of an instance, layer by layer.

use fitout_api::{ExtensionInstance, VALUES_SECRET};
use fitout_model::overlay;
use kube::ResourceExt;
use serde_json::{Value, json};

use crate::index::Index;

/// The values from secrets, in their order, under those of the instance itself. A null stays: it deletes what the
/// definition or the chart says.
pub(crate) fn values(index: &Index, instance: &ExtensionInstance) -> Result<Value, String> {
    let mut values = secrets(index, instance)?;
    if let Some(own) = &instance.spec.values {
        overlay(&mut values, &Value::Object(own.clone()));
    }
    Ok(values)
}

/// The values from secrets, in their order. What is wrong is said without a value: they are secrets.
pub(crate) fn secrets(index: &Index, instance: &ExtensionInstance) -> Result<Value, String> {
    let namespace = instance.namespace().unwrap_or_default();
    let mut values = json!({});
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
        let layer = fitout_goyaml::from_yaml_strict(text).map_err(|error| match error.line() {
            Some(line) => format!("{what}: `{key}` is not YAML at line {line}; mend it"),
            None => format!("{what}: `{key}` is not YAML; mend it"),
        })?;
        if !layer.is_object() && !layer.is_null() {
            return Err(format!("{what}: `{key}` holds no map of values; write `name: value` lines"));
        }
        if layer.is_object() {
            overlay(&mut values, &layer);
        }
    }
    Ok(values)
}
