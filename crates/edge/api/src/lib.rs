//! The objects of `fitout.dev/v1alpha1`: what a person writes and what the hub says about it.
//!
//! Each kind has a file. What the API server refuses, it refuses by the schemas and rules made here, with a sentence
//! that a person can act on; what it accepts, these types read and write without loss. Nothing here talks to a cluster.

#![allow(clippy::duplicated_attributes, reason = "columns of a table have types in common")]
#![allow(unreachable_pub, reason = "the derive of a schema copies each type into a function, out of everyone's reach")]

mod catalog;
mod cluster;
pub mod conditions;
mod definition;
mod extension;
mod instance;
mod organization;
mod plan;
pub mod reasons;
mod revision;
mod rules;
mod schema;
mod values;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::CustomResourceExt;

pub use catalog::{Catalog, CatalogSource, CatalogSpec, CatalogStatus, DirectorySource};
pub use cluster::{Cluster, ClusterSpec, ClusterStatus, Nodes};
pub use definition::{ExtensionDefinition, ExtensionDefinitionSpec, ExtensionDefinitionStatus};
pub use extension::{Extension, ExtensionSpec, ExtensionStatus, ExtensionVersion};
pub use fitout_model::FreeForm;
pub use instance::{
    Choice, Drift, ExtensionInstance, ExtensionInstanceSpec, ExtensionInstanceStatus, ExtensionReference,
    FailurePolicy, IgnoredFields, ObjectCount, Policy, RevisionSummary, Scope, SecretKeyReference, Step, Takeover,
    Test, TestResult, Unhealthy, Upgrade, ValuesSource,
};
pub use organization::{Member, MemberRole, Organization, OrganizationSpec, OrganizationStatus};
pub use plan::{Plan, PlanSpec};
pub use revision::{Action, ExtensionRevision, ExtensionRevisionSpec, ExtensionRevisionStatus, ObjectName, Outcome};
pub use values::{Values, ValuesSpec};

/// The API group of all kinds.
pub const GROUP: &str = "fitout.dev";

/// The version of the group.
pub const VERSION: &str = "v1alpha1";

/// The category that `kubectl get fitout` lists.
pub const CATEGORY: &str = "fitout";

/// The type of secrets that a kubeconfig is in.
pub const KUBECONFIG_SECRET: &str = "fitout.dev/kubeconfig";

/// The type of secrets that values may come from.
pub const VALUES_SECRET: &str = "fitout.dev/values";

/// The type of a secret that says what a repository of charts wants to see: `repository`, the address it is for, and
/// `username` and `password`, `token`, `tls.crt` and `tls.key`, `ca.crt` or `.dockerconfigjson`.
pub const REPOSITORY_SECRET: &str = "fitout.dev/repository";

/// The annotation by which a cluster that is deleted is forgotten: its value is the cluster's own name, and nothing on the
/// cluster is cleaned up.
pub const FORGET: &str = "fitout.dev/forget";

/// The finalizer that holds an instance until its cluster is clean, and with it all that is known of what is there.
pub const FINALIZER: &str = "fitout.dev/installed";

/// Every kind's definition, as it is to be installed, in the order of their names.
///
/// This, and not `crd()` of a single type, is what `deploy/crds` holds: it is tidied for the API server.
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
    crds.into_iter().map(schema::tidied).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_of_our_group_and_category_and_has_a_status() {
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
    fn short_names_are_given_once() {
        let mut names: Vec<_> = crds().into_iter().flat_map(|crd| crd.spec.names.short_names.unwrap()).collect();
        names.sort();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
