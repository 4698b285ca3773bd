//! Normalization of generated schemas for the API server.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};

/// Normalizes the schemas of a CRD: Rust-specific formats are removed and descriptions unwrapped.
pub(crate) fn normalized(mut crd: CustomResourceDefinition) -> CustomResourceDefinition {
    for version in &mut crd.spec.versions {
        if let Some(schema) = version.schema.as_mut().and_then(|schema| schema.open_api_v3_schema.as_mut()) {
            normalize(schema);
            declare_name(schema);
            make_atomic(schema, "status");
            if crd.spec.names.kind == "ExtensionRevision" {
                make_atomic(schema, "spec");
            }
        }
    }
    crd
}

/// Makes a field atomic, because only the hub writes it. Otherwise the API server tracks the manager of each field
/// within, which was nearly half of the cost of a status.
fn make_atomic(schema: &mut JSONSchemaProps, field: &str) {
    if let Some(field) = schema.properties.as_mut().and_then(|properties| properties.get_mut(field)) {
        field.x_kubernetes_map_type = Some("atomic".to_owned());
    }
}

/// Declares `metadata.name`, so that rules can report it as the invalid field. The API server allows no more than that.
fn declare_name(schema: &mut JSONSchemaProps) {
    let of_type = |type_: &str| JSONSchemaProps { type_: Some(type_.to_owned()), ..JSONSchemaProps::default() };
    let properties = [("name".to_owned(), of_type("string"))].into();
    let metadata = JSONSchemaProps { properties: Some(properties), ..of_type("object") };
    schema.properties.get_or_insert_default().insert("metadata".to_owned(), metadata);
}

/// Removes `nullable`, titles and the formats of unsigned integers, and joins the lines of each paragraph of a
/// description.
fn normalize(schema: &mut JSONSchemaProps) {
    schema.nullable = None;
    schema.title = None;
    schema.format.take_if(|format| format.starts_with("uint"));
    if let Some(description) = &mut schema.description {
        let paragraphs: Vec<_> = description.split("\n\n").map(|paragraph| paragraph.replace('\n', " ")).collect();
        *description = paragraphs.join("\n\n");
    }
    schema.properties.iter_mut().flatten().for_each(|(_, property)| normalize(property));
    match &mut schema.items {
        Some(JSONSchemaPropsOrArray::Schema(items)) => normalize(items),
        Some(JSONSchemaPropsOrArray::Schemas(items)) => items.iter_mut().for_each(normalize),
        None => {}
    }
    // The schema of unknown fields stays as it is.
    if let Some(JSONSchemaPropsOrBool::Schema(values)) = &mut schema.additional_properties
        && values.x_kubernetes_preserve_unknown_fields != Some(true)
    {
        normalize(values);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    /// Visits every schema within a schema, with its path.
    fn walk(path: &str, schema: &Value, visit: &mut impl FnMut(&str, &Value)) {
        visit(path, schema);
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            walk(&format!("{path}.{name}"), property, visit);
        }
        if let Some(items) = schema.get("items") {
            walk(&format!("{path}[]"), items, visit);
        }
    }

    fn visit_all(mut visit: impl FnMut(&str, &Value)) {
        for crd in crate::crds() {
            let schema = crd.spec.versions[0].schema.as_ref().unwrap().open_api_v3_schema.as_ref().unwrap();
            walk(&crd.spec.names.kind, &serde_json::to_value(schema).unwrap(), &mut visit);
        }
    }

    #[test]
    fn statuses_and_revision_specs_are_atomic() {
        let mut whole = vec![];
        visit_all(|path, schema| {
            if schema["x-kubernetes-map-type"] == "atomic" {
                whole.push(path.to_owned());
            }
        });
        let statuses = whole.iter().filter(|path| path.ends_with(".status")).count();
        let of_kinds = crate::crds().iter().filter(|crd| crd.spec.versions[0].subresources.is_some()).count();
        assert_eq!((statuses, whole.len()), (of_kinds, of_kinds + 1), "{whole:?}");
        assert!(whole.contains(&"ExtensionRevision.spec".to_owned()), "{whole:?}");
    }

    #[test]
    fn every_field_has_a_description() {
        let mut silent = vec![];
        visit_all(|path, schema| {
            let ours = !path.ends_with("[]") && !path.contains(".metadata");
            if ours && schema["description"].as_str().is_none_or(str::is_empty) {
                silent.push(path.to_owned());
            }
        });
        assert!(silent.is_empty(), "{silent:#?}");
    }

    #[test]
    fn every_rule_has_a_message_of_one_line() {
        visit_all(|path, schema| {
            for rule in schema["x-kubernetes-validations"].as_array().into_iter().flatten() {
                let sentence = rule["message"].as_str().unwrap_or_default();
                assert!(sentence.contains(' ') && !sentence.contains('\n'), "{path}: {rule}");
            }
        });
    }

    #[test]
    fn no_field_is_nullable_or_has_an_unknown_format() {
        visit_all(|path, schema| {
            assert_eq!(schema.get("nullable"), None, "{path}");
            let format = schema["format"].as_str().unwrap_or("int64");
            assert!(["int32", "int64", "date-time"].contains(&format), "{path}: {format}");
        });
    }
}
