//! The footprint of a rendered extension: the facts that `requirements` declare.

mod images;
mod pods;
mod rbac;
mod webhooks;

use std::collections::{BTreeMap, BTreeSet};

use fitout_model::{AccessRule, Gvk, Requirements, Scope, Webhook};
use serde_json::Value;

pub(crate) use images::{is_pinned, registry, without_tag};

use crate::access::merge_rules;
use crate::kubernetes::{Kubernetes, is_builtin_group};
use crate::rendering::{Objects, Placed};

/// The verbs that installing, upgrading and uninstalling an object take.
const INSTALLER_VERBS: [&str; 7] = ["get", "list", "watch", "create", "update", "patch", "delete"];

/// The namespace whose workloads only rooted clusters accept.
const KUBE_SYSTEM: &str = "kube-system";

/// A custom resource that an extension defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Crd {
    pub(crate) group: String,
    pub(crate) resource: String,
    pub(crate) scope: Scope,
}

/// The facts about a rendered extension.
#[derive(Clone, Debug, Default)]
pub(crate) struct Footprint {
    /// The rights to write its objects.
    pub(crate) installer: Vec<AccessRule>,
    /// The rights that its bindings grant.
    pub(crate) grants: Vec<AccessRule>,
    /// The namespaces that it writes to.
    pub(crate) namespaces: BTreeSet<String>,
    /// Its workloads in `kube-system`.
    pub(crate) kube_system: BTreeSet<String>,
    /// Why its pods need a privileged namespace, each with the workload.
    pub(crate) privileged: BTreeSet<String>,
    /// The capabilities that the cluster must have.
    pub(crate) capabilities: BTreeSet<&'static str>,
    pub(crate) webhooks: Vec<Webhook>,
    pub(crate) images: BTreeSet<String>,
    /// Its CRDs, by name.
    pub(crate) crds: BTreeMap<String, Crd>,
    /// Kinds that neither Kubernetes nor it defines.
    pub(crate) foreign: BTreeSet<Gvk>,
    /// Roles that it binds, whose rules are unknown.
    pub(crate) unknown_roles: BTreeSet<String>,
}

impl Footprint {
    /// The footprint of the objects as they are rendered for one Kubernetes version.
    pub(crate) fn of(objects: &Objects, kubernetes: &Kubernetes, namespace: &str) -> Self {
        let mut footprint = Self { namespaces: [namespace.to_owned()].into(), ..Self::default() };
        for placed in &objects.placed {
            footprint.add(placed, kubernetes, objects);
        }
        (footprint.grants, footprint.unknown_roles) = rbac::granted(&objects.placed);
        footprint.merged()
    }

    fn add(&mut self, placed: &Placed, kubernetes: &Kubernetes, objects: &Objects) {
        let Placed { object, id, scope } = placed;
        let namespaces: Vec<String> = match scope {
            Scope::Cluster => vec![],
            Scope::Namespaced => vec![id.namespace.clone()],
        };
        self.namespaces.extend(namespaces.iter().cloned());
        self.images.extend(images::of(object));
        self.webhooks.extend(webhooks::of(object));
        self.crds.extend(crd(object));
        if !is_builtin_group(&id.gvk.group) && objects.defined.scope(&id.gvk).is_none() {
            self.foreign.insert(id.gvk.clone());
        }
        self.capabilities.extend(capability(object));
        if let Some(pod) = pods::spec(object) {
            self.capabilities.extend(pods::needs_storage(object).then_some("storageClass"));
            let workload = id.to_string();
            self.privileged.extend(pods::privileges(pod).into_iter().map(|reason| format!("{workload}: {reason}")));
            if id.namespace == KUBE_SYSTEM {
                self.kube_system.insert(workload);
            }
        }
        self.installer.push(AccessRule {
            api_groups: vec![id.gvk.group.clone()],
            resources: vec![resource(placed, kubernetes, objects)],
            verbs: INSTALLER_VERBS.map(str::to_owned).into(),
            namespaces,
            ..AccessRule::default()
        });
    }

    /// The union with the footprint for another version.
    #[must_use]
    pub(crate) fn union(mut self, other: Self) -> Self {
        self.installer.extend(other.installer);
        self.grants.extend(other.grants);
        self.namespaces.extend(other.namespaces);
        self.kube_system.extend(other.kube_system);
        self.privileged.extend(other.privileged);
        self.capabilities.extend(other.capabilities);
        self.webhooks.extend(other.webhooks);
        self.images.extend(other.images);
        self.crds.extend(other.crds);
        self.foreign.extend(other.foreign);
        self.unknown_roles.extend(other.unknown_roles);
        self.merged()
    }

    fn merged(mut self) -> Self {
        self.installer = merge_rules(&self.installer);
        self.grants = merge_rules(&self.grants);
        self.webhooks = webhooks::distinct(self.webhooks);
        self
    }

    /// The requirements that declare exactly this.
    pub(crate) fn into_requirements(self) -> Requirements {
        Requirements {
            kube_system_deployment: !self.kube_system.is_empty(),
            privileged: !self.privileged.is_empty(),
            capabilities: self.capabilities.iter().map(|&capability| capability.to_owned()).collect(),
            namespaces: self.namespaces.iter().cloned().collect(),
            registries: self.registries().into_iter().collect(),
            installer: self.installer,
            grants: self.grants,
            webhooks: self.webhooks,
            ..Requirements::default()
        }
    }

    /// The registries of its images.
    pub(crate) fn registries(&self) -> BTreeSet<String> {
        self.images.iter().map(|image| registry(image)).collect()
    }
}

/// The resource of an object: from the discovery of Kubernetes, from the CRD, or else the regular plural of its kind.
fn resource(placed: &Placed, kubernetes: &Kubernetes, objects: &Objects) -> String {
    let gvk = &placed.id.gvk;
    let of_crd = || {
        objects.placed.iter().find_map(|other| {
            let spec = &other.object["spec"];
            let is_own = other.object["kind"] == "CustomResourceDefinition"
                && spec["group"] == gvk.group.as_str()
                && spec["names"]["kind"] == gvk.kind.as_str();
            is_own.then(|| spec["names"]["plural"].as_str()).flatten().map(str::to_owned)
        })
    };
    kubernetes.resource(gvk).map(str::to_owned).or_else(of_crd).unwrap_or_else(|| plural(&gvk.kind))
}

fn plural(kind: &str) -> String {
    let kind = kind.to_lowercase();
    match kind.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{stem}ies"),
        _ if ["s", "x", "ch", "sh"].iter().any(|end| kind.ends_with(end)) => format!("{kind}es"),
        _ => format!("{kind}s"),
    }
}

fn crd(object: &Value) -> Option<(String, Crd)> {
    if object["kind"] != "CustomResourceDefinition" {
        return None;
    }
    let (name, spec) = (object["metadata"]["name"].as_str()?, &object["spec"]);
    let scope = if spec["scope"] == "Cluster" { Scope::Cluster } else { Scope::Namespaced };
    let (group, resource) = (spec["group"].as_str()?.to_owned(), spec["names"]["plural"].as_str()?.to_owned());
    Some((name.to_owned(), Crd { group, resource, scope }))
}

/// The capability that an object needs by its kind.
fn capability(object: &Value) -> Option<&'static str> {
    match object["kind"].as_str()? {
        "Service" if object["spec"]["type"] == "LoadBalancer" => Some("loadBalancer"),
        "PersistentVolumeClaim" if object["spec"]["storageClassName"].is_null() => Some("storageClass"),
        _ if object["apiVersion"].as_str()?.starts_with("gateway.networking.k8s.io/") => Some("gatewayAPI"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals_are_regular() {
        let rows = [
            ("Certificate", "certificates"),
            ("NetworkPolicy", "networkpolicies"),
            ("Gateway", "gateways"),
            ("Ingress", "ingresses"),
            ("Prefix", "prefixes"),
        ];
        for (kind, expected) in rows {
            assert_eq!(plural(kind), expected);
        }
    }
}
