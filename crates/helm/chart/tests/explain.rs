//! Where values come from: what is explained is what templates see, and each value names its layer.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

#[allow(dead_code, reason = "this program makes only some things up")]
mod chance;
#[allow(dead_code, reason = "this program has no oracle")]
mod world;

use chance::Chance;
use fitout_go_template::{Map, Value};
use fitout_helm_chart::values::{Leaf, Release, Schemas, explain, merge_maps, render_values};
use fitout_helm_chart::{Chart, File, Warnings, dependencies};
use serde_json::{Value as Json, json};
use world::values::tagged;

/// What templates see as `.Values`, or why they see nothing.
fn seen(chart: &Chart, layers: &[(&str, &Map)]) -> Result<Json, String> {
    let (mut chart, mut warnings) = (chart.clone(), Warnings::new());
    let given = layers.iter().fold(world::table(&json!({})), |under, (_, over)| merge_maps(&under, over));
    dependencies::process(&mut chart, &given, &mut warnings).map_err(|error| error.to_string())?;
    let top = render_values(&chart, &given, &Release::default(), Value::Nil, Schemas::Skip, &mut warnings);
    Ok(tagged(&top.map_err(|error| error.to_string())?.get(b"Values").unwrap()))
}

/// The values that explained ones are together.
fn together(leaves: &[Leaf]) -> Json {
    let mut all = json!({});
    for leaf in leaves {
        let place = leaf.path.iter().fold(&mut all, |place, key| &mut place[&*key.to_str()]);
        assert!(place.is_null(), "{:?} is there twice", leaf.path);
        *place = tagged(&leaf.value);
    }
    all
}

fn same(chart: &Chart, layers: &[(&str, &Map)], what: &dyn std::fmt::Display) -> usize {
    let explained = explain(chart, layers).map_err(|error| error.to_string());
    assert_eq!(explained.as_deref().map(together).map_err(Clone::clone), seen(chart, layers), "{what}");
    explained.map_or(0, |leaves| leaves.len())
}

#[test]
fn explained_values_are_what_templates_see() {
    let mut told = 0;
    for number in 0..500 {
        let mut chance = Chance::new(number);
        let question = chance.process();
        let Ok(chart) = world::loaded(&question, &mut Warnings::new()) else { continue };
        let layers = [question["values"].clone(), chance.table(3), chance.table(3)];
        let tables = layers.each_ref().map(world::table);
        let named: Vec<(&str, &Map)> =
            ["definition", "set", "instance"].into_iter().zip(tables.iter().map(|table| &**table)).collect();
        told += same(&chart, &named, &format!("{number}: {question} under {layers:?}"));
    }
    assert!(told > 3_000, "{told} values were explained");
}

fn chart(files: &[(&str, &str)]) -> Chart {
    let files = files.iter().map(|(name, text)| File::new(*name, text.as_bytes())).collect();
    Chart::from_files(files, &mut Warnings::new()).unwrap()
}

/// A line for each value: its path, what it is, its layer and those that lost.
fn told(chart: &Chart, layers: &[(&str, Json)]) -> Vec<String> {
    let tables: Vec<_> = layers.iter().map(|(name, values)| (*name, world::table(values))).collect();
    let layers: Vec<(&str, &Map)> = tables.iter().map(|(name, table)| (*name, &**table)).collect();
    same(chart, &layers, &"by hand");
    let leaves = explain(chart, &layers).unwrap();
    let line = |leaf: &Leaf| {
        let path: Vec<_> = leaf.path.iter().map(|key| key.to_str().into_owned()).collect();
        let lost = if leaf.shadowed.is_empty() { String::new() } else { format!(", not {}", leaf.shadowed.join(", ")) };
        format!("{} = {} from {}{lost}", path.join("."), tagged(&leaf.value), leaf.layer)
    };
    leaves.iter().map(line).collect()
}

#[test]
fn each_value_names_its_layer_and_those_that_lost() {
    let chart = chart(&[
        ("Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
        ("values.yaml", "image: {tag: '1', name: web}\nlist: [a, b]\ngone: {x: 1}\nkept: {x: '1', z: '1'}\nnone: {}\n"),
    ]);
    let layers = [
        ("definition", json!({ "image": { "tag": "2" }, "list": ["c"] })),
        ("valuesFrom[0]", json!({ "image": { "tag": "3" }, "kept": { "x": null } })),
        ("instance", json!({ "gone": null, "more": { "deep": true } })),
    ];
    assert_eq!(
        told(&chart, &layers),
        [
            r#"image.name = "web" from chart"#,
            r#"image.tag = "3" from valuesFrom[0], not definition, chart"#,
            r#"kept.z = "1" from chart"#,
            r#"list = ["c"] from definition, not chart"#,
            "more.deep = true from instance",
            "none = {} from chart",
        ]
    );
}

#[test]
fn values_of_dependencies_globals_and_imports_name_their_chart() {
    let chart = chart(&[
        (
            "Chart.yaml",
            "apiVersion: v2\nname: web\nversion: 1.0.0\ndependencies:\n\
             - {name: db, version: '*', alias: store, import-values: [shared]}\n- {name: spare, version: '*', condition: spare.wanted}\n",
        ),
        ("values.yaml", "global: {zone: a}\nstore: {size: '1'}\nspare: {wanted: true}\n"),
        ("charts/db/Chart.yaml", "apiVersion: v2\nname: db\nversion: 1.0.0\n"),
        (
            "charts/db/values.yaml",
            "size: '0'\nuser: root\nglobal: {zone: z, own: x}\nexports: {shared: {port: '5432'}}\n",
        ),
        ("charts/spare/Chart.yaml", "apiVersion: v2\nname: spare\nversion: 1.0.0\n"),
        ("charts/spare/values.yaml", "a: 1\n"),
    ]);
    assert_eq!(
        told(&chart, &[("set", json!({ "store": { "size": "2" }, "spare": { "wanted": false } }))]),
        [
            r#"global.zone = "a" from chart"#,
            r#"port = "5432" from chart store"#,
            "spare.wanted = false from set, not chart",
            r#"store.exports.shared.port = "5432" from chart store"#,
            r#"store.global.own = "x" from chart store"#,
            r#"store.global.zone = "a" from chart, not chart store"#,
            r#"store.size = "2" from set, not chart, chart store"#,
            r#"store.user = "root" from chart store"#,
        ]
    );
}

#[test]
fn what_helm_refuses_is_refused_in_its_words() {
    let chart = chart(&[
        ("Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
        ("charts/db/Chart.yaml", "apiVersion: v2\nname: db\nversion: 1.0.0\n"),
    ]);
    let layer = world::table(&json!({ "db": "x" }));
    let refused = explain(&chart, &[("instance", &layer)]).err().unwrap().to_string();
    assert_eq!(refused, seen(&chart, &[("instance", &layer)]).err().unwrap());
    assert!(refused.contains("type mismatch on db"), "{refused}");
}
