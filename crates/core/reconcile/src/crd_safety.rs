//! CRD changes that would lose stored objects are refused, unless the user allows them by name.

use fitout_model::ObjectId;
use fitout_plan::{Content, RiskKind, crd_risks};
use serde_json::Value;

/// The CRDs of a rendered release that are compared with the cluster's before it is installed: all but those that the user
/// allows to lose data.
pub fn crds_to_check<'a>(content: &'a Content, allow_data_loss: &[String]) -> Vec<(ObjectId, &'a Value)> {
    let objects = content.crds.iter().chain(&content.objects);
    let crds = objects.filter(|object| object["kind"] == "CustomResourceDefinition");
    let identified = crds.filter_map(|object| Some((ObjectId::of(object)?, object)));
    identified.filter(|(id, _)| !allow_data_loss.contains(&id.name)).collect()
}

/// Why a CRD must not change from what the cluster has, with the remedy. `None` where the change is safe.
pub fn refuse_crd_change(id: &ObjectId, live: &Value, desired: &Value) -> Option<String> {
    let unsafe_change = |kind: &RiskKind| matches!(kind, RiskKind::Impossible | RiskKind::Loss);
    let risk = crd_risks(live, desired).into_iter().find(|risk| unsafe_change(&risk.harm))?;
    Some(format!("{id}: {risk}; stay at this version, or name {} in allowDataLoss", id.name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn crd(name: &str, versions: &[&str]) -> Value {
        let versions: Vec<Value> = versions
            .iter()
            .map(|version| {
                let schema = json!({ "openAPIV3Schema": { "type": "object" } });
                json!({ "name": version, "served": true, "storage": *version == versions[versions.len() - 1], "schema": schema })
            })
            .collect();
        json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": { "name": name },
            "spec": { "group": "example.com", "scope": "Namespaced", "names": { "kind": "Widget", "plural": "widgets" },
                "versions": versions },
            "status": { "storedVersions": ["v1"] },
        })
    }

    #[test]
    fn removed_stored_version_is_refused_with_the_remedy() {
        let (live, desired) = (crd("widgets.example.com", &["v1"]), crd("widgets.example.com", &["v2"]));
        let id = ObjectId::of(&desired).unwrap();
        let refusal = refuse_crd_change(&id, &live, &desired).unwrap();
        assert!(refusal.starts_with("CustomResourceDefinition/widgets.example.com: "), "{refusal}");
        assert!(refusal.ends_with("or name widgets.example.com in allowDataLoss"), "{refusal}");
    }

    #[test]
    fn added_version_is_safe() {
        let (live, desired) = (crd("widgets.example.com", &["v1"]), crd("widgets.example.com", &["v1", "v2"]));
        assert_eq!(refuse_crd_change(&ObjectId::of(&desired).unwrap(), &live, &desired), None);
    }

    #[test]
    fn allowed_crds_are_not_checked() {
        let content = Content {
            crds: vec![crd("a.example.com", &["v1"])],
            objects: vec![
                crd("b.example.com", &["v1"]),
                json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "c" } }),
            ],
            ..Content::default()
        };
        let names = |allowed: &[String]| -> Vec<String> {
            crds_to_check(&content, allowed).into_iter().map(|(id, _)| id.name).collect()
        };
        assert_eq!(names(&[]), ["a.example.com", "b.example.com"]);
        assert_eq!(names(&["b.example.com".to_owned()]), ["a.example.com"]);
    }
}
