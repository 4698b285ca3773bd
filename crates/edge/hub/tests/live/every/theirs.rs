//! The side of Helm.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};
use fitout_testkit::Cluster;
use serde_json::{Value, json};

use super::objects::{name, read};

/// What a Secret may hold; Helm makes one for each revision of a release.
const TOO_LARGE: &str = "may not be more than 1048576 bytes";

/// A release of a chart as Helm makes it. Where its record is too large for a Secret, Helm refuses to install it: then what
/// Helm renders is applied for it, marked as Helm marks it.
pub struct Theirs<'a> {
    pub cluster: &'a Cluster,
    pub name: &'a str,
    pub chart: &'a Path,
    pub namespace: &'a str,
    /// The values of what was applied without a record.
    unrecorded: Mutex<Option<Value>>,
}

impl<'a> Theirs<'a> {
    pub fn new(cluster: &'a Cluster, name: &'a str, chart: &'a Path, namespace: &'a str) -> Self {
        Self { cluster, name, chart, namespace, unrecorded: Mutex::default() }
    }

    /// An install, upgrade or rollback, as the words say.
    pub fn change(&self, words: &[&str], values: &Value) -> Result<()> {
        if self.unrecorded().is_some() {
            let first = words.first() == Some(&"rollback");
            return self.apply_unrecorded(if first { &Value::Null } else { values });
        }
        let (file, chart, home) = (self.file(values)?, self.chart.to_string_lossy(), self.in_namespace());
        let (verb, flags) = words.split_first().context("a verb")?;
        let what = if *verb == "rollback" { vec!["1"] } else { vec![&*chart, &file] };
        let words = [&[*verb, self.name][..], &what, flags, &[&home, "--timeout=150s"]].concat();
        match self.cluster.helm().run(&words) {
            Err(error) if *verb == "install" && format!("{error:#}").contains(TOO_LARGE) => {
                println!("  {}: too large for Helm to record", self.name);
                self.apply_unrecorded(values)
            }
            other => other.map(drop),
        }
    }

    /// Manifest, hooks and definitions of what is installed.
    pub fn release(&self) -> Result<String> {
        let helm = self.cluster.helm();
        let mut parts = if let Some(values) = self.unrecorded() {
            vec![self.rendered(&values)?]
        } else {
            let get = |part| helm.run(&["get", part, self.name, &self.in_namespace()]);
            vec![get("manifest")?, get("hooks")?]
        };
        parts.push(helm.run(&["show", "crds", &self.chart.to_string_lossy()])?);
        Ok(parts.join("\n---\n"))
    }

    /// What is installed, rendered once more.
    pub fn again(&self) -> Result<String> {
        let values = match self.unrecorded() {
            Some(values) => values,
            None => self.cluster.helm().json(&["get", "values", self.name, &self.in_namespace(), "--output=json"])?,
        };
        self.rendered(&values)
    }

    pub fn uninstall(&self) -> Result<()> {
        if let Some(values) = self.unrecorded() {
            return self.delete(&read(&self.rendered(&values)?)?);
        }
        let words = ["uninstall", self.name, &self.in_namespace(), "--timeout=150s"];
        self.cluster.helm().run(&words).map(drop)
    }

    fn apply_unrecorded(&self, values: &Value) -> Result<()> {
        let before = match self.unrecorded() {
            Some(before) => read(&self.rendered(&before)?)?,
            None => vec![],
        };
        let after = read(&self.rendered(values)?)?;
        if !after.is_empty() {
            let marked = after.iter().map(|object| self.marked(object)).collect::<Vec<_>>();
            let list = json!({ "apiVersion": "v1", "kind": "List", "items": marked });
            let words = ["apply", "--server-side", "--field-manager=helm", "--filename=-", &self.in_namespace()];
            self.cluster.kubectl().run_with_input(&words, &list.to_string())?;
        }
        let stays: BTreeSet<_> = after.iter().map(|object| name(object, self.namespace)).collect();
        let gone = |object: &Value| !stays.contains(&name(object, self.namespace));
        self.delete(&before.into_iter().filter(gone).collect::<Vec<_>>())?;
        *self.unrecorded.lock().unwrap_or_else(PoisonError::into_inner) = Some(values.clone());
        Ok(())
    }

    /// An object with what Helm adds to each.
    fn marked(&self, object: &Value) -> Value {
        let mut object = object.clone();
        let metadata = &mut object["metadata"];
        metadata["labels"]["app.kubernetes.io/managed-by"] = "Helm".into();
        metadata["annotations"]["meta.helm.sh/release-name"] = self.name.into();
        metadata["annotations"]["meta.helm.sh/release-namespace"] = self.namespace.into();
        object
    }

    fn delete(&self, objects: &[Value]) -> Result<()> {
        if objects.is_empty() {
            return Ok(());
        }
        let list = json!({ "apiVersion": "v1", "kind": "List", "items": objects });
        let words = ["delete", "--ignore-not-found", "--filename=-", &self.in_namespace()];
        self.cluster.kubectl().run_with_input(&words, &list.to_string()).map(drop)
    }

    fn rendered(&self, values: &Value) -> Result<String> {
        let (chart, file) = (self.chart.to_string_lossy(), self.file(values)?);
        let words = ["template", self.name, &*chart, &self.in_namespace(), &file, "--kube-version=1.36.3"];
        self.cluster.helm().run(&words)
    }

    fn unrecorded(&self) -> Option<Value> {
        self.unrecorded.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn in_namespace(&self) -> String {
        format!("--namespace={}", self.namespace)
    }

    /// The flag that names a file with these values.
    fn file(&self, values: &Value) -> Result<String> {
        let path = self.cluster.sandbox().dir().join("values.json");
        fs::write(&path, if values.is_null() { "{}".to_owned() } else { values.to_string() })?;
        Ok(format!("--values={}", path.display()))
    }
}
