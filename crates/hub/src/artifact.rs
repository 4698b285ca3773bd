//! From an instance to the artifact that is to be on its cluster.

use std::collections::BTreeMap;

use fitout_api::{ExtensionInstance, Policy, Scope};
use fitout_catalog::Packages;
use fitout_change::{Artifact, Planned};
use fitout_engines::{Input, Step, step};
use fitout_model::{Digest, ObjectId, Problem};
use fitout_plan::{Owner, phase, transform};
use fitout_resolve::{Candidate, Question, choose};
use fitout_target::Facts;
use kube::ResourceExt;
use serde_json::{Value, json};

use crate::SYSTEM;

/// What is to be installed, and where it came from.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    pub(crate) artifact: Artifact,
    /// What is applied, by object.
    pub(crate) objects: BTreeMap<ObjectId, Value>,
    /// All of it, as it is kept: its digest is the artifact's.
    pub(crate) content: String,
    pub(crate) version: String,
    pub(crate) app_version: String,
    pub(crate) definition: Digest,
    pub(crate) values: Value,
    pub(crate) why: String,
    /// May be installed before the cluster has a Ready node.
    pub(crate) bootstrap: bool,
}

/// Why there is nothing to install.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unprepared {
    /// No version was found.
    Unresolved(String),
    /// The version that was found cannot be rendered.
    Wrong(String),
}

/// The namespace of the catalog that an instance names.
pub(crate) fn catalog_namespace(instance: &ExtensionInstance) -> String {
    match instance.spec.extension.scope {
        Scope::Shared => SYSTEM.to_owned(),
        Scope::Organization => instance.namespace().unwrap_or_default(),
    }
}

/// Resolves and renders: pure but for its inputs.
pub(crate) fn prepare(
    instance: &ExtensionInstance,
    values: Value,
    packages: &Packages,
    facts: &Facts,
    installed: Option<&str>,
) -> Result<Prepared, Unprepared> {
    let spec = &instance.spec;
    let of_extension: Vec<_> =
        packages.packages.iter().filter(|package| package.definition.extension == spec.extension.name).collect();
    let versions: Vec<String> = of_extension.iter().map(|package| package.definition.version.to_string()).collect();
    let candidates: Vec<Candidate> = of_extension
        .iter()
        .zip(&versions)
        .map(|(package, version)| Candidate {
            version,
            kubernetes: package.definition.kubernetes.as_deref(),
            replaces: package.definition.upgrade_from.as_deref(),
        })
        .collect();
    let question = Question {
        extension: &spec.extension.name,
        versions: &candidates,
        wanted: spec.version.as_deref(),
        kubernetes: &facts.version,
        installed,
        latest: spec.upgrade.policy == Policy::Latest,
    };
    let choice = choose(&question).map_err(Unprepared::Unresolved)?;
    let package = of_extension[choice.index];
    let wrong = |problem: Problem| Unprepared::Wrong(problem.to_string());
    let input = Input { definition: &package.definition, files: &package.files, values: &values };
    let Step::Objects(objects) = step(&input).map_err(wrong)?;
    let owner = Owner { name: spec.release_name(), namespace: &spec.namespace };
    let objects = transform(objects, owner, &facts.apis).map_err(wrong)?;
    let content = Value::Array(objects).to_string();
    let mut prepared = from_content(content, None);
    prepared.version = package.definition.version.to_string();
    prepared.app_version = package.definition.app_version.clone().unwrap_or_default();
    prepared.definition = package.digest.clone();
    prepared.values = values;
    prepared.why = choice.why;
    prepared.bootstrap = package.definition.bootstrap;
    Ok(prepared)
}

/// An artifact from what was kept of it.
pub(crate) fn from_content(content: String, rolls_back_to: Option<u32>) -> Prepared {
    let objects: Vec<Value> = serde_json::from_str(&content).unwrap_or_default();
    let objects: BTreeMap<ObjectId, Value> =
        objects.into_iter().filter_map(|object| Some((ObjectId::of(&object)?, object))).collect();
    let planned = |(id, object): (&ObjectId, &Value)| Planned {
        id: id.clone(),
        phase: phase(&id.gvk),
        digest: Digest::of_value(object),
    };
    let digest = Digest::of(&content);
    Prepared {
        artifact: Artifact { digest, rolls_back_to, objects: objects.iter().map(planned).collect() },
        objects,
        content,
        version: String::new(),
        app_version: String::new(),
        definition: Digest::of(""),
        values: json!({}),
        why: String::new(),
        bootstrap: true,
    }
}
