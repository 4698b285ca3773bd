//! Conversions between API objects and the values that the core decides on.

use fitout_api::{
    ExtensionInstance, ExtensionReference, ExtensionRevision, IgnoredFields, ObjectName, Scope, Test, TestResult,
};
use fitout_cluster_client::Owner;
use fitout_model::{Gvk, ObjectId};
use fitout_plan::Ignore;
use fitout_reconcile::{Action, FailurePolicy, Outcome, Revision, Tested};
use kube::ResourceExt;

use crate::SYSTEM;
use crate::cache::indexes::Key;

/// The namespace of the catalog that an instance names.
pub(crate) fn catalog_namespace(instance: &ExtensionInstance) -> String {
    catalog_key(instance).0
}

/// Namespace and name of the catalog that an instance names.
pub(crate) fn catalog_key(instance: &ExtensionInstance) -> Key {
    catalog_of(&instance.spec.extension, &instance.namespace().unwrap_or_default())
}

/// Namespace and name of the catalog that an organization with this namespace means.
pub(crate) fn catalog_of(extension: &ExtensionReference, namespace: &str) -> Key {
    let namespace = match extension.scope {
        Scope::Shared => SYSTEM,
        Scope::Organization => namespace,
    };
    (namespace.to_owned(), extension.catalog.clone())
}

/// The Helm release of an instance.
pub(crate) fn owner(instance: &ExtensionInstance) -> fitout_plan::Owner<'_> {
    fitout_plan::Owner { name: instance.spec.release_name(), namespace: &instance.spec.namespace }
}

/// The Helm release of an instance, as the object cache names it.
pub(crate) fn release(instance: &ExtensionInstance) -> Owner {
    Owner { name: instance.spec.release_name().to_owned(), namespace: instance.spec.namespace.clone() }
}

pub(crate) fn failure_policy(policy: fitout_api::FailurePolicy) -> FailurePolicy {
    match policy {
        fitout_api::FailurePolicy::Retry => FailurePolicy::Retry,
        fitout_api::FailurePolicy::Rollback => FailurePolicy::Rollback,
        fitout_api::FailurePolicy::Stop => FailurePolicy::Stop,
    }
}

pub(crate) fn tested(test: &Test) -> Tested {
    Tested { run: test.run, over: test.result != TestResult::Running }
}

pub(crate) fn action(action: Action) -> fitout_api::Action {
    match action {
        Action::Install => fitout_api::Action::Install,
        Action::Upgrade => fitout_api::Action::Upgrade,
        Action::Rollback => fitout_api::Action::Rollback,
        Action::Adopt => fitout_api::Action::Adopt,
    }
}

pub(crate) fn outcome(outcome: Option<Outcome>) -> fitout_api::Outcome {
    match outcome {
        None => fitout_api::Outcome::Running,
        Some(Outcome::Deployed) => fitout_api::Outcome::Succeeded,
        Some(Outcome::Superseded) => fitout_api::Outcome::Superseded,
    }
}

/// A revision of an instance, whose status names this revision as the deployed one.
pub(crate) fn revision(revision: &ExtensionRevision, deployed: Option<u32>) -> Revision {
    let spec = &revision.spec;
    Revision {
        number: spec.number,
        action: match spec.action {
            fitout_api::Action::Upgrade => Action::Upgrade,
            fitout_api::Action::Rollback => Action::Rollback,
            fitout_api::Action::Adopt => Action::Adopt,
            fitout_api::Action::Install | fitout_api::Action::Uninstall => Action::Install,
        },
        version: spec.version.clone(),
        definition: spec.definition_digest.clone().into(),
        pack: spec.pack_digest.clone().map(Into::into),
        inputs: spec.input_digest.clone().map(Into::into),
        artifact: spec.artifact_digest.clone().unwrap_or_default().into(),
        inventory: spec.inventory.iter().map(object_id).collect(),
        hooks: spec.hooks.iter().map(object_id).collect(),
        outcome: match revision.outcome(deployed) {
            fitout_api::Outcome::Succeeded => Some(Outcome::Deployed),
            fitout_api::Outcome::Superseded => Some(Outcome::Superseded),
            fitout_api::Outcome::Running | fitout_api::Outcome::Failed => None,
        },
    }
}

fn object_id(name: &ObjectName) -> ObjectId {
    ObjectId {
        gvk: Gvk::new(&name.api_version, &name.kind),
        namespace: name.namespace.clone().unwrap_or_default(),
        name: name.name.clone(),
    }
}

pub(crate) fn object_name(id: &ObjectId) -> ObjectName {
    ObjectName {
        api_version: id.gvk.api_version(),
        kind: id.gvk.kind.clone(),
        namespace: Some(id.namespace.clone()).filter(|namespace| !namespace.is_empty()),
        name: id.name.clone(),
    }
}

pub(crate) fn ignore(fields: &IgnoredFields) -> Ignore {
    let IgnoredFields { kind, name, pointers } = fields.clone();
    Ignore { kind, name, pointers }
}
