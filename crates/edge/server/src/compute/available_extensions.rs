//! The `availableextensions` resource: the extensions that an organization can install. Computed on read, never stored.

use fitout_api::{AvailableExtension, BUILTIN};
use fitout_hub::{ExtensionError, Hub};
use http::{HeaderMap, header};
use kube::ResourceExt;
use serde_json::{Value, json};

use super::access_review::{Action, require};
use super::error::ApiError;
use super::front_proxy::Caller;
use super::{GROUP, VERSION};

/// The name of the resource.
pub(crate) const RESOURCE: &str = "availableextensions";

/// Lists the extensions for an authorized caller, as objects or as the table that kubectl shows.
pub(crate) async fn list(
    hub: &Hub,
    caller: &Caller,
    namespace: &str,
    query: &str,
    headers: &HeaderMap,
) -> Result<Value, ApiError> {
    let action = Action { verb: "list", group: GROUP, resource: RESOURCE, namespace, name: None };
    require(hub.unfenced(), caller, action).await?;
    let options = Options::parse(query)?;
    let found = hub
        .available_extensions(namespace, options.label_selector.as_deref())
        .await
        .map_err(|error| api_error(&error))?;
    if wants_table(headers) {
        return Ok(table(&found));
    }
    let items: Result<Vec<Value>, _> = found.iter().map(serde_json::to_value).collect();
    let items = items.map_err(|error| ApiError::internal(format!("serialize the response: {error}")))?;
    Ok(json!({
        "apiVersion": format!("{GROUP}/{VERSION}"), "kind": "AvailableExtensionList",
        "metadata": { "resourceVersion": "" }, "items": items,
    }))
}

/// One of the extensions, for an authorized caller.
pub(crate) async fn get(
    hub: &Hub,
    caller: &Caller,
    namespace: &str,
    name: &str,
    headers: &HeaderMap,
) -> Result<Value, ApiError> {
    let action = Action { verb: "get", group: GROUP, resource: RESOURCE, namespace, name: Some(name) };
    require(hub.unfenced(), caller, action).await?;
    let mut found = hub.available_extensions(namespace, None).await.map_err(|error| api_error(&error))?;
    found.retain(|extension| extension.name_any() == name);
    if found.is_empty() {
        return Err(ApiError::not_found(format!("{RESOURCE}.{GROUP} \"{name}\" not found")));
    }
    if wants_table(headers) {
        return Ok(table(&found));
    }
    serde_json::to_value(&found[0]).map_err(|error| ApiError::internal(format!("serialize the response: {error}")))
}

/// The error of the hub as one of the API.
pub(crate) fn api_error(error: &ExtensionError) -> ApiError {
    let message = error.to_string();
    match error {
        ExtensionError::NotFound(_) => ApiError::not_found(message),
        ExtensionError::Invalid(_) => ApiError::invalid(message),
        ExtensionError::Refused(_) => ApiError::bad_request(message),
        ExtensionError::Unavailable(_) => ApiError::unavailable(message),
    }
}

/// The options of a list.
#[derive(Debug, Default, PartialEq)]
struct Options {
    label_selector: Option<String>,
}

impl Options {
    fn parse(query: &str) -> Result<Self, ApiError> {
        let mut options = Self::default();
        for (key, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
            let value = percent_encoding::percent_decode_str(&value.replace('+', " ")).decode_utf8_lossy().into_owned();
            match key {
                "labelSelector" => options.label_selector = Some(value).filter(|value| !value.is_empty()),
                "fieldSelector" if !value.is_empty() => {
                    return Err(ApiError::bad_request(format!(
                        "{RESOURCE} have no field selectors; use a label selector"
                    )));
                }
                "watch" if value == "true" || value == "1" => {
                    let message = format!("{RESOURCE} cannot be watched; watch extensions.fitout.dev");
                    return Err(ApiError::not_allowed(message));
                }
                _ => {}
            }
        }
        Ok(options)
    }
}

/// Whether the client prefers a table, as kubectl does.
fn wants_table(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    let first = accept.split(',').next().unwrap_or_default();
    let has = |parameter: &str| first.split(';').any(|part| part.trim() == parameter);
    has("as=Table") && has("v=v1")
}

/// The table that kubectl shows.
fn table(extensions: &[AvailableExtension]) -> Value {
    let column = |name: &str, type_: &str, priority: u32, description: &str| json!({ "name": name, "type": type_, "format": "", "description": description, "priority": priority });
    let rows = extensions.iter().map(|extension| {
        let spec = &extension.spec.extension;
        let newest = spec.versions.first();
        let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
        let builtin = if extension.labels().contains_key(BUILTIN) { "yes" } else { "no" };
        json!({
            "cells": [
                extension.name_any(), spec.extension, spec.catalog, format!("{:?}", extension.spec.scope),
                text(newest.map(|newest| newest.version.as_str())),
                text(newest.and_then(|newest| newest.kubernetes.as_deref())),
                builtin, text(spec.summary.as_deref()),
            ],
            "object": { "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": extension.metadata },
        })
    });
    json!({
        "kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": { "resourceVersion": "" },
        "columnDefinitions": [
            column("Name", "string", 0, "The name."),
            column("Extension", "string", 0, "The extension."),
            column("Catalog", "string", 0, "The catalog that offers it."),
            column("Scope", "string", 0, "The owner of the catalog."),
            column("Newest", "string", 0, "The newest version."),
            column("Kubernetes", "string", 0, "The Kubernetes versions that the newest version supports."),
            column("Builtin", "string", 0, "Whether a catalog of the platform offers it."),
            column("Summary", "string", 1, "The purpose of the extension."),
        ],
        "rows": rows.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_decoded_and_unsupported_ones_are_refused() {
        let options = Options::parse("labelSelector=fitout.dev%2Fbuiltin%3Dtrue&limit=500").unwrap();
        assert_eq!(options.label_selector.as_deref(), Some("fitout.dev/builtin=true"));
        assert_eq!(Options::parse("").unwrap(), Options::default());
        assert!(Options::parse("fieldSelector=metadata.name%3Dx").is_err());
        assert!(Options::parse("watch=true").is_err());
    }

    #[test]
    fn kubectl_gets_a_table_and_programs_get_objects() {
        let wants = |accept: &str| wants_table(&HeaderMap::from_iter([(header::ACCEPT, accept.parse().unwrap())]));
        assert!(wants("application/json;as=Table;v=v1;g=meta.k8s.io,application/json"));
        assert!(wants("application/json;as=Table;g=meta.k8s.io;v=v1"));
        assert!(!wants("application/json"));
        assert!(!wants("application/json;as=Table;v=v1beta1;g=meta.k8s.io"));
    }
}
