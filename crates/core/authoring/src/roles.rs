//! Roles and menu entries for the CRDs of an extension.

use std::collections::BTreeMap;

use fitout_model::{AccessRule, FreeForm, Role, Scope};
use serde_json::{Value, json};

use crate::footprint::Crd;

const VIEWER: [&str; 3] = ["get", "list", "watch"];
const EDITOR: [&str; 8] = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];

/// A viewer and an editor of all CRDs; none without CRDs.
pub(crate) fn roles(display_name: &str, crds: &BTreeMap<String, Crd>) -> Vec<Role> {
    let mut groups: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for crd in crds.values() {
        groups.entry(&crd.group).or_default().push(crd.resource.clone());
    }
    if groups.is_empty() {
        return vec![];
    }
    let role = |name: &str, verbs: &[&str]| Role {
        name: name.to_owned(),
        display_name: Some(format!("{display_name} {name}").chars().take(128).collect()),
        rules: groups
            .iter()
            .map(|(group, resources)| AccessRule {
                api_groups: vec![(*group).to_owned()],
                resources: resources.clone(),
                verbs: verbs.iter().map(|&verb| verb.to_owned()).collect(),
                ..AccessRule::default()
            })
            .collect(),
    };
    vec![role("viewer", &VIEWER), role("editor", &EDITOR)]
}

/// The CRDs by scope: `cluster` has the cluster-scoped ones, `project` those in namespaces.
pub(crate) fn menu(crds: &BTreeMap<String, Crd>) -> Option<FreeForm> {
    let of_scope = |scope: Scope| -> Vec<Value> {
        let names = crds.iter().filter(|(_, crd)| crd.scope == scope).map(|(name, _)| name);
        names.map(|name| json!({ "crd": name, "list": true, "detail": true, "edit": true })).collect()
    };
    let mut menu = FreeForm::new();
    for (place, scope) in [("cluster", Scope::Cluster), ("project", Scope::Namespaced)] {
        let entries = of_scope(scope);
        if !entries.is_empty() {
            menu.insert(place.to_owned(), entries.into());
        }
    }
    (!menu.is_empty()).then_some(menu)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crds_are_grouped_into_roles_and_menus() {
        let crd = |group: &str, resource: &str, scope| {
            let crd = Crd { group: group.to_owned(), resource: resource.to_owned(), scope };
            (format!("{resource}.{group}"), crd)
        };
        let crds: BTreeMap<String, Crd> = [
            crd("a.io", "certificates", Scope::Namespaced),
            crd("a.io", "issuers", Scope::Cluster),
            crd("b.io", "orders", Scope::Namespaced),
        ]
        .into();
        let roles = roles("Web", &crds);
        let resources: Vec<_> = roles[0].rules.iter().map(|rule| rule.resources.join(", ")).collect();
        assert_eq!(resources, ["certificates, issuers", "orders"]);
        assert_eq!(roles[1].display_name.as_deref(), Some("Web editor"));
        let menu = menu(&crds).unwrap();
        let names = |place: &str| -> Vec<&str> {
            menu[place].as_array().unwrap().iter().filter_map(|entry| entry["crd"].as_str()).collect()
        };
        assert_eq!(names("cluster"), ["issuers.a.io"]);
        assert_eq!(names("project"), ["certificates.a.io", "orders.b.io"]);
    }

    #[test]
    fn without_crds_there_is_nothing_to_grant_or_to_list() {
        assert_eq!((roles("Web", &BTreeMap::new()), menu(&BTreeMap::new())), (vec![], None));
    }
}
