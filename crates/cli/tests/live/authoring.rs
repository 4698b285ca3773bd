//! `fitout extension derive|lint|new|package` and `fitout chart package|from-manifests` on a real command line, beside Helm.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, ensure};
use fitout_testkit::{Programs, Registry, paths, sample};
use serde_json::Value;

/// A directory that is removed when it is dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("fitout-authoring-{}-{number}", std::process::id()));
        fs::create_dir_all(&dir)?;
        Ok(Self(dir))
    }

    fn write(&self, path: &str, text: &str) -> Result<()> {
        let file = self.0.join(path);
        fs::create_dir_all(file.parent().context("a file is in a directory")?)?;
        Ok(fs::write(file, text)?)
    }

    fn fitout(&self, words: &[&str]) -> Result<Output> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fitout"));
        Ok(command.args(words).current_dir(&self.0).env("KUBECONFIG", "/none").output()?)
    }

    /// Runs a command that must succeed.
    fn succeeds(&self, words: &[&str]) -> Result<String> {
        let output = self.fitout(words)?;
        ensure!(output.status.success(), "{words:?}: {}{}", text(&output.stdout), text(&output.stderr));
        Ok(text(&output.stdout))
    }

    fn helm(&self, words: &[&str]) -> Result<String> {
        let output = Command::new(Programs::get()?.oracle("oracle-helm")?)
            .args(words)
            .current_dir(&self.0)
            .env_remove("KUBECONFIG")
            .env("TZ", "UTC")
            .output()?;
        ensure!(output.status.success(), "helm {words:?}: {}", text(&output.stderr));
        Ok(text(&output.stdout))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The files of an archive, by path.
fn unpacked(archive: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    for entry in tar::Archive::new(flate2::read::GzDecoder::new(fs::File::open(archive)?)).entries()? {
        let mut entry = entry?;
        let mut content = Vec::new();
        entry.read_to_end(&mut content)?;
        files.insert(entry.path()?.to_string_lossy().into_owned(), content);
    }
    Ok(files)
}

#[test]
fn helm_accepts_packaged_charts() -> Result<()> {
    let scratch = Scratch::new()?;
    let charts: Vec<_> = Programs::get()?.charts()?.into_iter().collect();
    let mut compared = 0;
    for (name, path) in sample(charts, 6) {
        let chart = path.to_string_lossy();
        // Helm packages no chart whose dependencies are missing; neither do we.
        fs::create_dir_all(scratch.0.join("theirs"))?;
        let theirs = scratch.helm(&["package", &chart, "--destination", "theirs"]);
        let ours = scratch.fitout(&["chart", "package", &chart, "--output-dir", "ours"])?;
        assert_eq!(ours.status.success(), theirs.is_ok(), "{name}: {}{theirs:?}", text(&ours.stderr));
        let Ok(theirs) = theirs else { continue };
        let file = Path::new(theirs.trim()).file_name().context("a file")?.to_string_lossy().into_owned();
        let again = scratch.succeeds(&["chart", "package", &chart, "--output-dir", "again"])?;
        let [ours, again_, theirs] = ["ours", "again", "theirs"].map(|dir| scratch.0.join(dir).join(&file));
        assert!(again.contains("digest sha256:"), "{again}");
        assert_eq!(fs::read(&ours)?, fs::read(again_)?, "{name}: the archives are equal");
        let (mut own, mut helm) = (unpacked(&ours)?, unpacked(&theirs)?);
        // Helm writes these anew, and dependencies unpacked; subcharts are compared by what they render.
        let is_compared = |path: &String| {
            !path.ends_with("/Chart.yaml") && !path.ends_with("/Chart.lock") && !path.contains("/charts/")
        };
        own.retain(|path, _| is_compared(path));
        helm.retain(|path, _| is_compared(path));
        assert_eq!(own.keys().collect::<Vec<_>>(), helm.keys().collect::<Vec<_>>(), "{name}");
        let archive = ours.to_string_lossy();
        // Helm drops the dependencies in a Chart.yaml of version 1, so the directory is compared.
        let show = |chart: &str| scratch.helm(&["show", "chart", chart]);
        assert_eq!(show(&archive)?, show(&chart)?, "{name}");
        let template =
            |chart: &str| scratch.helm(&["template", "web", chart, "--include-crds", "--kube-version", "1.36.0"]);
        if let Ok(expected) = template(&chart) {
            assert_eq!(template(&archive)?, expected, "{name}");
        }
        compared += 1;
    }
    ensure!(compared > 0, "no chart was packaged");
    Ok(())
}

#[test]
fn ignored_files_are_not_packaged_and_versions_are_set() -> Result<()> {
    let scratch = Scratch::new()?;
    scratch.write("c/Chart.yaml", "apiVersion: v2\nname: web\nversion: 0.0.0\n")?;
    scratch.write("c/.helmignore", "*.tmp\nold/\n")?;
    scratch.write("c/templates/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n")?;
    scratch.write("c/x.tmp", "")?;
    scratch.write("c/old/y", "")?;
    let out =
        scratch.succeeds(&["chart", "package", "c", "--version", "1.2.3", "--app-version", "v9", "-o", "json"])?;
    let out: Value = serde_json::from_str(&out)?;
    assert_eq!(out["file"], "./web-1.2.3.tgz");
    let files = unpacked(&scratch.0.join("web-1.2.3.tgz"))?;
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    assert_eq!(names, ["web/.helmignore", "web/Chart.yaml", "web/templates/a.yaml"]);
    let shown = scratch.helm(&["show", "chart", "web-1.2.3.tgz"])?;
    ensure!(shown.contains("version: 1.2.3") && shown.contains("appVersion: v9"), "{shown}");
    Ok(())
}

#[test]
fn a_derived_definition_is_linted_and_packaged() -> Result<()> {
    let scratch = Scratch::new()?;
    let chart = Programs::get()?.chart("podinfo");
    let chart = chart.to_string_lossy();
    let written = scratch.succeeds(&["extension", "derive", &chart, "--output-dir", "catalog"])?;
    let path = written.lines().find_map(|line| line.strip_prefix("wrote ")?.strip_suffix("/definition.yaml"));
    let path = path.context("a definition")?.to_owned();
    assert_eq!(scratch.succeeds(&["extension", "lint", &path])?.lines().last(), Some("no problems in 1 definition"));
    let again = scratch.fitout(&["extension", "derive", &chart, "--output-dir", "catalog"])?;
    assert_eq!(again.status.code(), Some(1));
    assert!(
        text(&again.stderr).contains("exists and is not empty\nhint: remove it, or replace its files with --force")
    );
    scratch.succeeds(&["extension", "derive", &chart, "--output-dir", "catalog", "--force"])?;

    let printed = scratch.succeeds(&[
        "extension",
        "derive",
        &chart,
        "--output-dir",
        "-",
        "--repository",
        "https://x.example",
        "--set",
        "replicaCount=2",
    ])?;
    ensure!(printed.contains("repository: \"https://x.example\"") && printed.contains("replicaCount: 2"), "{printed}");

    let packaged = scratch.succeeds(&["extension", "package", "catalog", "--output-dir", "out"])?;
    let single = scratch.succeeds(&["extension", "package", &path, "--output-dir", "out"])?;
    ensure!(packaged.starts_with("wrote out/catalog.tar.gz\ndigest sha256:"), "{packaged}");
    let archive = single.lines().next().and_then(|line| line.strip_prefix("wrote ")).context("an archive")?;
    let place = Path::new(&path).strip_prefix("catalog")?.to_string_lossy().into_owned();
    assert_eq!(unpacked(&scratch.0.join("out/catalog.tar.gz"))?, unpacked(&scratch.0.join(archive))?);
    assert!(unpacked(&scratch.0.join(archive))?.contains_key(&format!("{place}/definition.yaml")));
    Ok(())
}

#[test]
fn new_definitions_have_no_findings() -> Result<()> {
    let scratch = Scratch::new()?;
    scratch.succeeds(&["extension", "new", "web", "--summary", "A shop", "--version", "1.0.0"])?;
    let chart = ["--chart", "c", "--chart-version", "1.0.0", "--repository", "oci://x.example/charts"];
    scratch.succeeds(&[&["extension", "new", "shop"], &chart[..]].concat())?;
    scratch.write(".git/a/b/definition.yaml", "not a definition")?;
    let linted = scratch.succeeds(&["extension", "lint", "--strict", "."])?;
    assert_eq!(linted.lines().last(), Some("no problems in 2 definitions"));
    Ok(())
}

#[test]
fn findings_decide_the_exit_code() -> Result<()> {
    let scratch = Scratch::new()?;
    scratch.succeeds(&["extension", "new", "web"])?;
    let definition = scratch.0.join("web/0.1.0/definition.yaml");
    let written = fs::read_to_string(&definition)?;
    fs::write(
        &definition,
        written.replace("registries: [ghcr.io/example]", "registries: [ghcr.io/example, quay.io/x]"),
    )?;
    assert_eq!(scratch.fitout(&["extension", "lint", "web"])?.status.code(), Some(0));
    assert_eq!(scratch.fitout(&["extension", "lint", "web", "--strict"])?.status.code(), Some(1));
    fs::write(&definition, written.replace("registries: [ghcr.io/example]", "registries: []"))?;
    let output = scratch.fitout(&["extension", "lint", "web/0.1.0", "-o", "json"])?;
    assert_eq!(output.status.code(), Some(1));
    let findings: Value = serde_json::from_slice(&output.stdout)?;
    assert_eq!(findings[0]["field"], "spec.requirements.registries");
    assert_eq!(findings[0]["severity"], "error");
    Ok(())
}

#[test]
fn the_built_in_catalog_has_no_errors() -> Result<()> {
    let scratch = Scratch::new()?;
    let catalog = paths::checkout().join("catalog/community");
    let linted = scratch.succeeds(&["extension", "lint", &catalog.to_string_lossy()])?;
    assert!(!linted.contains("warning "), "{linted}");
    Ok(())
}

/// The testbed has these charts in the versions that the built-in catalog offers.
const OFFERED: [(&str, &str); 4] =
    [("cert-manager", "v1.21.2"), ("metrics-server", "3.13.1"), ("podinfo", "6.14.1"), ("trust-manager", "v0.25.0")];

#[test]
fn definitions_written_by_hand_declare_what_their_charts_render() -> Result<()> {
    let scratch = Scratch::new()?;
    let charts = Programs::get()?.charts()?;
    for (name, version) in OFFERED {
        let chart = charts.get(name).context("a chart")?.to_string_lossy();
        scratch.succeeds(&["chart", "package", &chart, "--version", version])?;
        let definition = paths::checkout().join("catalog/community").join(name).join(version.trim_start_matches('v'));
        let archive = format!("{name}-{version}.tgz");
        let output =
            scratch.fitout(&["extension", "lint", &definition.to_string_lossy(), "--chart", &archive, "-o", "json"])?;
        let findings: Value = serde_json::from_slice(&output.stdout)?;
        let fields: Vec<&str> =
            findings.as_array().context("a list")?.iter().filter_map(|one| one["field"].as_str()).collect();
        // People do not list what the installer writes.
        assert_eq!(fields, ["spec.requirements.installer"], "{name}: {findings:#}");
    }
    Ok(())
}

/// An addon of manifests.
fn addon(name: &str) -> String {
    paths::checkout().join("crates/core/authoring/tests/addons").join(name).to_string_lossy().into_owned()
}

#[test]
fn addons_become_charts_that_helm_renders() -> Result<()> {
    let scratch = Scratch::new()?;
    let (dns, controller) = (addon("node-dns"), addon("cloud-controller"));
    scratch.succeeds(&["chart", "from-manifests", &dns, "--config-map", "node-dns"])?;
    scratch.succeeds(&["chart", "from-manifests", &controller, "--set", "Replicas=3"])?;
    for (name, expected) in [("node-dns", "kind: DaemonSet"), ("cloud-controller", "replicas: 3")] {
        let helm = scratch.helm(&["template", "web", name, "--kube-version", "1.36.0"])?;
        ensure!(helm.contains(expected), "{helm}");
        assert_eq!(scratch.succeeds(&["chart", "template", "web", name, "--kube-version", "1.36.0"])?, helm);
        scratch.succeeds(&["chart", "package", name])?;
        scratch.succeeds(&["extension", "derive", name, "--output-dir", "catalog"])?;
    }
    let linted = scratch.succeeds(&["extension", "lint", "catalog"])?;
    assert_eq!(linted.lines().last(), Some("no problems in 2 definitions"));
    Ok(())
}

#[test]
fn the_ci_script_checks_and_packages_a_repository() -> Result<()> {
    let scratch = Scratch::new()?;
    let catalog = paths::checkout().join("catalog/community");
    scratch.succeeds(&[
        "chart",
        "from-manifests",
        &addon("node-dns"),
        "--config-map",
        "node-dns",
        "--output-dir",
        "charts",
    ])?;
    let command = |catalog: &Path| {
        let mut command = Command::new(paths::checkout().join("deploy/ci/publish-catalog.sh"));
        command.arg(catalog).current_dir(&scratch.0).env("FITOUT", env!("CARGO_BIN_EXE_fitout"));
        command.env_remove("REGISTRY").env_remove("STRICT");
        command
    };
    let script = |catalog: &Path| -> Result<Output> { Ok(command(catalog).output()?) };
    let output = script(&catalog)?;
    ensure!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    let definitions = unpacked(&scratch.0.join("dist/community.tar.gz"))?;
    ensure!(definitions.contains_key("hello/1.1.0/definition.yaml"), "{:?}", definitions.keys());
    ensure!(scratch.0.join("dist/node-dns-0.1.0.tgz").exists(), "{}", text(&output.stdout));

    // With a registry, charts and catalog are pushed; the second time, they are there already.
    let registry = Registry::start()?;
    let push = || -> Result<String> {
        let mut command = command(&catalog);
        command.env("REGISTRY", format!("oci+http://{}/platform", registry.address())).env("VERSION", "1.0.0");
        let output = command.output()?;
        ensure!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
        Ok(text(&output.stdout))
    };
    let pushed = push()?;
    ensure!(pushed.contains("node-dns:0.1.0 pushed") && pushed.contains("community:1.0.0 pushed"), "{pushed}");
    assert_eq!(registry.repositories()?, ["platform/charts/node-dns", "platform/community"]);
    let again = push()?;
    ensure!(!again.contains(" pushed") && again.matches("is there already").count() == 2, "{again}");

    scratch.succeeds(&["extension", "new", "web", "--output-dir", "broken"])?;
    fs::remove_file(scratch.0.join("broken/web/0.1.0/values.schema.json"))?;
    let output = script(Path::new("broken"))?;
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
    ensure!(!scratch.0.join("dist/broken.tar.gz").exists(), "an invalid catalog was packaged");
    Ok(())
}
