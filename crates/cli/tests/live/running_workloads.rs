//! What shows only where pods run: the tests of a release, and why a rollout does not come to its end.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use fitout_testkit::{Cluster, Image, Spec, StandIn, pods_cannot_run, skip, start_hub, until};
use serde_json::{Value, json};

use crate::command::{Ended, fitout};

const IMAGE: &str = "localhost/tried:1";

/// Machines may be busy: this only says when something is lost.
const LATEST: Duration = Duration::from_mins(2);

/// Two tests, of which the second does as it is told. Helm keeps neither from one time to the next.
const TESTS: &str = r#"{{- range $place, $mode := list "exit" .Values.second }}
apiVersion: v1
kind: Pod
metadata:
  name: try-{{ $place }}
  annotations: { "helm.sh/hook": test, "helm.sh/hook-weight": "{{ $place }}" }
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 0
  containers: [{ name: try, image: "localhost/tried:1", command: [/standin, {{ $mode }}] }]
---
{{- end }}
apiVersion: v1
kind: ConfigMap
metadata: { name: thing }
data: { second: {{ .Values.second }} }
"#;

const ROLLOUT: &str = r"apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: web, image: {{ .Values.image }}, imagePullPolicy: Never, command: [/standin, {{ .Values.mode }}] }] }
";

fn write_chart(catalog: &Path, name: &str, values: &str, template: &str) -> Result<()> {
    let folder = catalog.join(name).join("1.0.0");
    fs::create_dir_all(folder.join("chart/templates"))?;
    let definition = format!(
        "apiVersion: fitout.dev/v1alpha1\nkind: ExtensionDefinition\nmetadata: {{ name: {name} }}\nspec: {{ extension: \
         {name}, version: 1.0.0, helm: {{ chart: chart }} }}\n"
    );
    fs::write(folder.join("definition.yaml"), definition)?;
    fs::write(folder.join("chart/Chart.yaml"), format!("apiVersion: v2\nname: {name}\nversion: 1.0.0\n"))?;
    fs::write(folder.join("chart/values.yaml"), values)?;
    fs::write(folder.join("chart/templates/all.yaml"), template)?;
    Ok(())
}

/// A hub on a cluster with a node, and what it offers.
struct Running {
    cluster: Cluster,
}

impl Running {
    fn start() -> Result<Self> {
        let mut cluster = Cluster::start(Spec { node: true, ..Spec::default() })?;
        let image = Image::stand_in(cluster.sandbox().programs(), IMAGE, StandIn::Exits);
        cluster.node().context("a node")?.import(&image)?;
        start_hub(&mut cluster, Path::new(env!("CARGO_BIN_EXE_fitout")))?;
        let catalog = cluster.sandbox().dir().join("catalog");
        write_chart(&catalog, "thing", "second: exit\n", TESTS)?;
        write_chart(&catalog, "slow", "image: localhost/nowhere:1\nmode: serve\n", ROLLOUT)?;
        write_chart(&catalog, "untested", "color: red\n", "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: it }\n")?;
        let source = json!({
            "apiVersion": "fitout.dev/v1alpha1", "kind": "Catalog",
            "metadata": { "name": "mine", "namespace": "fitout-system" },
            "spec": { "source": { "directory": { "path": catalog } } },
        });
        cluster.kubectl().run_with_input(&["apply", "--filename=-"], &source.to_string())?;
        Ok(Self { cluster })
    }

    fn run(&self, words: &[&str]) -> Result<Ended> {
        fitout(&self.cluster.kubeconfig(), Some("local"), words)
    }

    fn install(&self, extension: &str, wait: &str) -> Result<Ended> {
        self.run(&["install", extension, "--name", extension, "--catalog", "mine", "--cluster", "local", wait])
    }

    fn instance(&self, name: &str) -> Result<Value> {
        self.cluster.client().get(&format!("/apis/fitout.dev/v1alpha1/namespaces/org-local/extensioninstances/{name}"))
    }
}

#[test]
fn what_runs_is_tested_and_what_does_not_says_why() -> Result<()> {
    if let Some(reason) = pods_cannot_run() {
        skip(&reason);
        return Ok(());
    }
    let running = Running::start()?;
    tests_pass_fail_and_leave_what_is_installed(&running)?;
    a_rollout_that_does_not_end_says_why(&running)
}

fn tests_pass_fail_and_leave_what_is_installed(running: &Running) -> Result<()> {
    running.install("thing", "--wait")?.well();
    let ready = |instance: &Value| {
        let conditions = instance["status"]["conditions"].as_array().unwrap().clone();
        conditions.into_iter().find(|one| one["type"] == "Ready").unwrap()["lastTransitionTime"].clone()
    };
    let since = ready(&running.instance("thing")?);
    assert_eq!(running.run(&["test", "thing"])?.well(), "tested thing: 2 tests passed\n");
    // Once more: what is left of the first time is not in the way.
    assert_eq!(running.run(&["test", "thing"])?.well(), "tested thing: 2 tests passed\n");
    assert_eq!(ready(&running.instance("thing")?), since, "a test is no change");

    // Helm reads how it went, and may test the same release without being taken for another hand.
    let helm = |words: &[&str]| running.cluster.helm().run(&[words, &["--namespace=thing"]].concat());
    let status = helm(&["status", "thing", "--output=json"])?;
    let status: Value = serde_json::from_str(&status)?;
    let phases: Vec<&Value> =
        status["hooks"].as_array().unwrap().iter().map(|hook| &hook["last_run"]["phase"]).collect();
    assert_eq!(phases, ["Succeeded", "Succeeded"]);
    helm(&["test", "thing"])?;

    running.run(&["upgrade", "thing", "--set", "second=fail", "--wait"])?.well();
    let said = running.run(&["test", "thing"])?;
    let expected =
        ["error: instance thing: test hook Pod/thing/try-1 failed: ", "exit code 2", "last log lines: standin"];
    ensure!(said.code == 1 && expected.iter().all(|part| said.err.contains(part)), "{said:?}");
    let instance = running.instance("thing")?;
    assert_eq!(instance["status"]["test"]["result"], "Failed");
    let status: Value = serde_json::from_str(&helm(&["status", "thing", "--output=json"])?)?;
    assert_eq!((&status["info"]["status"], &status["version"]), (&json!("deployed"), &json!(2)));
    let shown = running.run(&["status", "thing"])?.shown();
    ensure!(shown.contains("Tests      revision 2: test hook Pod/thing/try-1 failed"), "{shown}");

    running.install("untested", "--wait")?.well();
    assert_eq!(running.run(&["test", "untested"])?.well(), "tested untested: 1.0.0 has no tests\n");
    Ok(())
}

/// The fourth of the pains, as a person sees it.
fn a_rollout_that_does_not_end_says_why(running: &Running) -> Result<()> {
    running.install("slow", "--no-wait")?.well();
    let says = |parts: &[&str]| {
        until(&parts.join(" … "), LATEST, || {
            let shown = running.run(&["status", "slow"])?.shown();
            ensure!(parts.iter().all(|part| shown.contains(part)), "{shown}");
            ensure!(!shown.contains("timed out"), "{shown}");
            Ok(())
        })
    };
    says(&["Deployment/slow/web: ", "pod web-", "localhost/nowhere:1"])?;
    running.run(&["upgrade", "slow", "--set", "image=localhost/tried:1,mode=fail", "--no-wait"])?.well();
    says(&["Deployment/slow/web: ", "pod web-", "exit code 2", "last log lines: standin"])
}
