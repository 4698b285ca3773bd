//! Each packaging as a pure function from a definition to objects.
//!
//! An engine never talks to a cluster: what it needs to know it is given, and what it wants to happen it answers with.
//! Everything around it (check, apply, prune, health, records, rollback) is one path for all of them.

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
pub use record::{chart as recorded_chart, made as recorded_made};

/// What came with a definition.
#[derive(Clone, Copy, Debug)]
pub struct Files<'a> {
    /// The files beside it, by their path.
    pub beside: &'a BTreeMap<String, Vec<u8>>,
    /// The packaged chart, where the definition's comes from a repository.
    pub archive: Option<&'a [u8]>,
    /// Tells what the chart is read from from all else, where it is to be read once; none is always read.
    pub digest: Option<&'a Digest>,
}

/// What an engine works from.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    /// The definition.
    pub definition: &'a Definition,
    /// What came with it.
    pub files: Files<'a>,
    /// The values of all layers above the definition's own. A null deletes what is below it.
    pub values: &'a Value,
    /// The release that it becomes.
    pub release: Release<'a>,
    /// The cluster's Kubernetes version, as the cluster says it.
    pub kubernetes: &'a str,
    /// The kinds that the cluster serves.
    pub apis: &'a Apis,
    /// What is known of what was asked for: an object, or a list of them; null where there is none.
    pub answers: &'a BTreeMap<Lookup, Value>,
    /// Randomness, the clock, keys.
    pub world: &'a Rc<dyn Environment>,
}

/// The release that an extension becomes on its cluster.
#[derive(Clone, Copy, Debug)]
pub struct Release<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its namespace.
    pub namespace: &'a str,
    /// The number of the revision that is made, from 1.
    pub revision: u32,
}

/// What an engine answers.
#[derive(Clone, Debug, PartialEq)]
pub enum RenderOutcome {
    /// It has to know these first.
    NeedLookups(Vec<Lookup>),
    /// What makes up the extension.
    Rendered(Rendered),
}

/// What makes up an extension, as it was written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rendered {
    /// What is applied.
    pub objects: Vec<Value>,
    /// Definitions of custom resources that come before all else and belong to no release.
    pub crds: Vec<Value>,
    /// What runs at certain moments, with its object.
    pub hooks: Vec<(Hook, Value)>,
    /// What there is to say to whoever installs it.
    pub notes: String,
    /// The objects as a text, as Helm would record it; none where it is made of the objects.
    pub manifest: Option<String>,
}

/// The values of all layers together, the definition's own below them.
pub fn given(definition: &Definition, values: &Value) -> Value {
    let own = definition.helm.as_ref().and_then(|helm| helm.values.clone());
    let mut given = Value::Object(own.unwrap_or_default());
    overlay(&mut given, values);
    given
}

/// Takes a definition one step towards objects.
pub fn render(input: &Input) -> Result<RenderOutcome, Problem> {
    let engine = input.definition.engine();
    let engine =
        engine.ok_or_else(|| manifests::problem("spec", "no engine is named", "name one, such as `manifests`"))?;
    let (field, what) = match engine {
        Engine::Manifests(manifests) => {
            let objects = manifests::objects(input, manifests)?;
            return Ok(RenderOutcome::Rendered(Rendered { objects, ..Rendered::default() }));
        }
        Engine::Helm(helm) => return helm::render(input, helm),
        Engine::Olm(_) => ("spec.olm", "packages of the Operator Lifecycle Manager"),
        Engine::Runtime(_) => ("spec.runtime", "extensions with a runtime"),
    };
    let message = format!("{what} cannot be installed yet by this version of fitout");
    Err(manifests::problem(field, &message, "offer it as plain manifests"))
}
