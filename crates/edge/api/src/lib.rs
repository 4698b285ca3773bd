//! The API types of Fitout: the custom resources of `fitout.dev/v1alpha1` and the answers of
//! `compute.fitout.dev/v1alpha1`.
//!
//! Each kind has a file. The API server validates objects by the schemas and rules of this crate, whose messages users
//! can act on; every object it accepts is read and written here without loss. Nothing here talks to a cluster.

#![allow(clippy::duplicated_attributes, reason = "printer columns share types")]
#![allow(unreachable_pub, reason = "the JsonSchema derive copies each type into a function")]

mod available_extension;
mod catalog;
mod cluster;
pub mod conditions;
mod definition;
mod extension;
mod extension_details;
mod instance;
mod organization;
mod plan;
pub use fitout_model::reasons;
mod revision;
mod rules;
mod schema;
mod values;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::CustomResourceExt;

pub use available_extension::{AvailableExtension, AvailableExtensionSpec};
pub use catalog::{
    ACCEPT_REVISION, ArchiveSource, BUILTIN, Catalog, CatalogFilter, CatalogSource, CatalogSpec, CatalogStatus,
    DirectorySource, GitSource, HelmRepositorySource, SIDELOADED, SYNC_REQUESTED_AT, SourceStatus,
};
pub use cluster::{Cluster, ClusterSpec, ClusterStatus, Nodes};
pub use definition::{ExtensionDefinition, ExtensionDefinitionSpec, ExtensionDefinitionStatus};
pub use extension::{Extension, ExtensionSpec, ExtensionStatus, ExtensionVersion};
pub use extension_details::{ExtensionDetails, ExtensionDetailsSpec, ExtensionDetailsStatus, VersionChanges};
pub use fitout_model::{FreeForm, VersionState, VersionStateRule};
pub use instance::{
    Choice, Drift, ExtensionInstance, ExtensionInstanceSpec, ExtensionInstanceStatus, ExtensionReference,
    FailurePolicy, IgnoredFields, ObjectCount, Policy, RevisionSummary, Scope, SecretKeyReference, Step, Takeover,
    Test, TestResult, Unhealthy, Upgrade, ValuesSource,
};
pub use organization::{Member, MemberRole, Organization, OrganizationSpec, OrganizationStatus};
pub use plan::{FieldChange, Obstacle, Plan, PlanSpec, PlanStatus, PlannedChange, PlannedWrite, WriteAct};
pub use revision::{Action, ExtensionRevision, ExtensionRevisionSpec, ExtensionRevisionStatus, ObjectName, Outcome};
pub use values::{SourcedValue, Values, ValuesSpec, ValuesStatus};

/// The API group of the custom resources.
pub const GROUP: &str = "fitout.dev";

/// The version of the group.
pub const VERSION: &str = "v1alpha1";

/// The category that `kubectl get fitout` lists.
pub const CATEGORY: &str = "fitout";

/// The type of Secrets that hold a kubeconfig.
pub const KUBECONFIG_SECRET: &str = "fitout.dev/kubeconfig";

/// The type of Secrets that `valuesFrom` may name.
pub const VALUES_SECRET: &str = "fitout.dev/values";

/// The type of Secrets with the credentials of a chart repository: `repository` is its address; `username` and
/// `password`, `token`, `tls.crt` and `tls.key`, `ca.crt` or `.dockerconfigjson` are the credentials.
pub const REPOSITORY_SECRET: &str = "fitout.dev/repository";

/// The type of Secrets that hold the files of an `ExtensionDefinition` of the same name, as a gzipped tar under `files`.
pub const FILES_SECRET: &str = "fitout.dev/files";

/// The annotation that lets a cluster be deleted without cleaning up anything on it. Its value is the cluster's name.
pub const FORGET: &str = "fitout.dev/forget";

/// The finalizer that keeps an instance, and the record of its objects, until the extension is uninstalled.
pub const FINALIZER: &str = "fitout.dev/installed";

/// The CRDs of all kinds, sorted by kind.
///
/// `deploy/crds` is generated from them. Unlike the result of `crd()` of a single type, their schemas are normalized
/// for the API server.
pub fn crds() -> Vec<CustomResourceDefinition> {
    let crds = [
        Catalog::crd(),
        Cluster::crd(),
        Extension::crd(),
        ExtensionDefinition::crd(),
        ExtensionInstance::crd(),
        ExtensionRevision::crd(),
        Organization::crd(),
    ];
    crds.into_iter().map(schema::normalized).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_crd_has_the_group_the_category_and_a_status() {
        for crd in crds() {
            let name = crd.metadata.name.unwrap();
            assert_eq!((crd.spec.group.as_str(), name.ends_with(".fitout.dev")), (GROUP, true), "{name}");
            assert_eq!(crd.spec.names.categories, Some(vec![CATEGORY.to_owned()]), "{name}");
            assert!(!crd.spec.names.short_names.unwrap().is_empty(), "{name}");
            assert_eq!(crd.spec.versions[0].name, VERSION, "{name}");
            assert!(crd.spec.versions[0].subresources.as_ref().unwrap().status.is_some(), "{name}");
        }
    }

    #[test]
    fn short_names_are_unique() {
        let mut names: Vec<_> = crds().into_iter().flat_map(|crd| crd.spec.names.short_names.unwrap()).collect();
        names.sort();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
