//! The objects of a release on two clusters, field by field.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, anyhow};
use fitout_testkit::{Client, Cluster, differences, without_server_fields};
use serde_json::{Map, Value};

/// What is not compared, of which kind, and why. A `*` is each item or field.
const PASSED_OVER: [(&str, &str, &str); 13] = [
    ("Service", "/spec/clusterIP", "each cluster gives its own addresses"),
    ("Service", "/spec/clusterIPs", "each cluster gives its own addresses"),
    ("Service", "/spec/ports/*/nodePort", "each cluster gives a port by chance"),
    ("Service", "/spec/healthCheckNodePort", "each cluster gives a port by chance"),
    ("Deployment", "/metadata/annotations/deployment.kubernetes.io~1revision", "its controller counts"),
    ("DaemonSet", "/metadata/annotations/deprecated.daemonset.template.generation", "the server counts"),
    ("PersistentVolumeClaim", "/spec/volumeName", "its controller binds it"),
    ("Job", "/spec/selector/matchLabels/batch.kubernetes.io~1controller-uid", "the job's own identity"),
    ("Job", "/spec/template/metadata/labels/batch.kubernetes.io~1controller-uid", "the job's own identity"),
    ("Job", "/spec/template/metadata/labels/controller-uid", "the job's own identity"),
    ("Job", "/metadata/labels/controller-uid", "the job's own identity"),
    ("Job", "/metadata/labels/batch.kubernetes.io~1controller-uid", "the job's own identity"),
    ("Pod", "/spec", "a hook's pod is a plain one, and names its node and the token it was given"),
];

/// Which object: kind with group and version, namespace, name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub api_version: String,
    pub kind: String,
    pub namespace: String,
    pub name: String,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}/{}", self.kind, self.namespace, self.name)
    }
}

/// What is known of an object as a chart has it.
#[derive(Clone, Debug)]
pub struct Written {
    pub name: Place,
    /// The fields that are made by chance, as `differences` names them.
    pub by_chance: BTreeSet<String>,
    /// Says that it is to stay.
    pub keep: bool,
}

/// The objects of a manifest; those in no namespace are in the release's, where their kind has one.
pub fn read(manifest: &str) -> Result<Vec<Value>> {
    let documents = fitout_go_yaml::documents(manifest).map_err(|error| anyhow!("{error}"))?;
    let mut objects = Vec::new();
    for document in documents {
        match document.value["items"].as_array() {
            Some(items) if document.value["kind"].as_str().is_some_and(|kind| kind.ends_with("List")) => {
                objects.extend(items.iter().cloned());
            }
            _ => objects.push(document.value),
        }
    }
    objects.retain(|object| object["kind"].is_string());
    Ok(objects)
}

/// What two renderings have in common, and what chance makes of the rest.
pub fn written(one: &[Value], other: &[Value], namespace: &str) -> Vec<Written> {
    let others: BTreeMap<Place, &Value> = other.iter().map(|object| (name(object, namespace), object)).collect();
    let written = one.iter().map(|object| {
        let name = name(object, namespace);
        let differences = others.get(&name).map(|other| differences(object, other)).unwrap_or_default();
        let path = |line: &String| line.split_once(": ").map_or(line.as_str(), |(path, _)| path).to_owned();
        let by_chance = differences.iter().map(path);
        // What is written as text is stored in Base64.
        let by_chance = by_chance.map(|path| path.replace(".stringData", ".data")).collect();
        let keep = object["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep";
        Written { name, by_chance, keep }
    });
    let all: BTreeMap<Place, Written> = written.map(|written| (written.name.clone(), written)).collect();
    all.into_values().collect()
}

/// Where an object is.
pub fn name(object: &Value, namespace: &str) -> Place {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let metadata = &object["metadata"];
    let own = text(&metadata["namespace"]);
    Place {
        api_version: text(&object["apiVersion"]),
        kind: text(&object["kind"]),
        namespace: if own.is_empty() { namespace.to_owned() } else { own },
        name: text(&metadata["name"]),
    }
}

/// Where objects are on a cluster.
pub struct Places<'a> {
    client: &'a Client,
    kinds: BTreeMap<String, Vec<Value>>,
}

impl<'a> Places<'a> {
    pub fn of(cluster: &'a Cluster) -> Self {
        Self { client: cluster.client(), kinds: BTreeMap::new() }
    }

    /// The path of an object; none where its kind is not served.
    pub fn path(&mut self, of: &Place) -> Result<Option<String>> {
        let root = match of.api_version.split_once('/') {
            None => format!("/api/{}", of.api_version),
            Some(_) => format!("/apis/{}", of.api_version),
        };
        if !self.kinds.contains_key(&root) {
            // One that is not there yet may be there later.
            let Some(found) = self.client.find(&root)? else { return Ok(None) };
            let kinds = found["resources"].as_array().cloned().context("no list of resources")?;
            self.kinds.insert(root.clone(), kinds);
        }
        let kinds = &self.kinds[&root];
        let own = |kind: &&Value| kind["kind"] == of.kind && !kind["name"].as_str().unwrap_or_default().contains('/');
        let Some(kind) = kinds.iter().find(own) else { return Ok(None) };
        let (plural, name) = (kind["name"].as_str().unwrap_or_default(), &of.name);
        Ok(Some(if kind["namespaced"] == true {
            format!("{root}/namespaces/{}/{plural}/{name}", of.namespace)
        } else {
            format!("{root}/{plural}/{name}")
        }))
    }

    /// An object as it is; none where there is none.
    pub fn find(&mut self, of: &Place) -> Result<Option<Value>> {
        self.path(of)?.map_or(Ok(None), |path| self.client.find(&path))
    }
}

/// In what a release differs on two clusters, one line a field. Hooks may have gone on both.
pub fn compare(ours: &Cluster, theirs: &Cluster, release: &[Written], unlike: &[(&str, &str)]) -> Result<Vec<String>> {
    let (mut ours, mut theirs) = (Places::of(ours), Places::of(theirs));
    let mut lines = Vec::new();
    for written in release {
        let (one, other) = (ours.find(&written.name)?, theirs.find(&written.name)?);
        match (one, other) {
            (None, None) => {}
            (Some(_), None) => lines.push(format!("{} is only on our side", written.name)),
            (None, Some(_)) => lines.push(format!("{} is only on Helm's side", written.name)),
            (Some(one), Some(other)) => {
                let found = differences(&comparable(&one, unlike), &comparable(&other, unlike));
                let chance = |line: &&String| {
                    let path = line.split_once(": ").map_or(line.as_str(), |(path, _)| path);
                    written.by_chance.iter().any(|by_chance| path.starts_with(by_chance.as_str()))
                };
                lines.extend(found.iter().filter(|line| !chance(line)).map(|line| {
                    let line: String = line.chars().take(300).collect();
                    format!("{}{line}", written.name)
                }));
            }
        }
    }
    Ok(lines)
}

/// An object without what a cluster makes of it.
fn comparable(object: &Value, unlike: &[(&str, &str)]) -> Value {
    let mut object = without_server_fields(object);
    let kind = object["kind"].as_str().unwrap_or_default().to_owned();
    let always = PASSED_OVER.iter().map(|(of, pointer, _)| (*of, *pointer));
    for (_, pointer) in always.chain(unlike.iter().copied()).filter(|(of, _)| *of == kind) {
        let path: Vec<String> = pointer.split('/').skip(1).map(|segment| segment.replace("~1", "/")).collect();
        take(&mut object, &path);
    }
    // One that is empty is none.
    if let Some(metadata) = object["metadata"].as_object_mut() {
        for field in ["annotations", "labels"] {
            if metadata.get(field).and_then(Value::as_object).is_some_and(Map::is_empty) {
                metadata.remove(field);
            }
        }
    }
    object
}

fn take(value: &mut Value, path: &[String]) {
    match (path, value) {
        ([segment, rest @ ..], Value::Array(items)) if segment == "*" => {
            for item in items.iter_mut() {
                take(item, rest);
            }
        }
        ([last], Value::Object(fields)) => drop(fields.remove(last)),
        ([name, rest @ ..], Value::Object(fields)) => {
            if let Some(inner) = fields.get_mut(name) {
                take(inner, rest);
            }
        }
        _ => {}
    }
}
