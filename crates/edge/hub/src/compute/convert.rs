//! Conversion of plans and values into their API types.

use fitout_api::{
    FieldChange, Obstacle, PlanStatus, PlannedChange, PlannedWrite, SourcedValue, ValuesStatus, WriteAct,
};
use fitout_plan::{Act, Change, Difference, Plan, Provenance, Sourced, Write};

/// Converts a plan into the status of a `Plan`.
pub(crate) fn plan_status(plan: Plan) -> PlanStatus {
    PlanStatus {
        change: match plan.change {
            Change::Nothing => PlannedChange::Nothing,
            Change::Install => PlannedChange::Install,
            Change::Upgrade => PlannedChange::Upgrade,
            Change::Rollback => PlannedChange::Rollback,
            Change::Repair => PlannedChange::Repair,
            Change::Uninstall => PlannedChange::Uninstall,
        },
        from: plan.from,
        to: plan.to,
        why: plan.why,
        revision: plan.revision,
        artifact: plan.artifact,
        obstacle: plan.obstacle.map(obstacle),
        waits: plan.waits,
        writes: plan.writes.into_iter().map(write).collect(),
        unchanged: plan.unchanged,
        warnings: plan.warnings,
    }
}

/// Converts values and their layers into the status of a `Values`.
pub(crate) fn values_status(provenance: Provenance) -> ValuesStatus {
    let Provenance { version, obstacle: blocked, values, leaves } = provenance;
    ValuesStatus { version, obstacle: blocked.map(obstacle), values, leaves: leaves.into_iter().map(sourced).collect() }
}

fn obstacle(obstacle: fitout_plan::Obstacle) -> Obstacle {
    match obstacle {
        fitout_plan::Obstacle::Unresolved(message) => Obstacle::Unresolved(message),
        fitout_plan::Obstacle::InvalidSpec(message) => Obstacle::InvalidSpec(message),
        fitout_plan::Obstacle::Foreign(message) => Obstacle::Foreign(message),
    }
}

fn write(write: Write) -> PlannedWrite {
    let Write { act, api_version, kind, namespace, name, stage, note, changes, refused } = write;
    let act = match act {
        Act::Create => WriteAct::Create,
        Act::Update => WriteAct::Update,
        Act::Delete => WriteAct::Delete,
    };
    let changes = changes.into_iter().map(|Difference { path, from, to }| FieldChange { path, from, to }).collect();
    PlannedWrite { act, api_version, kind, namespace, name, stage, note, changes, refused }
}

fn sourced(leaf: Sourced) -> SourcedValue {
    let Sourced { path, value, set_by, over, default } = leaf;
    SourcedValue { path, value, set_by, over, default }
}

#[cfg(test)]
mod tests {
    use fitout_model::{Digest, Gvk, ObjectId};
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn plan_keeps_every_field() {
        let id = ObjectId { gvk: Gvk::new("apps/v1", "Deployment"), namespace: "shop".into(), name: "web".into() };
        let changes = vec![Difference { path: "spec.replicas".to_owned(), from: Some(json!(1)), to: Some(json!(2)) }];
        let writes = [Act::Create, Act::Update, Act::Delete].map(|act| Write {
            note: Some("a note".to_owned()),
            refused: Some("no".to_owned()),
            changes: changes.clone(),
            ..Write::new(act, &id, 2)
        });
        let artifact = Digest::of_value(&json!({}));
        let plan = Plan {
            change: Change::Upgrade,
            from: Some("1.0.0".to_owned()),
            to: Some("1.1.0".to_owned()),
            why: "it fits".to_owned(),
            revision: Some(3),
            artifact: Some(artifact.clone()),
            obstacle: Some(fitout_plan::Obstacle::InvalidSpec("a: b".to_owned())),
            waits: Some("it is suspended".to_owned()),
            writes: writes.into(),
            unchanged: 4,
            warnings: vec!["a warning".to_owned()],
        };
        let write = |act: &str| {
            json!({ "act": act, "apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web",
                "stage": 2, "note": "a note", "refused": "no",
                "changes": [{ "path": "spec.replicas", "from": 1, "to": 2 }] })
        };
        let expected = ["Create", "Update", "Delete"].map(write);
        assert_eq!(
            serde_json::to_value(plan_status(plan)).unwrap(),
            json!({ "change": "Upgrade", "from": "1.0.0", "to": "1.1.0", "why": "it fits", "revision": 3,
                "artifact": artifact, "obstacle": { "reason": "InvalidSpec", "message": "a: b" },
                "waits": "it is suspended", "writes": expected, "unchanged": 4,
                "warnings": ["a warning"] })
        );
    }

    #[test]
    fn changes_and_obstacles_keep_their_names() {
        use fitout_plan::Obstacle;
        let changes =
            [Change::Nothing, Change::Install, Change::Upgrade, Change::Rollback, Change::Repair, Change::Uninstall];
        for change in changes {
            let status = plan_status(Plan { change, ..Plan::default() });
            assert_eq!(serde_json::to_value(status.change).unwrap(), format!("{change:?}"));
        }
        for (blocked, reason) in [
            (Obstacle::Unresolved("m".to_owned()), "Unresolved"),
            (Obstacle::InvalidSpec("m".to_owned()), "InvalidSpec"),
            (Obstacle::Foreign("m".to_owned()), "Foreign"),
        ] {
            let value = serde_json::to_value(obstacle(blocked)).unwrap();
            assert_eq!(value, json!({ "reason": reason, "message": "m" }));
        }
    }

    #[test]
    fn values_keep_every_field() {
        let leaf = Sourced {
            path: vec!["a".to_owned()],
            value: Value::Null,
            set_by: "instance".to_owned(),
            over: vec!["chart".to_owned()],
            default: true,
        };
        let provenance = Provenance {
            version: "1.0.0".to_owned(),
            obstacle: Some(fitout_plan::Obstacle::Unresolved("no".to_owned())),
            values: json!({ "a": null }),
            leaves: vec![leaf],
        };
        assert_eq!(
            serde_json::to_value(values_status(provenance)).unwrap(),
            json!({ "version": "1.0.0", "obstacle": { "reason": "Unresolved", "message": "no" }, "values": { "a": null },
                "leaves": [{ "path": ["a"], "value": null, "setBy": "instance", "over": ["chart"], "default": true }] })
        );
    }
}
