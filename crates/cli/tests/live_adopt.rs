//! Taking over from Helm by the commands of the documentation.

#![allow(clippy::unwrap_used, reason = "a test")]

mod command;
mod faults;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use command::fitout;
use faults::{Faults, name_of};
use fitout_testkit::until;

/// Machines may be busy: this only says when something is lost.
const LATEST: Duration = Duration::from_mins(2);

/// An extension whose chart has one object, with a colour to tell the hands apart by.
fn write_chart(catalog: &Path) -> Result<PathBuf> {
    let folder = catalog.join("thing/3.0.0");
    let chart = folder.join("chart");
    fs::create_dir_all(chart.join("templates"))?;
    let definition = "apiVersion: fitout.dev/v1alpha1\nkind: ExtensionDefinition\nmetadata: { name: thing }\n\
                      spec: { extension: thing, version: 3.0.0, helm: { chart: chart } }\n";
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: thing }\ndata: { color: {{ .Values.color }} }\n";
    fs::write(folder.join("definition.yaml"), definition)?;
    fs::write(chart.join("Chart.yaml"), "apiVersion: v2\nname: thing\nversion: 3.0.0\n")?;
    fs::write(chart.join("values.yaml"), "color: green\n")?;
    fs::write(chart.join("templates/map.yaml"), map)?;
    Ok(chart)
}

#[test]
fn a_release_is_taken_over_kept_and_taken_back() -> Result<()> {
    let faults = Faults::start(1)?;
    let chart = write_chart(&faults.hub.bed().dir().join("catalog"))?;
    let chart = chart.to_str().context("a path")?;
    let _hub = faults.run_hub("hub")?;
    let run = |words: &[&str]| fitout(&faults.hub.kubeconfig(), Some("acme"), words);
    let helm = |words: &[&str]| faults.targets[0].helm().run(&[words, &["--namespace=web"]].concat());
    let color = || -> Result<String> {
        let map = faults.targets[0].client().get("/api/v1/namespaces/web/configmaps/thing")?;
        Ok(map["data"]["color"].as_str().unwrap_or_default().to_owned())
    };
    helm(&["install", "thing", chart, "--create-namespace", "--set=color=red"])?;
    until("the extension is offered", LATEST, || {
        let listed = run(&["extension", "list"])?.shown();
        ensure!(listed.contains("thing"), "{listed}");
        Ok(())
    })?;
    let target = name_of(0);
    let words =
        ["install", "thing", "--catalog", "local", "--cluster", &target, "--namespace", "web", "--adopt", "--wait"];
    let name = format!("{target}-thing");
    run(&words)?.well();
    assert_eq!(color()?, "red");
    run(&["adopt", &name])?.refused(
        1,
        &format!(
            "error: there is nothing to choose for instance {name}: no other hand has changed its release\n\
             hint: see how it is doing with `fitout status {name}`\n"
        ),
    );

    let another_hand = |color: &str| {
        helm(&["upgrade", "thing", chart, &format!("--set=color={color}")])?;
        until("it is told", LATEST, || {
            let told = run(&["status", &name])?.shown();
            ensure!(told.contains("fitout adopt") && told.contains("fitout reassert"), "{told}");
            Ok(())
        })
    };
    another_hand("blue")?;
    assert_eq!(
        run(&["adopt", &name, "--wait"])?.well(),
        format!("adopted revision 2 of {name}: version 3.0.0 is ready\n")
    );
    assert_eq!(color()?, "blue");
    another_hand("gold")?;
    assert_eq!(run(&["reassert", &name, "--wait"])?.well(), format!("reasserted {name}: version 3.0.0 is ready\n"));
    assert_eq!(color()?, "green");
    Ok(())
}
