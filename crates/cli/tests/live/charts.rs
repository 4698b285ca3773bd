//! `fitout chart` on a real command line, beside Helm.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, ensure};
use fitout_testkit::Programs;

/// A directory that is gone with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Result<Self> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("fitout-{name}-{}-{number}", std::process::id()));
        fs::create_dir_all(&dir)?;
        Ok(Self(dir))
    }

    fn write(&self, path: &str, text: &str) -> Result<()> {
        let file = self.0.join(path);
        fs::create_dir_all(file.parent().context("a file is in a folder")?)?;
        Ok(fs::write(file, text)?)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn fitout(dir: &Path, words: &[&str]) -> Result<Output> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fitout"));
    Ok(command.arg("chart").args(words).current_dir(dir).env_remove("KUBECONFIG").output()?)
}

fn helm(dir: &Path, words: &[&str]) -> Result<Output> {
    let mut command = Command::new(Programs::get()?.oracle("oracle-helm")?);
    Ok(command.args(words).current_dir(dir).env_remove("KUBECONFIG").output()?)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A chart that shows everything it is given.
fn chart() -> Result<Folder> {
    let folder = Folder::new("shown")?;
    folder.write("c/Chart.yaml", "apiVersion: v2\nname: shown\nversion: 0.1.0\nkubeVersion: '>=1.30'\n")?;
    folder.write("c/values.yaml", "a: 1\nlist: [x, y]\nmap: {k: v}\n")?;
    folder
        .write("c/values.schema.json", r#"{"properties": {"a": {"type": ["integer", "string", "object", "null"]}}}"#)?;
    folder.write(
        "c/templates/all.yaml",
        "release: {{ toJson .Release }}\nvalues: {{ toJson .Values }}\nkube: {{ .Capabilities.KubeVersion.Version }}\n\
         has: {{ .Capabilities.APIVersions.Has \"x.io/v1\" }}\n",
    )?;
    folder.write("c/templates/sub/other.yaml", "kind: ConfigMap\nmetadata: {name: other}\n")?;
    folder.write(
        "c/templates/tests/test.yaml",
        "kind: Pod\nmetadata: {name: test, annotations: {helm.sh/hook: test}}\n",
    )?;
    folder.write(
        "c/templates/hook.yaml",
        "kind: Job\nmetadata: {name: hook, annotations: {helm.sh/hook: pre-install}}\n",
    )?;
    folder.write("c/crds/crd.yaml", "kind: CustomResourceDefinition\n")?;
    folder.write("c/README.md", "# Shown\n")?;
    folder.write("one.yaml", "a: 2\nmap: {k: null, l: m}\n")?;
    folder.write("two.yaml", "list: []\n")?;
    folder.write("content.txt", "line\nline\n")?;
    Ok(folder)
}

#[test]
fn flags_mean_what_they_mean_to_helm() -> Result<()> {
    let folder = chart()?;
    let flags: &[&[&str]] = &[
        &[],
        &["-f", "one.yaml", "--values", "two.yaml"],
        &["--set", "a=x,list[1]=z,map.k=null", "--set", "n.m={1,2}"],
        &["--set-string", "a=1,b=true"],
        &["--set-file", "a=content.txt"],
        &["--set-json", "a={\"b\":[1,2.5,null]}", "--set-json", "{\"c\":1}"],
        &["--set-literal", "a=x,y=z"],
        &["--set", "a=1", "--set-string", "a=2", "--set-json", "a=3", "-f", "one.yaml"],
        &["--namespace", "space"],
        &["-n", "space", "--is-upgrade"],
        &["--kube-version", "v1.33.4-gke.100"],
        &["--api-versions", "x.io/v1"],
        &["-a", "y.io/v1,x.io/v1"],
        &["--include-crds"],
        &["--skip-tests"],
        &["--no-hooks"],
        &["--show-only", "templates/sub/other.yaml"],
        &["-s", "templates/sub/other.yaml", "-s", "templates/all.yaml"],
        &["-s", "templates/*.yaml"],
        &["--skip-schema-validation", "--set", "a=[]"],
    ];
    for words in flags {
        let version: &[&str] = if words.contains(&"--kube-version") { &[] } else { &["--kube-version", "1.36.0"] };
        let words = [&["template", "named", "c"], version, words].concat();
        let (ours, theirs) = (fitout(&folder.0, &words)?, helm(&folder.0, &words)?);
        ensure!(theirs.status.success(), "Helm refuses {words:?}: {}", text(&theirs.stderr));
        assert_eq!(text(&ours.stdout), text(&theirs.stdout), "{words:?}: {}", text(&ours.stderr));
    }
    let unnamed = ["template", "c", "--kube-version", "1.36.0", "--name-template", "x-{{ \"Y\" | lower }}"];
    assert_eq!(text(&fitout(&folder.0, &unnamed)?.stdout), text(&helm(&folder.0, &unnamed)?.stdout));
    Ok(())
}

#[test]
fn what_helm_refuses_is_refused_with_its_message() -> Result<()> {
    let folder = chart()?;
    let flags: &[&[&str]] = &[
        &["--kube-version", "1.29.0"],
        &["--kube-version", "1.36.0", "--set", "list[x]=1"],
        &["--kube-version", "1.36.0", "--set-json", "a={"],
        &["--kube-version", "1.36.0", "-s", "templates/none.yaml"],
        &["--kube-version", "1.36.0", "--set-json", "a=[1]"],
        &["--kube-version", "x"],
    ];
    for words in flags {
        let words = [&["template", "named", "c"], *words].concat();
        let (ours, theirs) = (fitout(&folder.0, &words)?, helm(&folder.0, &words)?);
        assert_eq!(ours.status.code(), Some(1), "{words:?}: {}", text(&ours.stderr));
        let said = text(&theirs.stderr);
        let message = said.split_once("Error: ").context("Helm says why")?.1;
        let message = message.trim_end().trim_end_matches("Use --debug flag to render out invalid YAML").trim_end();
        ensure!(text(&ours.stderr).contains(message), "{words:?}\nHelm: {message}\nours: {}", text(&ours.stderr));
    }
    Ok(())
}

#[test]
fn an_error_is_shown_at_its_place_with_the_value_that_is_missing() -> Result<()> {
    let folder = Folder::new("placed")?;
    folder.write("c/Chart.yaml", "apiVersion: v2\nname: placed\nversion: 0.1.0\n")?;
    folder.write("c/templates/a.yaml", "a: 1\nimage: {{ .Values.image.tag.name }}\n")?;
    folder.write("c/values.yaml", "image: {}\n")?;
    let refused = fitout(&folder.0, &["template", "c"])?;
    assert_eq!(
        text(&refused.stderr),
        "\
error: placed/templates/a.yaml:2:17
  executing \"placed/templates/a.yaml\" at <.Values.image.tag.name>:
    nil pointer evaluating interface {}.name
 --> placed/templates/a.yaml:2:18
  |
2 | image: {{ .Values.image.tag.name }}
  |           ^^^^^^^^^^^^^^^^^^^^^^
hint: image.tag is not set: set it, or let the template check for it
"
    );
    Ok(())
}

#[test]
fn files_are_written_as_helm_writes_them() -> Result<()> {
    let folder = chart()?;
    let words = |dir| ["template", "named", "c", "--kube-version", "1.36.0", "--include-crds", "--output-dir", dir];
    ensure!(fitout(&folder.0, &words("ours"))?.status.success());
    ensure!(helm(&folder.0, &words("theirs"))?.status.success());
    let mut compared = 0;
    for path in ["crds/crd.yaml", "templates/all.yaml", "templates/hook.yaml", "templates/sub/other.yaml"] {
        let read = |dir: &str| fs::read_to_string(folder.0.join(dir).join("shown").join(path));
        assert_eq!(read("ours")?, read("theirs")?, "{path}");
        compared += 1;
    }
    assert_eq!(compared, 4);
    Ok(())
}

#[test]
fn what_is_in_a_chart_is_shown_as_helm_shows_it() -> Result<()> {
    let folder = chart()?;
    for part in ["values", "chart", "readme", "crds"] {
        let words = ["show", part, "c"];
        assert_eq!(text(&fitout(&folder.0, &words)?.stdout), text(&helm(&folder.0, &words)?.stdout), "{part}");
    }
    let podinfo = Programs::get()?.chart("podinfo");
    let shown = text(&fitout(&podinfo, &["show", "images", "."])?.stdout);
    ensure!(shown.starts_with("IMAGE") && shown.contains("podinfo:"), "{shown}");
    Ok(())
}

#[test]
fn lint_finds_what_is_wrong() -> Result<()> {
    let folder = chart()?;
    folder.write("c/templates/all.yaml", "kind: ConfigMap\nmetadata: {name: Wrong_Name}\napiVersion: v1\n")?;
    folder.write(
        "c/templates/hook.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: h, annotations: {helm.sh/hook: pre-instal}}\n",
    )?;
    let found = fitout(&folder.0, &["lint", "c"])?;
    let said = text(&found.stdout);
    for part in ["Wrong_Name", "pre-instal", "icon is recommended", "has no apiVersion"] {
        ensure!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(found.status.code(), Some(1));
    let podinfo = Programs::get()?.chart("podinfo");
    let fine = fitout(&podinfo, &["lint", "."])?;
    ensure!(fine.status.success(), "{}{}", text(&fine.stdout), text(&fine.stderr));
    Ok(())
}
