//! Our own answers to the questions that the oracle is asked.

mod archive;
pub(crate) mod values;

use std::collections::BTreeMap;
use std::rc::Rc;

use fitout_go_template::{Map, Type, Value};
use fitout_helm_chart::values::{Release, Schemas, UserValues, load, render_values, strvals};
use fitout_helm_chart::{Chart, Error, File, Rules, Warnings, dependencies, schema};
use serde_json::{Value as Json, json};

use values::{decode, tagged};

/// The question as the oracle wants it: what is in an archive is packed.
pub(crate) fn for_the_judge(question: &Json) -> Json {
    let mut question = question.clone();
    if let Some(packed) = archive::packed(&question) {
        question["archive"] = Json::String(archive::base64(&packed));
    }
    question
}

/// Our answer, in the form of the oracle's.
pub(crate) fn ours(question: &Json) -> Json {
    let mut warnings = Warnings::new();
    let mut answer = match answer(question, &mut warnings) {
        Ok(value) => json!({ "value": value }),
        Err(error) => json!({ "error": error.to_string() }),
    };
    if !warnings.is_empty() {
        answer["warnings"] = json!(warnings);
    }
    comparable(answer)
}

/// An answer as it can be compared: all numbers are floats, and lines have an order of their own.
pub(crate) fn comparable(answer: Json) -> Json {
    let mut answer = kept(answer);
    values::as_floats(&mut answer);
    if let Some(error) = answer.get("error").and_then(Json::as_str) {
        answer = json!({ "error": in_lines(error) });
    }
    answer
}

/// An answer without what chance decides: what was said before an error, the order of warnings, and the time in them.
pub(crate) fn kept(mut answer: Json) -> Json {
    if let Some(error) = answer.get("error") {
        return json!({ "error": error });
    }
    let Some(warnings) = answer.get("warnings").and_then(Json::as_array) else { return answer };
    let mut warnings: Vec<String> = warnings.iter().filter_map(|line| Some(line.as_str()?.to_owned())).collect();
    // What Helm says with the level of a warning has its own way to quote.
    let levelled = ["time=", "returned non-bool value", "ImportValues", "unresolved URN"];
    warnings.retain(|line| !levelled.iter().any(|beginning| line.starts_with(beginning)));
    warnings.sort();
    answer["warnings"] = json!(warnings);
    if warnings.is_empty()
        && let Some(answer) = answer.as_object_mut()
    {
        answer.remove("warnings");
    }
    answer
}

/// The lines of a message in an order of their own: Helm goes through maps as they come.
fn in_lines(message: &str) -> Vec<String> {
    let names = |line: &str| -> Option<String> {
        let (before, after) = line.split_once("additional properties '")?;
        let (names, end) = after.rsplit_once("' not allowed")?;
        let mut names: Vec<_> = names.split("', '").collect();
        names.sort_unstable();
        Some(format!("{before}additional properties '{}' not allowed{end}", names.join("', '")))
    };
    // Helm's library forgets where an object was by the time it says that a name in it is wrong.
    let forgotten = |line: &str| -> Option<String> {
        let (before, after) = line.split_once(": invalid propertyName ")?;
        Some(format!("{}: invalid propertyName {after}", before.split("- at").next()?))
    };
    let line = |line: &str| names(line).or_else(|| forgotten(line)).unwrap_or_else(|| line.to_owned());
    let mut lines: Vec<_> = message.lines().map(line).collect();
    lines.sort();
    lines
}

fn answer(question: &Json, warnings: &mut Warnings) -> Result<Json, Error> {
    let text = question["text"].as_str().unwrap_or_default();
    match question["op"].as_str().unwrap_or_default() {
        "strvals" => set(question, text),
        "flags" => flags(question),
        "values" => Ok(tagged(&Value::Map(load(text.as_bytes())?))),
        "ignore" => {
            let rules = Rules::parse(text.as_bytes())?;
            let path = question["path"].as_str().unwrap_or_default();
            Ok(json!(rules.ignores(path, question["dir"].as_bool().unwrap_or_default())))
        }
        "load" => Ok(described(&loaded(question, warnings)?)),
        "process" => process(question, warnings),
        "schema" => {
            schema::validate_against(&table(&question["values"]), text.as_bytes(), warnings)?;
            Ok(json!(true))
        }
        other => panic!("there is no question {other:?}"),
    }
}

fn files(question: &Json) -> Vec<(String, String)> {
    serde_json::from_value(question["files"].clone()).unwrap_or_default()
}

fn content(question: &Json, name: &str) -> Result<Vec<u8>, String> {
    let found = files(question).into_iter().find(|(file, _)| file == name);
    found.map(|(_, text)| text.into_bytes()).ok_or_else(|| format!("open {name}: no such file or directory"))
}

fn set(question: &Json, text: &str) -> Result<Json, Error> {
    let into = table(&question["into"]);
    match question["form"].as_str().unwrap_or_default() {
        "typed" => strvals::set(text, &into)?,
        "string" => strvals::set_string(text, &into)?,
        "json" => strvals::set_json(text, &into)?,
        "literal" => strvals::set_literal(text, &into)?,
        _ => strvals::set_file(text, &into, &mut |name| content(question, name))?,
    }
    Ok(tagged(&Value::Map(into)))
}

fn flags(question: &Json) -> Result<Json, Error> {
    let of = |kind: &str| serde_json::from_value(question["set"][kind].clone()).unwrap_or_default();
    let user = UserValues {
        files: of("files"),
        set_json: of("json"),
        set: of("set"),
        set_string: of("string"),
        set_file: of("file"),
        set_literal: of("literal"),
    };
    Ok(tagged(&Value::Map(user.merged(&mut |name| content(question, name))?)))
}

pub(crate) fn loaded(question: &Json, warnings: &mut Warnings) -> Result<Chart, Error> {
    if let Some(bytes) = archive::packed(question) {
        return Chart::from_archive(&bytes, warnings);
    }
    let files = files(question).into_iter().map(|(name, text)| File::new(name, text));
    Chart::from_files(files.collect(), warnings)
}

fn process(question: &Json, warnings: &mut Warnings) -> Result<Json, Error> {
    let mut chart = loaded(question, warnings)?;
    let given = table(&question["values"]);
    dependencies::process(&mut chart, &given, warnings)?;
    let release = Release { name: "r".into(), namespace: "n".into(), revision: 1, is_upgrade: false };
    let top = render_values(&chart, &given, &release, Value::Nil, Schemas::Check, warnings)?;
    let values = top.get(b"Values").unwrap();
    let mut charts = Vec::new();
    visit(&chart, &mut charts);
    let before = tagged(&values);
    let Value::Map(map) = &values else { panic!("values are a map") };
    mark(map, "root");
    Ok(json!({ "values": before, "charts": charts, "shared": tagged(&values) }))
}

fn visit(chart: &Chart, charts: &mut Vec<Json>) {
    charts.push(json!({
        "path": &**chart.full_path(),
        "metadata": tagged(&chart.metadata.to_value()),
        "defaults": tagged(&Value::Map(Rc::clone(&chart.values))),
    }));
    chart.dependencies.iter().for_each(|chart| visit(chart, charts));
}

/// Marks every table in the globals of each chart: what is shared is marked more than once.
fn mark(values: &Map, name: &str) {
    for (key, value) in values.entries() {
        let (Value::String(key), Value::Map(inner)) = (key, value) else { continue };
        if &*key == b"global" { deep(&inner, name) } else { mark(&inner, &format!("{name}.{}", key.to_str())) }
    }
}

fn deep(table: &Map, name: &str) {
    for (key, value) in table.entries() {
        if let (Value::String(key), Value::Map(inner)) = (key, value)
            && &*key != b"marks"
        {
            deep(&inner, name);
        }
    }
    if table.get(b"marks").is_none() {
        table.insert("marks".into(), Value::Map(Rc::new(Map::of(Type::MAP, []))));
    }
    if let Some(Value::Map(marks)) = table.get(b"marks") {
        marks.insert(name.into(), Value::Bool(true));
    }
}

fn described(chart: &Chart) -> Json {
    let dependencies: BTreeMap<_, _> =
        chart.dependencies.iter().map(|chart| (chart.name(), described(chart))).collect();
    let listed = |files: &[File]| files.iter().map(|file| json!([&*file.name, file.data.to_str()])).collect::<Vec<_>>();
    json!({
        "metadata": tagged(&chart.metadata.to_value()),
        "lock": chart.lock.as_ref().map(|lock| json!({"digest": lock.digest, "count": lock.dependencies.len()})),
        "values": tagged(&Value::Map(Rc::clone(&chart.values))),
        "schema": chart.schema.as_ref().map_or_else(String::new, |schema| schema.to_str().into_owned()),
        "templates": listed(&chart.templates),
        "files": listed(&chart.files),
        "raw": chart.raw.len(),
        "path": &**chart.full_path(),
        "dependencies": dependencies,
        "crds": chart.crds().len(),
    })
}

pub(crate) fn table(json: &Json) -> Rc<Map> {
    match decode(json) {
        Value::Map(map) => map,
        _ => Rc::new(Map::of(Type::MAP, [])),
    }
}
