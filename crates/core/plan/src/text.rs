//! A plan in lines, for people.

use serde_json::Value;

use crate::{Act, Change, Difference, Plan, Write};

/// A line, and what kind of news it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// What kind.
    pub mark: Mark,
    /// What it says.
    pub text: String,
}

/// What kind of news a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// None.
    Plain,
    /// Something comes.
    New,
    /// Something becomes another.
    Changed,
    /// Something goes.
    Gone,
    /// Something stands in the way.
    Bad,
    /// Something to know.
    Warning,
}

/// No more of a value than fits beside its name.
const WIDEST: usize = 60;

/// What a person reads: what it comes to, then each object with what changes in it, then a count. With `fields`, those of
/// new objects too.
pub fn lines(plan: &Plan, fields: bool) -> Vec<Line> {
    let mut all = vec![Line { mark: Mark::Plain, text: headline(plan) }];
    let mut say = |mark, text: String| all.push(Line { mark, text });
    if !plan.why.is_empty() && plan.change != Change::Uninstall {
        say(Mark::Plain, format!("why: {}", plan.why));
    }
    if let Some(obstacle) = &plan.obstacle {
        say(Mark::Bad, format!("cannot go on: {}", obstacle.message()));
        return all;
    }
    if let Some(waits) = &plan.waits {
        say(Mark::Warning, format!("not yet: {waits}"));
    }
    for warning in &plan.warnings {
        say(Mark::Warning, format!("note: {warning}"));
    }
    let objects = || plan.writes.iter().filter(|write| write.note.is_none());
    let mut stage = None;
    for write in objects() {
        if stage.replace(write.stage) != Some(write.stage) {
            say(Mark::Plain, String::new());
        }
        let (mark, sign) = sign(write.act);
        say(mark, format!("{sign} {}", write.object()));
        if let Some(refused) = &write.refused {
            say(Mark::Bad, format!("    the cluster refuses it: {refused}"));
        }
        if fields || write.act != Act::Create {
            write.changes.iter().flat_map(change).for_each(|(mark, text)| say(mark, text));
        }
    }
    say(Mark::Plain, String::new());
    let of = |act| objects().filter(|write: &&Write| write.act == act).count();
    let counts = [(of(Act::Create), "to make"), (of(Act::Update), "to change"), (of(Act::Delete), "to remove")];
    let counts: Vec<String> = counts.iter().map(|(count, what)| format!("{count} {what}")).collect();
    say(Mark::Plain, format!("{}, {} unchanged", counts.join(", "), plan.unchanged));
    all
}

fn headline(plan: &Plan) -> String {
    let version = |version: &Option<String>| version.clone().unwrap_or_default();
    let (from, to) = (version(&plan.from), version(&plan.to));
    let revision = plan.revision.map(|number| format!(", as revision {number}")).unwrap_or_default();
    match plan.change {
        Change::Nothing if plan.obstacle.is_some() => "nothing will be done".to_owned(),
        Change::Nothing => "nothing to do: everything is as it should be".to_owned(),
        Change::Install => format!("install {to}{revision}"),
        Change::Upgrade if from == to => format!("change {to}{revision}"),
        Change::Upgrade => format!("upgrade from {from} to {to}{revision}"),
        Change::Rollback => format!("roll back from {from} to {to}{revision}"),
        Change::Repair => format!("repair {to}: something on the cluster is not as it was applied"),
        Change::Uninstall => format!("uninstall {from}"),
    }
}

fn sign(act: Act) -> (Mark, char) {
    match act {
        Act::Create => (Mark::New, '+'),
        Act::Update => (Mark::Changed, '~'),
        Act::Delete => (Mark::Gone, '-'),
    }
}

fn change(difference: &Difference) -> Vec<(Mark, String)> {
    let Difference { path, from, to } = difference;
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

/// The lines of a text that are not the same, between the beginning and the end that are.
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
    use fitout_model::{Gvk, ObjectId};
    use serde_json::json;

    use super::*;
    use crate::Obstacle;

    fn shown(plan: &Plan, fields: bool) -> String {
        lines(plan, fields).into_iter().map(|line| line.text + "\n").collect()
    }

    fn write(act: Act, kind: &str, stage: usize, changes: &[(&str, Value, Value)]) -> Write {
        let id = ObjectId { gvk: Gvk::new("v1", kind), namespace: "shop".into(), name: "web".into() };
        let side = |value: &Value| Some(value.clone()).filter(|value| !value.is_null());
        let changes = changes.iter().map(|(path, from, to)| Difference {
            path: (*path).to_owned(),
            from: side(from),
            to: side(to),
        });
        Write { changes: changes.collect(), ..Write::new(act, &id, stage) }
    }

    fn upgrade() -> Plan {
        let record = Write { note: Some("release record".to_owned()), ..write(Act::Create, "Secret", 0, &[]) };
        let long = "x".repeat(70);
        Plan {
            change: Change::Upgrade,
            from: Some("1.0.0".to_owned()),
            to: Some("1.1.0".to_owned()),
            why: "1.1.0 is the newest that fits".to_owned(),
            revision: Some(4),
            writes: vec![
                record,
                write(Act::Create, "ServiceAccount", 1, &[("metadata.name", Value::Null, json!("web"))]),
                write(
                    Act::Update,
                    "ConfigMap",
                    1,
                    &[
                        ("data.size", json!(1), json!(2)),
                        ("data.conf", json!("a\nb\nc\n"), json!("a\nB\nc\n")),
                        ("data.gone", json!("x"), Value::Null),
                        ("data.long", json!(long), json!("y")),
                    ],
                ),
                write(Act::Delete, "Service", 2, &[]),
            ],
            unchanged: 3,
            warnings: vec!["it is older".to_owned()],
            ..Plan::default()
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
             1 to make, 1 to change, 1 to remove, 3 unchanged\n",
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
        let plan = Plan { obstacle: Some(Obstacle::Wrong("a: b".to_owned())), ..Plan::default() };
        assert_eq!(shown(&plan, false), "nothing will be done\ncannot go on: a: b\n");
    }

    #[test]
    fn each_change_has_its_headline() {
        let headline = |change, from: &str, to: &str| {
            let version = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
            super::headline(&Plan { change, from: version(from), to: version(to), ..Plan::default() })
        };
        let rows = [
            (Change::Nothing, "1", "1", "nothing to do: everything is as it should be"),
            (Change::Install, "", "1", "install 1"),
            (Change::Upgrade, "1", "1", "change 1"),
            (Change::Upgrade, "1", "2", "upgrade from 1 to 2"),
            (Change::Rollback, "2", "1", "roll back from 2 to 1"),
            (Change::Repair, "1", "1", "repair 1: something on the cluster is not as it was applied"),
            (Change::Uninstall, "1", "", "uninstall 1"),
        ];
        for (change, from, to, expected) in rows {
            assert_eq!(headline(change, from, to), expected);
        }
    }
}
