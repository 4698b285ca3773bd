//! `AvailableExtension`: an extension that an organization can install. The hub lists them and does not store them.

use kube::CustomResource;
use serde::{Deserialize, Serialize};

use crate::{Extension, ExtensionSpec, Scope};

/// An extension of a shared catalog or of a catalog of the organization.
#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "compute.fitout.dev",
    version = "v1alpha1",
    kind = "AvailableExtension",
    doc = "An AvailableExtension is an extension that the organization of its namespace can install.",
    namespaced,
    schema = "disabled",
    derive = "PartialEq"
)]
#[serde(rename_all = "camelCase")]
pub struct AvailableExtensionSpec {
    /// The owner of the catalog.
    pub scope: Scope,
    /// The extension, as its catalog lists it.
    #[serde(flatten)]
    pub extension: ExtensionSpec,
}

impl AvailableExtension {
    /// The extension as the organization with this namespace sees it.
    pub fn of(extension: Extension, scope: Scope, namespace: &str) -> Self {
        let Extension { metadata, spec, .. } = extension;
        // The same catalog and extension can exist in both scopes.
        let name = match scope {
            Scope::Shared => Extension::name_of(&spec.catalog, &spec.extension),
            Scope::Organization => format!("{}.organization", Extension::name_of(&spec.catalog, &spec.extension)),
        };
        let mut available = Self::new(&name, AvailableExtensionSpec { scope, extension: spec });
        available.metadata.namespace = Some(namespace.to_owned());
        available.metadata.labels = metadata.labels;
        available.metadata.creation_timestamp = metadata.creation_timestamp;
        available.metadata.resource_version = metadata.resource_version;
        available.metadata.uid = metadata.uid;
        available
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_same_name_in_both_scopes_is_two_extensions() {
        let extension: Extension = serde_json::from_value(json!({
            "apiVersion": "fitout.dev/v1alpha1", "kind": "Extension",
            "metadata": { "name": "community.web", "namespace": "fitout-system", "labels": { "fitout.dev/builtin": "true" } },
            "spec": { "catalog": "community", "extension": "web" },
        }))
        .unwrap();
        let shared = AvailableExtension::of(extension.clone(), Scope::Shared, "org-acme");
        let own = AvailableExtension::of(extension, Scope::Organization, "org-acme");
        assert_eq!(
            serde_json::to_value(&shared).unwrap(),
            json!({
                "apiVersion": "compute.fitout.dev/v1alpha1", "kind": "AvailableExtension",
                "metadata": {
                    "name": "community.web", "namespace": "org-acme", "labels": { "fitout.dev/builtin": "true" },
                },
                "spec": { "scope": "Shared", "catalog": "community", "extension": "web" },
            })
        );
        assert_eq!(own.metadata.name.as_deref(), Some("community.web.organization"));
    }
}
