//! The release's namespace during an uninstall: it is deleted if the hub created it and nothing else is in it.

use std::collections::BTreeSet;

use fitout_model::ObjectId;

/// The annotation on a namespace that the hub created, with the namespace and name of the instance that it was created for.
pub const CREATED_FOR: &str = "fitout.dev/created-for";

/// The release's namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamespaceState {
    /// Whether it exists.
    pub exists: bool,
    /// Its UID, so that no other namespace of the same name is deleted.
    pub uid: String,
    /// Whether the hub created it, as [`CREATED_FOR`] says.
    pub created_by_hub: bool,
    /// The objects in it, or why they cannot be listed.
    pub objects: Result<Vec<NamespaceObject>, String>,
}

impl Default for NamespaceState {
    fn default() -> Self {
        Self { exists: false, uid: String::new(), created_by_hub: false, objects: Ok(vec![]) }
    }
}

/// An object in a namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamespaceObject {
    /// The object.
    pub id: ObjectId,
    /// Whether all its owners are objects of the same namespace: the garbage collector deletes it together with them.
    pub has_owner: bool,
    /// Whether it is being deleted.
    pub is_terminating: bool,
}

/// The decision of an uninstall about the release's namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamespaceDecision {
    /// The hub did not create it, or it does not exist.
    Ignore,
    /// Nothing else is in it.
    Delete,
    /// These objects are in it.
    Keep(Vec<ObjectId>),
    /// Its objects cannot be listed, for this reason.
    Unknown(String),
}

/// Decides what an uninstall does with a namespace once the objects `removed` are deleted.
pub fn decide(state: &NamespaceState, removed: &BTreeSet<ObjectId>) -> NamespaceDecision {
    if !state.exists || !state.created_by_hub {
        return NamespaceDecision::Ignore;
    }
    // The API version may differ: the server lists every kind in its preferred version.
    let same = |one: &ObjectId, other: &ObjectId| {
        one.name == other.name && one.gvk.kind == other.gvk.kind && one.gvk.group == other.gvk.group
    };
    let objects = match &state.objects {
        Ok(objects) => objects,
        Err(reason) => return NamespaceDecision::Unknown(reason.clone()),
    };
    let remaining = objects.iter().filter(|object| {
        !object.has_owner
            && !object.is_terminating
            && !is_automatic(&object.id)
            && !removed.iter().any(|removed| removed.namespace == object.id.namespace && same(removed, &object.id))
    });
    let remaining: Vec<ObjectId> = remaining.map(|object| object.id.clone()).collect();
    if remaining.is_empty() { NamespaceDecision::Delete } else { NamespaceDecision::Keep(remaining) }
}

/// Whether Kubernetes itself creates an object in every namespace, or derives it from others.
fn is_automatic(id: &ObjectId) -> bool {
    match (id.gvk.group.as_str(), id.gvk.kind.as_str()) {
        ("" | "events.k8s.io", "Event") | ("", "Endpoints") | ("discovery.k8s.io", "EndpointSlice") => true,
        ("", "ServiceAccount") => id.name == "default",
        ("", "ConfigMap") => id.name == "kube-root-ca.crt",
        _ => false,
    }
}

/// The message about a namespace that stays because its objects are unknown.
pub fn unknown_message(namespace: &str, reason: &str) -> String {
    format!("namespace {namespace} stays, because the hub cannot tell what is in it: {reason}")
}

/// The message about a namespace that stays because of these objects.
pub fn remaining_message(namespace: &str, remaining: &[ObjectId]) -> String {
    const SHOWN: usize = 3;
    let mut names: Vec<String> = remaining.iter().take(SHOWN).map(ToString::to_string).collect();
    if remaining.len() > SHOWN {
        names.push(format!("{} more", remaining.len() - SHOWN));
    }
    let delete = "delete them and the namespace if nobody needs them";
    format!("namespace {namespace} stays, because it still contains {}; {delete}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use fitout_model::Gvk;

    use super::*;

    fn object(api_version: &str, kind: &str, name: &str) -> NamespaceObject {
        let id = ObjectId { gvk: Gvk::new(api_version, kind), namespace: "shop".to_owned(), name: name.to_owned() };
        NamespaceObject { id, has_owner: false, is_terminating: false }
    }

    fn namespace(objects: Vec<NamespaceObject>) -> NamespaceState {
        NamespaceState { exists: true, created_by_hub: true, objects: Ok(objects), ..NamespaceState::default() }
    }

    #[test]
    fn namespace_with_automatic_objects_is_deleted() {
        let automatic = vec![
            object("v1", "ServiceAccount", "default"),
            object("v1", "ConfigMap", "kube-root-ca.crt"),
            object("v1", "Event", "web.1"),
            object("events.k8s.io/v1", "Event", "web.1"),
            object("discovery.k8s.io/v1", "EndpointSlice", "web-1"),
        ];
        assert_eq!(decide(&namespace(automatic), &BTreeSet::new()), NamespaceDecision::Delete);
    }

    #[test]
    fn volume_claim_keeps_the_namespace() {
        let claim = object("v1", "PersistentVolumeClaim", "data-web-0");
        let decision = decide(&namespace(vec![claim.clone()]), &BTreeSet::new());
        assert_eq!(decision, NamespaceDecision::Keep(vec![claim.id]));
    }

    #[test]
    fn foreign_service_account_and_config_map_keep_the_namespace() {
        for other in [object("v1", "ServiceAccount", "web"), object("v1", "ConfigMap", "web")] {
            let decision = decide(&namespace(vec![other.clone()]), &BTreeSet::new());
            assert_eq!(decision, NamespaceDecision::Keep(vec![other.id]));
        }
    }

    #[test]
    fn owned_and_terminating_objects_do_not_count() {
        let pod = NamespaceObject { has_owner: true, ..object("v1", "Pod", "web-1") };
        let claim = NamespaceObject { is_terminating: true, ..object("v1", "PersistentVolumeClaim", "data") };
        assert_eq!(decide(&namespace(vec![pod, claim]), &BTreeSet::new()), NamespaceDecision::Delete);
    }

    #[test]
    fn removed_objects_do_not_count_in_any_api_version() {
        let live = object("autoscaling/v2", "HorizontalPodAutoscaler", "web");
        let removed = object("autoscaling/v1", "HorizontalPodAutoscaler", "web").id;
        let decision = decide(&namespace(vec![live]), &BTreeSet::from([removed]));
        assert_eq!(decision, NamespaceDecision::Delete);
    }

    #[test]
    fn namespace_of_another_creator_is_left_alone() {
        let theirs = NamespaceState { created_by_hub: false, ..namespace(vec![]) };
        assert_eq!(decide(&theirs, &BTreeSet::new()), NamespaceDecision::Ignore);
        assert_eq!(decide(&NamespaceState::default(), &BTreeSet::new()), NamespaceDecision::Ignore);
    }

    #[test]
    fn custom_resource_of_kind_event_counts() {
        let event = object("example.com/v1", "Event", "party");
        let decision = decide(&namespace(vec![event.clone()]), &BTreeSet::new());
        assert_eq!(decision, NamespaceDecision::Keep(vec![event.id]));
    }

    #[test]
    fn namespace_with_unknown_objects_stays() {
        let unknown = NamespaceState { objects: Err("forbidden".to_owned()), ..namespace(vec![]) };
        assert_eq!(decide(&unknown, &BTreeSet::new()), NamespaceDecision::Unknown("forbidden".to_owned()));
    }

    #[test]
    fn message_names_three_objects_and_counts_the_others() {
        let ids: Vec<ObjectId> = (0..5).map(|n| object("v1", "Secret", &format!("s{n}")).id).collect();
        assert_eq!(
            remaining_message("shop", &ids),
            "namespace shop stays, because it still contains Secret/shop/s0, Secret/shop/s1, Secret/shop/s2, 2 more; delete \
             them and the namespace if nobody needs them"
        );
    }
}
