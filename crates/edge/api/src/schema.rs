//! Schemas as the API server wants them.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};

/// The same definition without what only Rust knows of, and with descriptions that are lines of their own length.
pub(crate) fn tidied(mut crd: CustomResourceDefinition) -> CustomResourceDefinition {
    for version in &mut crd.spec.versions {
        if let Some(schema) = version.schema.as_mut().and_then(|schema| schema.open_api_v3_schema.as_mut()) {
            tidy(schema);
            name(schema);
            whole(schema, "status");
            if crd.spec.names.kind == "ExtensionRevision" {
                whole(schema, "spec");
            }
        }
    }
    crd
}

/// Says that a field is written as a whole, because only the hub writes it. Otherwise the API server keeps account of who
/// has written each field within, which was nearly half of what a status costs and tells nobody anything.
fn whole(schema: &mut JSONSchemaProps, field: &str) {
    if let Some(field) = schema.properties.as_mut().and_then(|properties| properties.get_mut(field)) {
        field.x_kubernetes_map_type = Some("atomic".to_owned());
    }
}

/// Says that an object has a name, so that a rule may point there when it refuses one. No more may be said of it.
fn name(schema: &mut JSONSchemaProps) {
    let of_type = |type_: &str| JSONSchemaProps { type_: Some(type_.to_owned()), ..JSONSchemaProps::default() };
    let properties = [("name".to_owned(), of_type("string"))].into();
    let metadata = JSONSchemaProps { properties: Some(properties), ..of_type("object") };
    schema.properties.get_or_insert_default().insert("metadata".to_owned(), metadata);
}

/// An absent field is absent, never null; unsigned numbers have a minimum and no format; a description's line breaks are
/// those of its paragraphs.
fn tidy(schema: &mut JSONSchemaProps) {
    schema.nullable = None;
    schema.title = None;
    schema.format.take_if(|format| format.starts_with("uint"));
    if let Some(description) = &mut schema.description {
        let paragraphs: Vec<_> = description.split("\n\n").map(|paragraph| paragraph.replace('\n', " ")).collect();
        *description = paragraphs.join("\n\n");
    }
    schema.properties.iter_mut().flatten().for_each(|(_, property)| tidy(property));
    match &mut schema.items {
        Some(JSONSchemaPropsOrArray::Schema(items)) => tidy(items),
        Some(JSONSchemaPropsOrArray::Schemas(items)) => items.iter_mut().for_each(tidy),
        None => {}
    }
    // What is unknown is left as it is.
    if let Some(JSONSchemaPropsOrBool::Schema(values)) = &mut schema.additional_properties
        && values.x_kubernetes_preserve_unknown_fields != Some(true)
    {
        tidy(values);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    /// Every schema within a schema, with the path to it.
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
    fn what_only_the_hub_writes_is_written_as_a_whole() {
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
    fn every_field_says_what_it_is() {
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
    fn every_rule_says_why_in_a_line() {
        visit_all(|path, schema| {
            for rule in schema["x-kubernetes-validations"].as_array().into_iter().flatten() {
                let sentence = rule["message"].as_str().unwrap_or_default();
                assert!(sentence.contains(' ') && !sentence.contains('\n'), "{path}: {rule}");
            }
        });
    }

    #[test]
    fn nothing_is_nullable_and_no_format_is_unknown_to_kubernetes() {
        visit_all(|path, schema| {
            assert_eq!(schema.get("nullable"), None, "{path}");
            let format = schema["format"].as_str().unwrap_or("int64");
            assert!(["int32", "int64", "date-time"].contains(&format), "{path}: {format}");
        });
    }
}
