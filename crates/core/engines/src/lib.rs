//! One pure function for each packaging format, from a definition to objects.
//!
//! An engine never talks to a cluster: it receives all it needs as [`Input`], and returns the lookups it still needs.
//! Everything else (check, apply, prune, health, records, rollback) is the same for all engines.

mod chart_cache;
mod helm;
mod manifests;
mod origins;
mod parameters;
mod record;
mod substitute;

use std::collections::BTreeMap;
use std::rc::Rc;

pub use fitout_helm_chart::render::Lookup;
pub use fitout_helm_functions::Environment;
use fitout_helm_release::Hook;
use fitout_model::{Apis, Definition, Digest, Engine, Problem, overlay};
use serde_json::Value;

pub use origins::{Layer, Origin, origins};
pub use record::{chart as recorded_chart, made as rendered_from_record};

/// The files of a definition.
#[derive(Clone, Copy, Debug)]
pub struct Files<'a> {
    /// The files beside the definition, by path.
    pub beside: &'a BTreeMap<String, Vec<u8>>,
    /// The chart archive, where the chart comes from a repository.
    pub archive: Option<&'a [u8]>,
    /// The digest of the files, which is the key of the chart cache; without it the chart is not cached.
    pub digest: Option<&'a Digest>,
}

/// The input of an engine.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    /// The definition.
    pub definition: &'a Definition,
    /// Its files.
    pub files: Files<'a>,
    /// The merged values of all layers above the definition's own. A null deletes the value below it.
    pub values: &'a Value,
    /// The release to render.
    pub release: Release<'a>,
    /// The cluster's Kubernetes version, as the cluster reports it.
    pub kubernetes: &'a str,
    /// The kinds that the cluster serves.
    pub apis: &'a Apis,
    /// The results of earlier lookups: an object or a list; null where the object does not exist.
    pub answers: &'a BTreeMap<Lookup, Value>,
    /// Random bytes, the clock and keys.
    pub world: &'a Rc<dyn Environment>,
}

/// The Helm release of an extension on its cluster.
#[derive(Clone, Copy, Debug)]
pub struct Release<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its namespace.
    pub namespace: &'a str,
    /// The number of the revision, from 1.
    pub revision: u32,
}

/// The result of a rendering.
#[derive(Clone, Debug, PartialEq)]
pub enum RenderOutcome {
    /// These lookups are needed first.
    NeedLookups(Vec<Lookup>),
    /// The extension was rendered.
    Rendered(Rendered),
}

/// A rendered extension, before namespaces and owners are added.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rendered {
    /// The objects.
    pub objects: Vec<Value>,
    /// The CRDs in `crds/`, which are applied first and belong to no release.
    pub crds: Vec<Value>,
    /// The Helm hooks, each with its object.
    pub hooks: Vec<(Hook, Value)>,
    /// The rendered `NOTES.txt`.
    pub notes: String,
    /// The manifest as Helm records it; none where it is generated from the objects.
    pub manifest: Option<String>,
}

/// The values of all layers, merged over the definition's own.
pub fn given(definition: &Definition, values: &Value) -> Value {
    let own = definition.helm.as_ref().and_then(|helm| helm.values.clone());
    let mut given = Value::Object(own.unwrap_or_default());
    overlay(&mut given, values);
    given
}

/// Renders a definition, or returns the lookups that it needs first.
pub fn render(input: &Input) -> Result<RenderOutcome, Problem> {
    let engine = input.definition.engine();
    let engine = engine
        .ok_or_else(|| manifests::problem("spec", "the definition names no engine", "name one, such as `manifests`"))?;
    let (field, packaging) = match engine {
        Engine::Manifests(manifests) => {
            let objects = manifests::objects(input, manifests)?;
            return Ok(RenderOutcome::Rendered(Rendered { objects, ..Rendered::default() }));
        }
        Engine::Helm(helm) => return helm::render(input, helm),
        Engine::Olm(_) => ("spec.olm", "packages of the Operator Lifecycle Manager"),
        Engine::Runtime(_) => ("spec.runtime", "extensions with a runtime"),
    };
    let message = format!("{packaging} are not supported by this version of fitout");
    Err(manifests::problem(field, &message, "package it as plain manifests"))
}
