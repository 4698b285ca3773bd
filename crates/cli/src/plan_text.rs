//! The text of a plan.

use fitout_api::{FieldChange, PlanStatus, PlannedChange, PlannedWrite, WriteAct};
use serde_json::Value;

/// A line of text and its style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) mark: Mark,
    pub(crate) text: String,
}

/// The style of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Neutral text.
    Plain,
    /// An object or field is created.
    New,
    /// An object or field is changed.
    Changed,
    /// An object or field is deleted.
    Gone,
    /// An error.
    Bad,
    /// A warning.
    Warning,
}

/// The maximum width of a value; longer ones are truncated.
const WIDEST: usize = 60;

/// The lines of a plan: a headline, each object with its changed fields, and the counts. With `fields`, the fields of
/// new objects are included.
pub(crate) fn lines(plan: &PlanStatus, fields: bool) -> Vec<Line> {
    let mut all = vec![Line { mark: Mark::Plain, text: headline(plan) }];
    let mut push = |mark, text: String| all.push(Line { mark, text });
    if !plan.why.is_empty() && plan.change != PlannedChange::Uninstall {
        push(Mark::Plain, format!("why: {}", plan.why));
    }
    if let Some(obstacle) = &plan.obstacle {
        push(Mark::Bad, format!("cannot go on: {}", obstacle.message()));
        return all;
    }
    if let Some(waits) = &plan.waits {
        push(Mark::Warning, format!("not yet: {waits}"));
    }
    for warning in &plan.warnings {
        push(Mark::Warning, format!("note: {warning}"));
    }
    let objects = || plan.writes.iter().filter(|write| write.note.is_none());
    let mut stage = None;
    for write in objects() {
        if stage.replace(write.stage) != Some(write.stage) {
            push(Mark::Plain, String::new());
        }
        let (mark, sign) = sign(write.act);
        push(mark, format!("{sign} {}", write.object()));
        if let Some(refused) = &write.refused {
            push(Mark::Bad, format!("    the cluster refuses it: {refused}"));
        }
        if fields || write.act != WriteAct::Create {
            write.changes.iter().flat_map(field).for_each(|(mark, text)| push(mark, text));
        }
    }
    push(Mark::Plain, String::new());
    let count = |act| objects().filter(|write: &&PlannedWrite| write.act == act).count();
    let counts = [
        (count(WriteAct::Create), "to create"),
        (count(WriteAct::Update), "to change"),
        (count(WriteAct::Delete), "to delete"),
    ];
    let counts: Vec<String> = counts.iter().map(|(count, what)| format!("{count} {what}")).collect();
    push(Mark::Plain, format!("{}, {} unchanged", counts.join(", "), plan.unchanged));
    all
}

fn headline(plan: &PlanStatus) -> String {
    let version = |version: &Option<String>| version.clone().unwrap_or_default();
    let (from, to) = (version(&plan.from), version(&plan.to));
    let revision = plan.revision.map(|number| format!(", as revision {number}")).unwrap_or_default();
    match plan.change {
        PlannedChange::Nothing if plan.obstacle.is_some() => "nothing will be done".to_owned(),
        PlannedChange::Nothing => "nothing to do: everything is as it should be".to_owned(),
        PlannedChange::Install => format!("install {to}{revision}"),
        PlannedChange::Upgrade if from == to => format!("change {to}{revision}"),
        PlannedChange::Upgrade => format!("upgrade from {from} to {to}{revision}"),
        PlannedChange::Rollback => format!("roll back from {from} to {to}{revision}"),
        PlannedChange::Repair => format!("repair {to}: the cluster differs from what was applied"),
        PlannedChange::Uninstall => format!("uninstall {from}"),
    }
}

fn sign(act: WriteAct) -> (Mark, char) {
    match act {
        WriteAct::Create => (Mark::New, '+'),
        WriteAct::Update => (Mark::Changed, '~'),
        WriteAct::Delete => (Mark::Gone, '-'),
    }
}

fn field(change: &FieldChange) -> Vec<(Mark, String)> {
    let FieldChange { path, from, to } = change;
    match (from, to) {
        (Some(Value::String(from)), Some(Value::String(to))) if from.contains('\n') || to.contains('\n') => {
            let head = (Mark::Changed, format!("    ~ {path}:"));
            [head].into_iter().chain(text(from, to)).collect()
        }
        (Some(from), Some(to)) => vec![(Mark::Changed, format!("    ~ {path}: {} → {}", short(from), short(to)))],
        (None, Some(to)) => vec![(Mark::New, format!("    + {path}: {}", short(to)))],
        (Some(from), None) => vec![(Mark::Gone, format!("    - {path}: {}", short(from)))],
        (None, None) => vec![],
    }
}

/// The lines that differ, between the common first and last lines.
fn text(from: &str, to: &str) -> Vec<(Mark, String)> {
    let (from, to): (Vec<&str>, Vec<&str>) = (from.lines().collect(), to.lines().collect());
    let start = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let end = from[start..].iter().rev().zip(to[start..].iter().rev()).take_while(|(a, b)| a == b).count();
    let line = |mark, sign: char| move |text: &&str| (mark, format!("      {sign} {text}"));
    let gone = from[start..from.len() - end].iter().map(line(Mark::Gone, '-'));
    gone.chain(to[start..to.len() - end].iter().map(line(Mark::New, '+'))).collect()
}

fn short(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), |text| text.replace('\n', "⏎"));
    if text.chars().count() <= WIDEST {
        return text;
    }
    text.chars().take(WIDEST - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use fitout_api::Obstacle;
    use serde_json::json;

    use super::*;

    fn shown(plan: &PlanStatus, fields: bool) -> String {
        lines(plan, fields).into_iter().map(|line| line.text + "\n").collect()
    }

    fn write(act: WriteAct, kind: &str, stage: usize, changes: &[(&str, Value, Value)]) -> PlannedWrite {
        let side = |value: &Value| Some(value.clone()).filter(|value| !value.is_null());
        let changes = changes.iter().map(|(path, from, to)| FieldChange {
            path: (*path).to_owned(),
            from: side(from),
            to: side(to),
        });
        PlannedWrite {
            act,
            api_version: "v1".to_owned(),
            kind: kind.to_owned(),
            namespace: "shop".to_owned(),
            name: "web".to_owned(),
            stage,
            note: None,
            changes: changes.collect(),
            refused: None,
        }
    }

    fn upgrade() -> PlanStatus {
        let record =
            PlannedWrite { note: Some("release record".to_owned()), ..write(WriteAct::Create, "Secret", 0, &[]) };
        let long = "x".repeat(70);
        PlanStatus {
            change: PlannedChange::Upgrade,
            from: Some("1.0.0".to_owned()),
            to: Some("1.1.0".to_owned()),
            why: "1.1.0 is the newest that fits".to_owned(),
            revision: Some(4),
            writes: vec![
                record,
                write(WriteAct::Create, "ServiceAccount", 1, &[("metadata.name", Value::Null, json!("web"))]),
                write(
                    WriteAct::Update,
                    "ConfigMap",
                    1,
                    &[
                        ("data.size", json!(1), json!(2)),
                        ("data.conf", json!("a\nb\nc\n"), json!("a\nB\nc\n")),
                        ("data.gone", json!("x"), Value::Null),
                        ("data.long", json!(long), json!("y")),
                    ],
                ),
                write(WriteAct::Delete, "Service", 2, &[]),
            ],
            unchanged: 3,
            warnings: vec!["it is older".to_owned()],
            ..PlanStatus::default()
        }
    }

    #[test]
    fn a_plan_reads_from_the_whole_to_the_part() {
        let expected = format!(
            "upgrade from 1.0.0 to 1.1.0, as revision 4\n\
             why: 1.1.0 is the newest that fits\n\
             note: it is older\n\
             \n\
             + ServiceAccount/shop/web\n\
             ~ ConfigMap/shop/web\n    ~ data.size: 1 → 2\n    ~ data.conf:\n      - b\n      + B\n    - data.gone: x\n    ~ data.long: {}… → y\n\
             \n\
             - Service/shop/web\n\
             \n\
             1 to create, 1 to change, 1 to delete, 3 unchanged\n",
            "x".repeat(59)
        );
        assert_eq!(shown(&upgrade(), false), expected);
        assert!(shown(&upgrade(), true).contains("+ ServiceAccount/shop/web\n    + metadata.name: web\n"));
    }

    #[test]
    fn what_stands_in_the_way_is_said_first() {
        let mut plan = upgrade();
        plan.writes[2].refused = Some("no".to_owned());
        plan.waits = Some("it is suspended".to_owned());
        let text = shown(&plan, false);
        assert!(text.contains("~ ConfigMap/shop/web\n    the cluster refuses it: no\n"), "{text}");
        assert!(text.contains("\nnot yet: it is suspended\n"), "{text}");
        assert_eq!(plan.refusal(), Some("no"));
        let plan = PlanStatus { obstacle: Some(Obstacle::InvalidSpec("a: b".to_owned())), ..PlanStatus::default() };
        assert_eq!(shown(&plan, false), "nothing will be done\ncannot go on: a: b\n");
    }

    #[test]
    fn each_change_has_its_headline() {
        let headline = |change, from: &str, to: &str| {
            let version = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
            super::headline(&PlanStatus { change, from: version(from), to: version(to), ..PlanStatus::default() })
        };
        let rows = [
            (PlannedChange::Nothing, "1", "1", "nothing to do: everything is as it should be"),
            (PlannedChange::Install, "", "1", "install 1"),
            (PlannedChange::Upgrade, "1", "1", "change 1"),
            (PlannedChange::Upgrade, "1", "2", "upgrade from 1 to 2"),
            (PlannedChange::Rollback, "2", "1", "roll back from 2 to 1"),
            (PlannedChange::Repair, "1", "1", "repair 1: the cluster differs from what was applied"),
            (PlannedChange::Uninstall, "1", "", "uninstall 1"),
        ];
        for (change, from, to, expected) in rows {
            assert_eq!(headline(change, from, to), expected);
        }
    }
}
