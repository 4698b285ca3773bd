//! The schema of parameters: it is valid, documented, and accepts the values of the definition.

use fitout_helm_chart::{Chart, Warnings};
use fitout_model::{Engine, coalesce};
use jsonschema::error::ValidationErrorKind;
use serde_json::{Value, json};

use super::{Report, Severity};

const FIELD: &str = "spec.parameters";

pub(super) fn check(report: &mut Report, archive: Option<&[u8]>) {
    let Some(path) = &report.definition().parameters else { return };
    let Some(content) = report.file(path) else {
        report.error(FIELD, format!("file {path} not found"), "add it beside the definition");
        return;
    };
    let schema: Value = match serde_json::from_slice(content) {
        Ok(schema) => schema,
        Err(error) => {
            let message = format!("it is not JSON: {error}");
            report.in_file(Severity::Error, path, Some(error.line()), message, "fix the JSON");
            return;
        }
    };
    descriptions(report, path, &schema);
    match jsonschema::validator_for(&schema) {
        Ok(validator) => values(report, path, &schema, &validator, archive),
        Err(error) if error.to_string().contains("$ref") || refers_elsewhere(&schema) => {
            let message = "values are not checked, because the schema refers to another document".to_owned();
            report.in_file(Severity::Advice, path, None, message, "put the definitions into the schema");
        }
        Err(error) => {
            report.in_file(Severity::Error, path, None, format!("it is not a valid JSON Schema: {error}"), "fix it");
        }
    }
}

/// Whether some `$ref` leaves the document.
fn refers_elsewhere(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => fields.iter().any(|(name, value)| match (name.as_str(), value.as_str()) {
            ("$ref", Some(target)) => !target.starts_with('#'),
            _ => refers_elsewhere(value),
        }),
        Value::Array(items) => items.iter().any(refers_elsewhere),
        _ => false,
    }
}

/// The number of undocumented parameters that a finding names.
const NAMED: usize = 3;

fn descriptions(report: &mut Report, path: &str, schema: &Value) {
    let (mut all, mut missing) = (0, Vec::new());
    leaves(schema, "", &mut |name, property| {
        all += 1;
        if property["description"].as_str().is_none_or(|text| text.trim().is_empty()) && property["$ref"].is_null() {
            missing.push(name.to_owned());
        }
    });
    if !missing.is_empty() {
        let named = missing.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
        let more = missing.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let message = format!("{} of {all} parameters have no description: {named}{more}", missing.len());
        report.in_file(
            Severity::Warning,
            path,
            None,
            message,
            "describe them, because the console shows them in a form",
        );
    }
}

/// The parameters of a schema that have no parameters within.
fn leaves(schema: &Value, prefix: &str, see: &mut dyn FnMut(&str, &Value)) {
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let name = format!("{prefix}{name}");
        match property["properties"].as_object() {
            Some(inner) if !inner.is_empty() => leaves(property, &format!("{name}."), see),
            _ => see(&name, property),
        }
    }
}

/// Checks the values of the definition, over the defaults of the schema or of the chart.
fn values(report: &mut Report, path: &str, schema: &Value, validator: &jsonschema::Validator, archive: Option<&[u8]>) {
    let (field, checked, origin) = match report.definition().engine() {
        Some(Engine::Helm(helm)) => {
            let given = helm.values.clone().map_or_else(|| json!({}), Value::Object);
            let mut all = chart_values(report, &helm.chart, archive).unwrap_or_else(|| json!({}));
            coalesce(&mut all, &given);
            ("spec.helm.values", all, "the values of the chart with those of the definition")
        }
        _ => (FIELD, defaults(schema), "the defaults of the schema"),
    };
    for error in validator.iter_errors(&checked) {
        // A value that users must set has no default.
        if matches!(error.kind(), ValidationErrorKind::Required { .. }) {
            continue;
        }
        let place = error.instance_path().to_string().trim_start_matches('/').replace('/', ".");
        let message = format!("{path} refuses {origin}: {place}: {error}");
        report.error(field, message, "correct the value, or the schema");
    }
}

/// The values that a schema's defaults make.
fn defaults(schema: &Value) -> Value {
    let mut all = json!({});
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        match (property.get("default"), property.get("properties")) {
            (Some(default), _) => all[name] = default.clone(),
            (None, Some(_)) => all[name] = defaults(property),
            (None, None) => {}
        }
    }
    all
}

/// The `values.yaml` of the chart, where the chart is at hand.
fn chart_values(report: &Report, name: &str, archive: Option<&[u8]>) -> Option<Value> {
    let archive = archive.or_else(|| report.file(name));
    let text = match archive {
        Some(archive) => {
            let chart = Chart::from_archive(archive, &mut Warnings::new()).ok()?;
            chart.values_text()?.into_owned()
        }
        None => {
            String::from_utf8_lossy(report.file(&format!("{}/values.yaml", name.trim_end_matches('/')))?).into_owned()
        }
    };
    fitout_go_yaml::from_yaml(&text).ok().filter(Value::is_object)
}
