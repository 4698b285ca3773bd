//! The hub's chart pushes charts to a registry when it is installed and upgraded; a catalog offers them, and they are
//! installed.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use fitout_testkit::{Cluster, Image, Registry, Spec, apply, object, paths, pods_cannot_run, skip, until};
use serde_json::json;

use crate::chart_deployment::{IMAGE, program};
use crate::command::{Ended, fitout};

const LIMIT: Duration = Duration::from_mins(1);
const CHARTS: &str = "localhost/charts:1";
const JOBS: &str = "/apis/batch/v1/namespaces/fitout-system/jobs";

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// A chart with one `ConfigMap`.
fn write_chart(folder: &Path, version: &str) -> Result<()> {
    let name = folder.file_name().context("the name of the chart")?.to_string_lossy();
    fs::create_dir_all(folder.join("templates"))?;
    fs::write(folder.join("Chart.yaml"), format!("apiVersion: v2\nname: {name}\nversion: {version}\n"))?;
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: {{ .Chart.Name }} }\n";
    Ok(fs::write(folder.join("templates/map.yaml"), map)?)
}

#[test]
fn charts_of_a_config_map_and_of_an_image_are_offered() -> Result<()> {
    if let Some(reason) = pods_cannot_run() {
        skip(&reason);
        return Ok(());
    }
    let hub = Cluster::start(Spec { node: true, ..Spec::default() })?;
    let node = hub.node().context("a node")?;
    let (registry, (user, password)) = Registry::start_guarded_for_pods(&hub)?;
    node.import(&Image::hub(IMAGE, &program())?)?;
    let address = format!("oci+http://{}/charts", registry.address());
    let kubeconfig = hub.kubeconfig();
    let well = |words: &[&str]| fitout(&kubeconfig, None, words).map(Ended::well);

    // Two archives in a ConfigMap, and credentials that the hub and the Job read.
    let dir = hub.sandbox().dir().join("charts");
    let archives = dir.join("archives");
    fs::create_dir_all(&archives)?;
    for (name, version) in [("web", "1.0.0"), ("db", "2.0.0")] {
        write_chart(&dir.join(name), version)?;
        well(&["chart", "package", &text(&dir.join(name)), "--output-dir", &text(&archives)])?;
    }
    hub.kubectl().run(&["create", "namespace", "fitout-system"])?;
    let enforce = "pod-security.kubernetes.io/enforce=restricted";
    hub.kubectl().run(&["label", "namespace", "fitout-system", enforce])?;
    let from = format!("--from-file={}", archives.display());
    hub.kubectl().run(&["create", "configmap", "charts", "--namespace=fitout-system", &from])?;
    let logins = json!({ "auths": { (registry.address()): { "username": user, "password": password } } });
    let data = json!({ "repository": address, ".dockerconfigjson": logins.to_string() });
    let secret = json!({ "type": "fitout.dev/repository", "stringData": data });
    apply(&hub, &object("v1", "Secret", "fitout-system", "registry", &secret))?;
    assert_eq!(registry.repositories()?, Vec::<String>::new());

    // The Job ends before Helm does.
    let chart = text(&paths::checkout().join("deploy/chart"));
    let upgrade = ["upgrade", "fitout", &chart, "--install", "--namespace=fitout-system"];
    let options = ["--reset-then-reuse-values", "--wait", "--timeout=90s"];
    let helm = |values: &[&str]| hub.helm().run(&[&upgrade[..], &options, values].concat());
    let to = format!("--set=charts.registry={address}");
    let credentials = "--set=charts.credentialsSecret=registry";
    let began = Instant::now();
    let values = [&to, credentials, "--set=charts.configMap=charts", "--set=charts.catalog=day-0"];
    let notes = helm(&values)?;
    eprintln!("  installed with two charts of a ConfigMap in {:.1} s", began.elapsed().as_secs_f32());
    ensure!(notes.contains("fitout extension list --catalog day-0"), "{notes}");
    assert_eq!(registry.repositories()?, ["charts/db", "charts/web"]);
    assert_eq!(hub.client().get(JOBS)?["items"], json!([]), "the Job is deleted when it has succeeded");
    let pushed = registry.digest("charts/web", "1.0.0")?;

    // Day 2: the catalog of the installation offers them.
    apply(&hub, &object("fitout.dev/v1alpha1", "Organization", "", "acme", &json!({ "spec": {} })))?;
    let listed = |catalog: &str, names: &[&str]| {
        until(&format!("catalog {catalog} offers {names:?}"), LIMIT, || {
            let out = well(&["extension", "list", "--catalog", catalog])?;
            ensure!(names.iter().all(|name| out.contains(name)), "{out}");
            Ok(())
        })
    };
    listed("day-0", &["web", "db"])?;

    // An image without a program, with an archive that the registry has and a folder that it does not have.
    let files = dir.join("image");
    write_chart(&files.join("cache"), "3.0.0")?;
    fs::copy(archives.join("web-1.0.0.tgz"), files.join("web-1.0.0.tgz"))?;
    node.import(&Image::charts(CHARTS, &files, &program())?)?;
    let before = hub.client().get("/apis/fitout.dev/v1alpha1/namespaces/fitout-system/catalogs/day-0")?;
    let began = Instant::now();
    let values = ["--set=charts.configMap=", &format!("--set=charts.image={CHARTS}")];
    helm(&values)?;
    eprintln!("  upgraded with two charts of an image in {:.1} s", began.elapsed().as_secs_f32());
    assert_eq!(registry.repositories()?, ["charts/cache", "charts/db", "charts/web"]);
    assert_eq!(registry.digest("charts/web", "1.0.0")?, pushed, "a chart that is there already does not change");
    let after = hub.client().get("/apis/fitout.dev/v1alpha1/namespaces/fitout-system/catalogs/day-0")?;
    assert_eq!(before["metadata"]["uid"], after["metadata"]["uid"], "the catalog stays");

    // Its charts are offered by another catalog too, and installed.
    let added =
        well(&["catalog", "add", "own", "--helm", &address, "--chart", "cache", "--scope", "shared", "--wait"])?;
    assert_eq!(added, "added catalog own: 1 extension, 1 version\n");
    listed("own", &["cache"])?;
    well(&["cluster", "add", "foo", "--kubeconfig", &text(&kubeconfig), "--wait"])?;
    well(&["install", "cache", "--catalog", "own", "--cluster", "foo", "--wait"])?;
    hub.client().get("/api/v1/namespaces/cache/configmaps/cache")?;
    Ok(())
}

/// Without values there is no Job; values that contradict each other are refused with a sentence.
#[test]
fn values_of_charts_are_checked() -> Result<()> {
    let registry = Registry::start()?;
    let chart = text(&paths::checkout().join("deploy/chart"));
    let template = |values: &[&str]| -> Result<(bool, String)> {
        let words = ["template", "fitout", &chart, "--namespace=fitout-system"];
        let output = registry.helm().output(&[&words, values].concat(), "")?;
        Ok((output.status.success(), String::from_utf8([output.stdout, output.stderr].concat())?))
    };
    let (fine, rendered) = template(&[])?;
    ensure!(fine && !rendered.contains("fitout-charts"), "{rendered}");

    let address = "--set=charts.registry=oci://registry.example.com/charts";
    let (fine, rendered) =
        template(&[address, "--set=charts.image=example.com/charts:1", "--set=charts.caConfigMap=ca"])?;
    let parts = ["kind: Job", "[/opt/fitout/fitout]", "- \"/charts\"", "--ca-file=/etc/fitout/authorities/ca.crt"];
    ensure!(fine && parts.iter().all(|part| rendered.contains(part)), "{rendered}");
    ensure!(!rendered.contains("helmRepository: { url") && !rendered.contains("HELM_REGISTRY_CONFIG"), "{rendered}");

    let refusals: [(&[&str], &str); 5] = [
        (&[address], "charts.registry is set without charts: name a ConfigMap in charts.configMap"),
        (&[address, "--set=charts.configMap=a", "--set=charts.image=b"], "the charts come from one of them"),
        (&["--set=charts.configMap=a"], "charts.registry is missing: the address to push the charts to"),
        (&["--set=charts.registry=https://registry.example.com"], "/charts/registry"),
        (&[address, "--set=charts.configmap=a"], "configmap"),
    ];
    for (values, sentence) in refusals {
        let (fine, said) = template(values)?;
        ensure!(!fine && said.contains(sentence), "{values:?}: {said}");
    }
    Ok(())
}
