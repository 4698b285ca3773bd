//! The values of an instance: all together, or each with the layer that set it.

use fitout_api::{ExtensionInstance, Obstacle, SourcedValue, Values, ValuesSpec, ValuesStatus};
use fitout_model::HIDDEN;
use kube::api::{ObjectMeta, PostParams};
use serde_json::{Value, json};

use crate::Answer;
use crate::arguments;
use crate::connection::Session;
use crate::failure::{Code, Failure, refused};
use crate::output::{Format, Paint, as_value};
use crate::plans::unserved;
use crate::tables::table;

pub(crate) async fn run(session: &Session, arguments: &arguments::ShowValues) -> Result<Answer, Failure> {
    let name = &arguments.instance;
    session.named::<ExtensionInstance>("instance", name, "fitout list").await?;
    let spec = ValuesSpec { instance: Some(name.clone()), proposed: None };
    let asked = Values { metadata: ObjectMeta::default(), spec, status: None };
    match session.own::<Values>().create(&PostParams::default(), &asked).await {
        Ok(answer) => shown(arguments, session.output, session.paint, answer).map(Answer::from),
        Err(kube::Error::Api(status)) if unserved(&status) => {
            Err(Failure::new("the hub serves no values").hint("run it with --api-address, and register its API"))
        }
        Err(error) => Err(refused("explain the values", &error)),
    }
}

fn shown(
    arguments: &arguments::ShowValues,
    format: Format,
    paint: Paint,
    mut answer: Values,
) -> Result<String, Failure> {
    let mut told = answer.status.take().unwrap_or_default();
    if let Some(obstacle) = told.obstacle {
        let code = if matches!(obstacle, Obstacle::Unresolved(_)) { Code::Unresolved } else { Code::Failed };
        let sentence = format!("instance {} has no values to show: {}", arguments.instance, obstacle.message());
        return Err(Failure::new(sentence).code(code));
    }
    if arguments.no_defaults {
        told = without_defaults(told);
    }
    if !arguments.explain {
        return Ok(format.value(&told.values));
    }
    if !format.is_table() {
        answer.status = Some(told);
        return Ok(format.value(&as_value(&answer)?));
    }
    Ok(explained(&told.leaves, format == Format::Wide, paint))
}

/// Leaves out the values that are defaults.
fn without_defaults(mut status: ValuesStatus) -> ValuesStatus {
    status.leaves.retain(|leaf| !leaf.default);
    status.values = json!({});
    for leaf in &status.leaves {
        *leaf.path.iter().fold(&mut status.values, |place, key| &mut place[key]) = leaf.value.clone();
    }
    status
}

/// The path of a value, as `--set` takes it: keys separated by dots, with a backslash before a dot within a key.
fn place(leaf: &SourcedValue) -> String {
    let keys: Vec<String> = leaf.path.iter().map(|key| key.replace('.', "\\.")).collect();
    keys.join(".")
}

/// One line for each value: defaults are dimmed, hidden values stand out.
fn explained(leaves: &[SourcedValue], wide: bool, paint: Paint) -> String {
    let header = ["PATH", "VALUE", "SET BY", "OVER"];
    let rows = leaves.iter().map(|leaf| {
        let mut row = vec![place(leaf), on_a_line(&leaf.value), leaf.set_by.clone()];
        row.extend(wide.then(|| leaf.over.join(", ")));
        row
    });
    let lines = table(&header[..if wide { 4 } else { 3 }], rows);
    let mut lines = lines.lines();
    let header = lines.next().map(|line| paint.bold(line) + "\n").unwrap_or_default();
    let painted = lines.zip(leaves).map(|(line, leaf)| {
        let line = match leaf {
            SourcedValue { value: Value::String(text), .. } if text == HIDDEN => paint.yellow(line),
            SourcedValue { default: true, .. } => paint.dim(line),
            _ => line.to_owned(),
        };
        line + "\n"
    });
    header + &painted.collect::<String>()
}

/// A value as it can be given to `--set-json`, and text as it is where nobody takes it for something else.
fn on_a_line(value: &Value) -> String {
    match value {
        Value::String(text) if fitout_go_yaml::from_yaml(text).ok().as_ref() == Some(value) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn asked(explain: bool, no_defaults: bool) -> arguments::ShowValues {
        arguments::ShowValues { instance: "shop".to_owned(), explain, no_defaults }
    }

    fn answer() -> Values {
        let leaf = |path: &[&str], value: Value, by: &str, over: &[&str], default: bool| json!({ "path": path, "value": value, "setBy": by, "over": over, "default": default });
        let status = json!({ "version": "1.0.0", "leaves": [
            leaf(&["annotations", "example.com/team"], json!("web"), "instance", &[], false),
            leaf(&["db", "password"], json!(HIDDEN), "valuesFrom Secret login", &["chart"], false),
            leaf(&["db", "port"], json!(5432), "chart db", &[], true),
            leaf(&["image", "tag"], json!("1.0"), "definition", &["chart"], false),
            leaf(&["args"], json!(["--log", "debug"]), "instance", &["definition", "chart"], false),
            leaf(&["motd"], json!("two\nlines"), "chart", &[], true),
        ], "values": { "image": { "tag": "1.0" }, "db": { "password": HIDDEN, "port": 5432 } } });
        let object = json!({ "apiVersion": "compute.fitout.dev/v1alpha1", "kind": "Values", "metadata": {},
            "spec": { "instance": "shop" }, "status": status });
        serde_json::from_value(object).unwrap()
    }

    #[test]
    fn each_value_with_its_layer() {
        let text = |format| shown(&asked(true, false), format, Paint::new(false), answer()).unwrap();
        assert_snapshot!(text(Format::Table));
        assert_snapshot!(text(Format::Wide));
        assert_snapshot!(shown(&asked(true, true), Format::Table, Paint::new(false), answer()).unwrap());
    }

    #[test]
    fn colours_tell_what_is_a_default_and_what_is_not_shown() {
        let text = shown(&asked(true, false), Format::Table, Paint::new(true), answer()).unwrap();
        let begins =
            |number: usize, with: &str| assert!(text.lines().nth(number).unwrap().starts_with(with), "{text:?}");
        begins(2, "\x1b[33mdb.password");
        begins(3, "\x1b[2mdb.port");
        begins(4, "image.tag");
    }

    #[test]
    fn values_together_are_a_file_of_values() {
        let text = |format| shown(&asked(false, false), format, Paint::new(false), answer()).unwrap();
        assert_eq!(text(Format::Table), "db:\n  password: (not shown)\n  port: 5432\nimage:\n  tag: \"1.0\"\n");
        assert_eq!(text(Format::Yaml), text(Format::Table));
        assert_eq!(serde_json::from_str::<Value>(&text(Format::Json)).unwrap(), answer().status.unwrap().values);
    }

    #[test]
    fn without_defaults_keeps_only_values_that_were_set() {
        let text = shown(&asked(false, true), Format::Table, Paint::new(false), answer()).unwrap();
        assert_eq!(
            text,
            "annotations:\n  example.com/team: web\nargs:\n- --log\n- debug\ndb:\n  password: (not shown)\nimage:\n  tag: \"1.0\"\n"
        );
    }

    #[test]
    fn for_programs_the_explanation_is_the_object() {
        let text = shown(&asked(true, false), Format::Json, Paint::new(true), answer()).unwrap();
        assert_eq!(serde_json::from_str::<Values>(&text).unwrap(), answer());
    }

    #[test]
    fn why_there_are_none_is_told() {
        let mut none = answer();
        let obstacle = Some(Obstacle::Unresolved("nothing fits".to_owned()));
        none.status = Some(ValuesStatus { obstacle, ..ValuesStatus::default() });
        let failure = shown(&asked(false, false), Format::Table, Paint::new(false), none).unwrap_err();
        assert_eq!(failure.sentence, "instance shop has no values to show: nothing fits");
        assert_eq!(failure.code, Code::Unresolved);
    }
}
