//! Taking over from Helm by the commands of the documentation.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use fitout_testkit::{Fault, Process, until};

use crate::command::{Ended, fitout};
use crate::faults::{Faults, name_of};

/// Machines may be busy: this only says when something is lost.
const LATEST: Duration = Duration::from_mins(2);

/// What `fitout install` calls the instance.
const NAME: &str = "c0-thing";

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

/// A cluster with a hub that offers the chart, and Helm.
struct World {
    faults: Faults,
    chart: String,
    hub: Process,
}

impl World {
    fn start() -> Result<Self> {
        let faults = Faults::start(1)?;
        let chart = write_chart(&faults.hub.sandbox().dir().join("catalog"))?;
        let hub = faults.run_hub("hub")?;
        let world = Self { chart: chart.to_str().context("a path")?.to_owned(), faults, hub };
        until("the extension is offered", LATEST, || {
            let listed = world.fitout(&["extension", "list"])?.shown();
            ensure!(listed.contains("thing"), "{listed}");
            Ok(())
        })?;
        Ok(world)
    }

    fn fitout(&self, words: &[&str]) -> Result<Ended> {
        fitout(&self.faults.hub.kubeconfig(), Some("acme"), words)
    }

    fn install(&self, more: &[&str]) -> Result<Ended> {
        let words = ["install", "thing", "--catalog=local", "--cluster", &name_of(0), "--namespace=web"];
        self.fitout(&[&words, more].concat())
    }

    fn helm(&self, words: &[&str]) -> Result<String> {
        self.faults.targets[0].helm().run(&[words, &["--namespace=web"]].concat())
    }

    fn color(&self) -> Result<Option<String>> {
        let map = self.faults.targets[0].client().find("/api/v1/namespaces/web/configmaps/thing")?;
        Ok(map.and_then(|map| Some(map["data"]["color"].as_str()?.to_owned())))
    }

    /// Waits until the status of the instance says this.
    fn told(&self, words: &[&str]) -> Result<()> {
        until("it is told", LATEST, || {
            let told = self.fitout(&["status", NAME])?.shown();
            ensure!(words.iter().all(|word| told.contains(word)), "{told}");
            Ok(())
        })
    }

    /// Upgrades the release by another hand, and waits until that is told.
    fn another_hand(&self, color: &str) -> Result<()> {
        self.helm(&["upgrade", "thing", &self.chart, &format!("--set=color={color}")])?;
        self.told(&["was changed out of band", "fitout adopt", "fitout reassert"])
    }
}

#[test]
fn a_release_is_taken_over_kept_and_taken_back() -> Result<()> {
    let world = World::start()?;
    world.helm(&["install", "thing", &world.chart, "--create-namespace", "--set=color=red"])?;
    world.install(&["--adopt", "--wait"])?.well();
    assert_eq!(world.color()?.as_deref(), Some("red"));
    world.fitout(&["adopt", NAME])?.refused(
        1,
        &format!(
            "error: instance {NAME} has nothing to adopt or reassert: no other client has changed its release\n\
             hint: see its status with `fitout status {NAME}`\n"
        ),
    );
    world.another_hand("blue")?;
    assert_eq!(
        world.fitout(&["adopt", NAME, "--wait"])?.well(),
        format!("adopted revision 2 of {NAME}: version 3.0.0 is ready\n")
    );
    assert_eq!(world.color()?.as_deref(), Some("blue"));
    world.another_hand("gold")?;
    assert_eq!(
        world.fitout(&["reassert", NAME, "--wait"])?.well(),
        format!("reasserted {NAME}: version 3.0.0 is ready\n")
    );
    assert_eq!(world.color()?.as_deref(), Some("green"));
    Ok(())
}

#[test]
fn what_is_ours_is_known_though_word_of_it_comes_later_than_word_of_another_hand() -> Result<()> {
    let world = World::start()?;
    world.faults.hub_proxy.delay_watches(Some("/extensionrevisions"));
    world.install(&["--wait"])?.well();
    world.another_hand("blue")?;
    // It goes on from there as ever.
    world.fitout(&["reassert", NAME, "--wait"])?.well();
    assert_eq!(world.color()?.as_deref(), Some("green"));
    let instance = world.faults.instance(NAME)?.unwrap();
    let numbers: Vec<_> =
        instance["status"]["revisions"].as_array().unwrap().iter().map(|one| &one["number"]).collect();
    assert_eq!(numbers, [3, 2, 1]);
    world.fitout(&["uninstall", NAME, "--wait"])?.well();
    assert_eq!(world.color()?, None);
    assert_eq!(world.helm(&["list", "--output=json"])?.trim(), "[]");
    world.faults.hub_proxy.delay_watches(None);
    until("nothing is left", LATEST, || {
        let left = world.faults.hub.client().get("/apis/fitout.dev/v1alpha1/extensionrevisions")?;
        ensure!(left["items"].as_array().is_some_and(Vec::is_empty), "{left}");
        Ok(())
    })
}

#[test]
fn what_another_hand_removed_stays_so_though_word_that_it_was_installed_is_late() -> Result<()> {
    let world = World::start()?;
    world.faults.hub_proxy.decide(|asked| {
        let begins = asked.method == "POST" && asked.path.contains("/extensionrevisions");
        if begins { Fault::DelayWatch("/extensioninstances") } else { Fault::Pass }
    });
    world.install(&["--wait"])?.well();
    world.helm(&["uninstall", "thing", "--wait"])?;
    world.told(&["was removed out of band", "fitout reassert"])?;
    assert_eq!(world.color()?, None);
    world.faults.hub_proxy.decide(|_| Fault::Pass);
    world.faults.hub_proxy.delay_watches(None);
    world.fitout(&["reassert", NAME, "--wait"])?.well();
    assert_eq!(world.color()?.as_deref(), Some("green"));
    Ok(())
}

#[test]
fn who_comes_to_lead_knows_what_the_last_one_wrote_though_word_of_it_is_late() -> Result<()> {
    let mut world = World::start()?;
    let next = world.faults.run_hub("next")?;
    until("the next hub has seen all there is", LATEST, || {
        ensure!(next.tail(9).contains("the hub is ready"), "{}", next.tail(9));
        Ok(())
    })?;
    world.faults.hub_proxy.delay_watches(Some("/extensionrevisions"));
    world.install(&["--wait"])?.well();
    world.hub = next;
    world.another_hand("blue")
}
