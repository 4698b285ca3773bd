//! In a world without chance, Helm without chance prints the same.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::fs;
use std::path::Path;
use std::process::Command;
use std::rc::Rc;

use anyhow::{Context, Result, ensure};
use fitout_go_template::{MissingKey, Set, Value};
use fitout_helm_functions::{Environment, Replay};
use fitout_testkit::Programs;

const TEMPLATE: &str = r#"all: |
  a: {{ randAlphaNum 20 }}
  b: {{ randAlpha 3 }}{{ randNumeric 4 }}
  c: {{ randAscii 9 | quote }}
  d: {{ randBytes 10 }}
  e: {{ uuidv4 }}
  f: {{ now }} {{ now | date "2006-01-02T15:04:05Z07:00" }} {{ now.Unix }}
  g: {{ genPrivateKey "rsa" | quote }}{{ genPrivateKey "" | quote }}
{{- $ca := genCA "ca" 365 }}
  h: {{ $ca.Cert | quote }} {{ $ca.Key | quote }}
  i: {{ (genSignedCert "name" (list "10.0.0.1" "::1") (list "a" "b") 10 $ca).Cert | quote }}
  j: {{ (genSelfSignedCert "name" nil (list "x") 10).Key | quote }}
  k: {{ (genCAWithKey "ca" 5 "key").Cert | quote }}
  l: {{ (genSignedCertWithKey "n" nil nil 5 $ca "key").Cert | quote }}
  m: {{ (genSelfSignedCertWithKey "n" nil nil 5 "key").Cert | quote }}
  n: {{ bcrypt "secret" }} {{ htpasswd "user" "secret" }}
  o: {{ encryptAES "key" "text" }}
  p: {{ randAlphaNum 5 }}
"#;

#[test]
fn helm_without_chance_prints_the_same() -> Result<()> {
    let chart = Path::new(env!("CARGO_TARGET_TMPDIR")).join("replay");
    fs::create_dir_all(chart.join("templates"))?;
    fs::write(chart.join("Chart.yaml"), "apiVersion: v2\nname: c\nversion: 1.0.0\n")?;
    fs::write(chart.join("templates/t.yaml"), TEMPLATE)?;
    let helm = Programs::get()?.oracle("oracle-helm")?;
    let output = Command::new(helm).args(["template", "r"]).arg(&chart).env("TZ", "UTC").output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout)?;
    let theirs = printed.strip_prefix("---\n# Source: c/templates/t.yaml\n").context("there is one document")?;

    let world: Rc<dyn Environment> = Rc::new(Replay::default());
    let functions = fitout_helm_functions::functions(&world);
    let set = Set::new("root", Rc::new(functions), MissingKey::Zero);
    set.parse("t", TEMPLATE)?;
    assert_eq!(String::from_utf8(set.execute(b"t", &Value::Nil)?.to_vec())?, theirs);
    Ok(())
}
