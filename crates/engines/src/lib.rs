//! Each packaging as a pure function from a definition to objects.
//!
//! An engine never talks to a cluster: what it needs to know it is given, and what it wants to happen it answers with.
//! Everything around it (check, apply, prune, health, records, rollback) is one path for all of them.

mod manifests;
mod parameters;
mod substitute;

use std::collections::BTreeMap;

use fitout_model::{Definition, Problem};
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
    match &input.definition.manifests {
        Some(manifests) => manifests::objects(input, manifests).map(Step::Objects),
        None => Err(Problem { field: "spec".to_owned(), message: "no engine is named".to_owned(), hint: None }),
    }
}
