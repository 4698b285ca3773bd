//! Plans: what the hub would do, shown before it does it.

use std::path::Path;

use fitout_api::{ExtensionInstance, Obstacle, Plan, PlanSpec};
use kube::api::PostParams;
use serde_json::Value;

use crate::Answer;
use crate::arguments;
use crate::connection::Session;
use crate::failure::{Code, Failure, is_from_hub, refused};
use crate::output::{Format, Paint, as_value};
use crate::plan_text::{Mark, lines};

pub(crate) async fn run(session: &Session, arguments: &arguments::Plan) -> Result<Answer, Failure> {
    let spec = match (&arguments.instance, &arguments.file) {
        (Some(name), _) => {
            session.named::<ExtensionInstance>("instance", name, "fitout list").await?;
            PlanSpec { instance: Some(name.clone()), uninstall: arguments.uninstall, ..PlanSpec::default() }
        }
        (None, file) => PlanSpec { proposed: file.as_deref().map(read).transpose()?, ..PlanSpec::default() },
    };
    let asked = ask(session, spec).await?;
    asked.ok_or_else(|| Failure::new("the hub serves no plans").hint("run it with --api-address, and register its API"))
}

/// The plan for an instance as it would be written, or removed; none where the hub serves no plans.
pub(crate) async fn ask(session: &Session, spec: PlanSpec) -> Result<Option<Answer>, Failure> {
    let plan = Plan { metadata: kube::api::ObjectMeta::default(), spec, status: None };
    match session.own::<Plan>().create(&PostParams::default(), &plan).await {
        Ok(plan) => shown(session.output, session.paint, &plan).map(Some),
        Err(kube::Error::Api(status)) if unserved(&status) => Ok(None),
        Err(error) => Err(refused("make a plan", &error)),
    }
}

/// Whether the API server says that nobody serves the aggregated API.
pub(crate) fn unserved(status: &kube::core::Status) -> bool {
    matches!(status.code, 404 | 503) && !is_from_hub(status)
}

fn read(file: &Path) -> Result<ExtensionInstance, Failure> {
    let shown = file.display();
    let text = std::fs::read_to_string(file).map_err(|error| Failure::new(format!("cannot read {shown}: {error}")))?;
    let wrong = |error: &dyn std::fmt::Display| Failure::new(format!("{shown} holds no ExtensionInstance: {error}"));
    let value: Value = fitout_go_yaml::from_yaml_strict(&text).map_err(|error| wrong(&error))?;
    serde_json::from_value(value).map_err(|error| wrong(&error))
}

fn shown(format: Format, paint: Paint, plan: &Plan) -> Result<Answer, Failure> {
    let planned = plan.status.clone().unwrap_or_default();
    let code = match (&planned.obstacle, planned.refusal()) {
        (Some(Obstacle::Unresolved(_)), _) => Code::Unresolved,
        (Some(_), _) | (None, Some(_)) => Code::Failed,
        (None, None) => Code::Done,
    };
    if !format.is_table() {
        return Ok(Answer { text: format.value(&as_value(plan)?), code });
    }
    let painted = lines(&planned, format == Format::Wide).into_iter().enumerate().map(|(number, line)| {
        let text = match line.mark {
            Mark::Plain if number == 0 => paint.bold(&line.text),
            Mark::Plain => line.text,
            Mark::New => paint.green(&line.text),
            Mark::Changed => paint.yellow(&line.text),
            Mark::Gone | Mark::Bad => paint.red(&line.text),
            Mark::Warning => paint.cyan(&line.text),
        };
        text + "\n"
    });
    Ok(Answer { text: painted.collect(), code })
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::json;

    use super::*;

    fn plan(status: &Value) -> Plan {
        let object = json!({ "apiVersion": "compute.fitout.dev/v1alpha1", "kind": "Plan", "metadata": {},
            "spec": { "instance": "thing" }, "status": status });
        serde_json::from_value(object).unwrap()
    }

    fn upgrade() -> Plan {
        let write = |act: &str, kind: &str, changes: Value| json!({ "act": act, "apiVersion": "v1", "kind": kind, "namespace": "shop", "name": "web", "stage": 1, "changes": changes });
        plan(&json!({
            "change": "Upgrade", "from": "1.0.0", "to": "1.1.0", "revision": 2, "why": "1.1.0 is the newest that fits",
            "unchanged": 2, "writes": [
                write("Create", "ServiceAccount", json!([])),
                write("Update", "Secret", json!([{ "path": "data.password", "from": "(not shown)", "to": "(not shown)" }])),
                write("Delete", "ConfigMap", json!([])),
            ],
        }))
    }

    #[test]
    fn a_plan_for_people() {
        assert_snapshot!(shown(Format::Table, Paint::new(false), &upgrade()).unwrap().text, @r"
        upgrade from 1.0.0 to 1.1.0, as revision 2
        why: 1.1.0 is the newest that fits

        + ServiceAccount/shop/web
        ~ Secret/shop/web
            ~ data.password: (not shown) → (not shown)
        - ConfigMap/shop/web

        1 to create, 1 to change, 1 to delete, 2 unchanged
        ");
        let colours = shown(Format::Table, Paint::new(true), &upgrade()).unwrap().text;
        assert!(colours.contains("\x1b[32m+ ServiceAccount/shop/web\x1b[0m\n"), "{colours:?}");
    }

    #[test]
    fn a_plan_for_programs_is_the_object() {
        let text = shown(Format::Json, Paint::new(true), &upgrade()).unwrap().text;
        assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), upgrade());
    }

    #[test]
    fn what_cannot_be_done_is_told_to_scripts() {
        let code = |status: Value| shown(Format::Table, Paint::new(false), &plan(&status)).unwrap().code;
        let obstacle = |reason: &str| json!({ "obstacle": { "reason": reason, "message": "no" } });
        assert_eq!(code(obstacle("Unresolved")), Code::Unresolved);
        assert_eq!(code(obstacle("InvalidSpec")), Code::Failed);
        let refused =
            json!({ "act": "Update", "apiVersion": "v1", "kind": "A", "name": "a", "stage": 0, "refused": "no" });
        assert_eq!(code(json!({ "writes": [refused] })), Code::Failed);
        assert_eq!(code(json!({})), Code::Done);
    }

    #[test]
    fn a_hub_without_plans_is_told_from_one_that_answers() {
        let status = |details: Value| {
            let status = json!({ "code": 404, "reason": "NotFound", "message": "no", "details": details });
            serde_json::from_value::<kube::core::Status>(status).unwrap()
        };
        assert!(unserved(&status(json!({}))));
        assert!(!unserved(&status(json!({ "group": "compute.fitout.dev", "kind": "plans" }))));
    }
}
