//! The rights that bindings grant.

use std::collections::BTreeSet;

use fitout_model::AccessRule;
use serde_json::Value;

use crate::kubernetes::default_role;
use crate::rendering::Placed;

/// The rules of all roles that are bound, with the namespaces of the bindings; and the bound roles that are unknown: neither
/// rendered nor part of every cluster.
pub(super) fn granted(objects: &[Placed]) -> (Vec<AccessRule>, BTreeSet<String>) {
    let (mut grants, mut unknown) = (Vec::new(), BTreeSet::new());
    let bindings = objects.iter().filter(|placed| {
        placed.id.gvk.group == GROUP && ["RoleBinding", "ClusterRoleBinding"].contains(&placed.id.gvk.kind.as_str())
    });
    for binding in bindings {
        let namespace = &binding.id.namespace;
        let role = &binding.object["roleRef"];
        let (kind, name) = (role["kind"].as_str().unwrap_or_default(), role["name"].as_str().unwrap_or_default());
        let namespaces: Vec<String> =
            Some(namespace).filter(|namespace| !namespace.is_empty()).cloned().into_iter().collect();
        let place = if kind == "Role" { format!("{kind}/{namespace}/{name}") } else { format!("{kind}/{name}") };
        let Some(rules) = own_rules(objects, kind, namespace, name).or_else(|| default_role(&place).map(<[_]>::to_vec))
        else {
            unknown.insert(place);
            continue;
        };
        grants.extend(rules.into_iter().map(|rule| AccessRule {
            namespaces: if rule.non_resource_urls.is_empty() { namespaces.clone() } else { vec![] },
            ..rule
        }));
    }
    (grants, unknown)
}

const GROUP: &str = "rbac.authorization.k8s.io";

/// The rules of a rendered role, with those that are aggregated into it.
fn own_rules(objects: &[Placed], kind: &str, namespace: &str, name: &str) -> Option<Vec<AccessRule>> {
    let roles = || objects.iter().filter(|placed| placed.id.gvk.group == GROUP);
    let role = roles().find(|placed| {
        let id = &placed.id;
        id.gvk.kind == kind && id.name == name && (kind != "Role" || id.namespace == namespace)
    })?;
    let mut all = parsed(&role.object);
    let selectors = role.object["aggregationRule"]["clusterRoleSelectors"].as_array().into_iter().flatten();
    for selector in selectors {
        let selected = roles().filter(|placed| {
            placed.id.gvk.kind == "ClusterRole" && matches(selector, &placed.object["metadata"]["labels"])
        });
        all.extend(selected.flat_map(|placed| parsed(&placed.object)));
    }
    Some(all)
}

fn parsed(role: &Value) -> Vec<AccessRule> {
    let rules = role["rules"].as_array().into_iter().flatten();
    rules.filter_map(|rule| serde_json::from_value(rule.clone()).ok()).collect()
}

/// Whether a label selector matches labels.
fn matches(selector: &Value, labels: &Value) -> bool {
    let mut equal = selector["matchLabels"].as_object().into_iter().flatten();
    let mut expressions = selector["matchExpressions"].as_array().into_iter().flatten();
    equal.all(|(name, value)| labels[name] == *value)
        && expressions.all(|expression| {
            let label = &labels[expression["key"].as_str().unwrap_or_default()];
            let is_listed = expression["values"].as_array().is_some_and(|values| values.contains(label));
            match expression["operator"].as_str() {
                Some("In") => is_listed,
                Some("NotIn") => !is_listed,
                Some("Exists") => !label.is_null(),
                Some("DoesNotExist") => label.is_null(),
                _ => false,
            }
        })
}

#[cfg(test)]
mod tests {
    use fitout_model::{ObjectId, Scope};
    use serde_json::json;

    use super::*;
    use crate::access::{describe, merge_rules};

    fn placed(object: Value) -> Placed {
        Placed { id: ObjectId::of(&object).unwrap(), object, scope: Scope::Cluster }
    }

    fn role(kind: &str, name: &str, labels: &Value, resource: &str) -> Placed {
        let rules = json!([{ "apiGroups": [""], "resources": [resource], "verbs": ["get"] }]);
        let metadata = json!({ "name": name, "labels": labels });
        placed(json!({ "apiVersion": format!("{GROUP}/v1"), "kind": kind, "metadata": metadata, "rules": rules }))
    }

    fn binding(kind: &str, namespace: Option<&str>, role_kind: &str, role: &str) -> Placed {
        placed(json!({ "apiVersion": format!("{GROUP}/v1"), "kind": kind,
            "metadata": { "name": "b", "namespace": namespace }, "roleRef": { "kind": role_kind, "name": role } }))
    }

    #[test]
    fn grants_are_those_of_bound_roles_where_they_are_bound() {
        let none = json!({});
        let objects = [
            role("ClusterRole", "a", &none, "pods"),
            role("ClusterRole", "unbound", &none, "secrets"),
            role("ClusterRole", "b", &none, "nodes"),
            binding("ClusterRoleBinding", None, "ClusterRole", "a"),
            binding("RoleBinding", Some("web"), "ClusterRole", "b"),
            binding("RoleBinding", Some("kube-system"), "Role", "extension-apiserver-authentication-reader"),
            binding("RoleBinding", Some("web"), "Role", "elsewhere"),
        ];
        let (grants, unknown) = granted(&objects);
        let described: Vec<String> = merge_rules(&grants).iter().map(describe).collect();
        assert_eq!(
            described,
            [
                "pods: get cluster-wide",
                "configmaps named extension-apiserver-authentication: get, list, watch in namespace kube-system",
                "nodes: get in namespace web",
            ]
        );
        assert_eq!(unknown, ["Role/web/elsewhere".to_owned()].into());
    }

    #[test]
    fn aggregated_roles_have_the_rules_of_the_selected_ones() {
        let mut all = role("ClusterRole", "all", &json!({}), "pods");
        all.object["aggregationRule"] = json!({ "clusterRoleSelectors": [{ "matchLabels": { "into": "all" } }] });
        let objects = [
            all,
            role("ClusterRole", "one", &json!({ "into": "all" }), "secrets"),
            role("ClusterRole", "two", &json!({ "into": "none" }), "nodes"),
            binding("ClusterRoleBinding", None, "ClusterRole", "all"),
        ];
        let described: Vec<String> = merge_rules(&granted(&objects).0).iter().map(describe).collect();
        assert_eq!(described, ["pods, secrets: get cluster-wide"]);
    }
}
