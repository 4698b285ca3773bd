//! Organizations own a namespace, and their admins have the rights in it.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Result;
use fitout_api::conditions::{self, Finding, Truth};
use fitout_api::{MemberRole, Organization, OrganizationStatus, reasons};
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::api::{Patch, PatchParams};
use kube::{Api, Resource, ResourceExt};
use serde_json::json;

use crate::{Hub, report};

pub(crate) async fn run(hub: Arc<Hub>) -> Result<()> {
    let mut changes = hub.index.changes();
    // What was made for which generation: nothing is written twice.
    let mut done: BTreeMap<String, i64> = BTreeMap::new();
    loop {
        changes.mark_unchanged();
        for organization in hub.index.organizations.state() {
            let (name, generation) = (organization.name_any(), organization.metadata.generation.unwrap_or_default());
            if done.get(&name) == Some(&generation) || organization.metadata.deletion_timestamp.is_some() {
                continue;
            }
            match make(&hub, &organization).await {
                Ok(()) => drop(done.insert(name, generation)),
                Err(error) => tracing::warn!(organization = name, %error, "organization"),
            }
        }
        changes.changed().await?;
    }
}

async fn make(hub: &Hub, organization: &Organization) -> Result<()> {
    let name = organization.name_any();
    let namespace = format!("org-{name}");
    let owner = organization.controller_owner_ref(&());
    let params = PatchParams::apply("fitout").force();
    let object = json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": { "name": namespace, "labels": { "fitout.dev/organization": name }, "ownerReferences": [owner] },
    });
    Api::<Namespace>::all(hub.client.clone()).patch(&namespace, &params, &Patch::Apply(&object)).await?;
    for (role, verbs, wanted) in [
        ("fitout-admin", &["get", "list", "watch", "create", "update", "patch", "delete"][..], MemberRole::Admin),
        ("fitout-member", &["get", "list", "watch"][..], MemberRole::Member),
    ] {
        let rules = json!([{ "apiGroups": ["fitout.dev"], "resources": ["*"], "verbs": verbs }]);
        let object = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": { "name": role }, "rules": rules,
        });
        Api::<Role>::namespaced(hub.client.clone(), &namespace).patch(role, &params, &Patch::Apply(&object)).await?;
        let members = organization.spec.members.iter().filter(|member| member.role == wanted);
        let subjects: Vec<_> = members
            .map(|member| json!({ "kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": member.name }))
            .collect();
        let object = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": { "name": role },
            "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": role },
            "subjects": subjects,
        });
        Api::<RoleBinding>::namespaced(hub.client.clone(), &namespace)
            .patch(role, &params, &Patch::Apply(&object))
            .await?;
    }
    let mut status = organization.status.clone().unwrap_or_default();
    let finding = Finding {
        aspect: conditions::READY,
        truth: Truth::True,
        reason: reasons::ready::ACCEPTED,
        message: format!("its namespace is {namespace}"),
        generation: organization.metadata.generation,
    };
    conditions::set(&mut status.conditions, finding, &report::now());
    status = OrganizationStatus {
        observed_generation: organization.metadata.generation,
        namespace: Some(namespace),
        ..status
    };
    report::write(&Api::<Organization>::all(hub.client.clone()), &name, &status).await?;
    Ok(())
}
