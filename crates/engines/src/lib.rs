//! Each packaging as a pure function from a definition to objects.
//!
//! An engine never talks to a cluster: what it needs to know it is given, and what it wants to happen it answers with.
//! Everything around it (check, apply, prune, health, records, rollback) is one path for all of them.

mod manifests;
mod parameters;
mod substitute;

use std::collections::BTreeMap;

use fitout_model::{Definition, Engine, Problem};
use serde_json::Value;

/// What an engine works from.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The definition.
    pub definition: &'a Definition,
    /// The files that came with it, by their path beside it.
    pub files: &'a BTreeMap<String, Vec<u8>>,
    /// The values of all layers above the definition's own.
    pub values: &'a Value,
}

/// What an engine answers.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// The objects that make up the extension, as they were written.
    Objects(Vec<Value>),
}

/// Takes a definition one step towards objects.
pub fn step(input: &Input) -> Result<Step, Problem> {
    let engine = input.definition.engine();
    let engine =
        engine.ok_or_else(|| manifests::problem("spec", "no engine is named", "name one, such as `manifests`"))?;
    let (field, what) = match engine {
        Engine::Manifests(manifests) => return manifests::objects(input, manifests).map(Step::Objects),
        Engine::Helm(_) => ("spec.helm", "helm charts"),
        Engine::Olm(_) => ("spec.olm", "packages of the Operator Lifecycle Manager"),
        Engine::Runtime(_) => ("spec.runtime", "extensions with a runtime"),
    };
    let message = format!("{what} cannot be installed yet by this version of fitout");
    Err(manifests::problem(field, &message, "offer it as plain manifests"))
}
