//! Real charts come out as Helm makes them, to the byte.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod conformance;

use std::rc::Rc;

use anyhow::{Result, ensure};
use conformance::{Answer, Case, cases, difference};
use fitout_go_template::{Map, Type, Value};
use fitout_helm_chart::render::{Capabilities, HELM_VERSION, KubeVersion};
use fitout_helm_chart::values::{Leaf, Release, Schemas, explain, load, render_values};
use fitout_helm_chart::{Chart, Warnings, dependencies};
use fitout_testkit::{Programs, full, sample};

/// How many of the ways to render charts a run takes beside each chart with its own values. `cargo xtask conformance
/// helm` takes all.
const SAMPLED: usize = 40;

#[test]
fn charts_are_rendered_as_helm_renders_them() -> Result<()> {
    let programs = Programs::get()?;
    let (mut tried, mut others) = (Vec::new(), Vec::new());
    for chart in programs.charts()?.values() {
        tried.extend(cases(chart, true)?.into_iter().filter(|case| case.values.is_none()));
        others.extend(cases(chart, false)?);
    }
    tried.extend(if full() { others } else { sample(others, SAMPLED) });
    let mut rendered = 0;
    for case in &tried {
        rendered += usize::from(same(case, &programs)?);
    }
    println!("{rendered} of {} were rendered, the others were refused", tried.len());
    ensure!(rendered * 2 > tried.len(), "only {rendered} of {} were rendered", tried.len());
    Ok(())
}

/// Fails where the two differ, and says whether the chart was rendered.
fn same(case: &Case, programs: &Programs) -> Result<bool> {
    let (theirs, ours) = (case.theirs(programs)?, case.ours());
    assert!(theirs == ours, "{case:?}\n{}", difference(&theirs, &ours));
    Ok(matches!(ours, Answer::Text(_)))
}

#[test]
fn helm_takes_the_same_for_granted_where_it_knows_no_cluster() -> Result<()> {
    let dir = std::env::temp_dir().join(format!("fitout-granted-{}", std::process::id()));
    std::fs::create_dir_all(dir.join("templates"))?;
    std::fs::write(dir.join("Chart.yaml"), "apiVersion: v2\nname: granted\nversion: 0.1.0\n")?;
    let template = "versions: {{ .Capabilities.APIVersions | toJson }}\nhelm: {{ .Capabilities.HelmVersion.Version }}\n\
                    client: {{ .Capabilities.HelmVersion.KubeClientVersion }}\ngo: {{ .Capabilities.HelmVersion.GoVersion }}\n";
    std::fs::write(dir.join("templates/all.yaml"), template)?;
    let programs = Programs::get()?;
    let case = cases(&dir, true)?.remove(0);
    let rendered = same(&case, &programs);
    std::fs::remove_dir_all(&dir)?;
    assert!(rendered?);
    assert_eq!(HELM_VERSION, "v4.3.1");
    let assumed = Capabilities::assumed(KubeVersion::parse("1.36").unwrap());
    assert!(assumed.api_versions.iter().any(|version| version == "apps/v1"));
    Ok(())
}

/// The table that explained values are together.
fn together(leaves: &[Leaf]) -> Value {
    let all = Rc::new(Map::of(Type::MAP, []));
    for leaf in leaves {
        let (last, path) = leaf.path.split_last().unwrap();
        let table = path.iter().fold(Rc::clone(&all), |table, key| {
            if let Some(Value::Map(inner)) = table.get(key) {
                return inner;
            }
            let inner = Rc::new(Map::of(Type::MAP, []));
            table.insert(Value::String(key.clone()), Value::Map(Rc::clone(&inner)));
            inner
        });
        table.insert(Value::String(last.clone()), leaf.value.clone());
    }
    Value::Map(all)
}

/// What templates see as `.Values`.
fn seen(mut chart: Chart, given: &Map) -> Result<Value> {
    let mut warnings = Warnings::new();
    dependencies::process(&mut chart, given, &mut warnings)?;
    let top = render_values(&chart, given, &Release::default(), Value::Nil, Schemas::Skip, &mut warnings)?;
    Ok(top.get(b"Values").unwrap())
}

#[test]
fn every_value_of_real_charts_is_explained() -> Result<()> {
    let (mut charts, mut values, mut below) = (0, 0, 0);
    for (name, folder) in Programs::get()?.charts()? {
        for case in cases(&folder, true)? {
            let Ok(chart) = fitout_environment::load(&folder, &mut Warnings::new()) else { continue };
            let given = load(&case.values.map_or(Ok(Vec::new()), std::fs::read)?)?;
            let leaves = explain(&chart, &[("instance", &given)])?;
            let (ours, theirs) = (together(&leaves), seen(chart, &given)?);
            assert_eq!(format!("{ours:?}"), format!("{theirs:?}"), "{name}");
            charts += 1;
            values += leaves.len();
            below += leaves.iter().filter(|leaf| leaf.layer.starts_with("chart ")).count();
        }
    }
    println!("{values} values of {charts} charts, {below} of them from dependencies");
    ensure!(charts > 30 && values > 5000 && below > 0, "{values} values of {charts} charts, {below} from dependencies");
    Ok(())
}
