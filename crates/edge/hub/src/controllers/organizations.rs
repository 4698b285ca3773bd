//! The controller of organizations: creates the namespace of each, and binds its members to roles.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Result;
use fitout_api::conditions::{self, ConditionStatus, ConditionUpdate};
use fitout_api::{MemberRole, Organization, OrganizationStatus, reasons};
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::api::rbac::v1::RoleBinding;
use kube::{Api, Resource, ResourceExt};
use serde_json::{Value, json};

use crate::storage::api_writes;
use crate::{Hub, SYSTEM};

/// The role that lets members of organizations read the shared catalogs.
const CATALOG_READER: &str = "fitout-catalog-reader";

pub(crate) async fn run(hub: Arc<Hub>) -> Result<()> {
    let mut changes = hub.cache.others();
    // The generation that was reconciled last, by name.
    let mut done: BTreeMap<String, i64> = BTreeMap::new();
    loop {
        changes.mark_unchanged();
        let mut failed = false;
        for organization in hub.cache.organizations.state() {
            let (name, generation) = (organization.name_any(), organization.metadata.generation.unwrap_or_default());
            if done.get(&name) == Some(&generation) || organization.metadata.deletion_timestamp.is_some() {
                continue;
            }
            match reconcile(&hub, &organization).await {
                Ok(()) => drop(done.insert(name, generation)),
                Err(error) => {
                    tracing::warn!(organization = name, %error, "failed to reconcile organization");
                    failed = true;
                }
            }
        }
        api_writes::next_change(&mut changes, failed).await?;
    }
}

/// Lets all members read the shared catalogs and their extensions.
async fn share_catalogs(hub: &Hub, organization: &Organization) -> Result<()> {
    let name = format!("org-{}", organization.name_any());
    let members = organization.spec.members.iter();
    let subjects: Vec<_> = members.map(|member| subject(&member.name)).collect();
    let object = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
        "metadata": { "name": name, "ownerReferences": [organization.controller_owner_ref(&())] },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": CATALOG_READER },
        "subjects": subjects,
    });
    let bindings = Api::<RoleBinding>::namespaced(hub.client.clone(), SYSTEM);
    api_writes::ensure(&bindings, &name, &object).await?;
    Ok(())
}

fn subject(user: &str) -> Value {
    json!({ "kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": user })
}

async fn reconcile(hub: &Hub, organization: &Organization) -> Result<()> {
    let name = organization.name_any();
    let namespace = format!("org-{name}");
    let owner = organization.controller_owner_ref(&());
    let object = json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": { "name": namespace, "labels": { "fitout.dev/organization": name }, "ownerReferences": [owner] },
    });
    api_writes::ensure(&Api::<Namespace>::all(hub.client.clone()), &namespace, &object).await?;
    // The roles are shipped with the hub. The hub only binds members to them.
    for (role, member_role) in
        [("fitout-organization-admin", MemberRole::Admin), ("fitout-organization-member", MemberRole::Member)]
    {
        let members = organization.spec.members.iter().filter(|member| member.role == member_role);
        let subjects: Vec<_> = members.map(|member| subject(&member.name)).collect();
        let object = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": { "name": role },
            "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role },
            "subjects": subjects,
        });
        let bindings = Api::<RoleBinding>::namespaced(hub.client.clone(), &namespace);
        api_writes::ensure(&bindings, role, &object).await?;
    }
    share_catalogs(hub, organization).await?;
    let mut status = organization.status.clone().unwrap_or_default();
    let update = ConditionUpdate {
        type_: conditions::READY,
        status: ConditionStatus::True,
        reason: reasons::ready::ACCEPTED,
        message: format!("its namespace is {namespace}"),
        generation: organization.metadata.generation,
    };
    conditions::set(&mut status.conditions, update, &api_writes::now());
    status = OrganizationStatus {
        observed_generation: organization.metadata.generation,
        namespace: Some(namespace),
        ..status
    };
    if organization.status.as_ref() != Some(&status) {
        api_writes::patch_status(&Api::<Organization>::all(hub.client.clone()), &name, &status).await?;
    }
    Ok(())
}
