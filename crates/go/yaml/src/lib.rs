//! YAML as Kubernetes' Go library `sigs.k8s.io/yaml` reads and writes it, and as version 3 of the library below it writes
//! it.
//!
//! That library speaks YAML 1.1 with habits of its own: `yes` is a boolean, `089` is a float, keys are sorted by the
//! numbers in them, lines are folded at column 80. What a manifest or a chart's values mean, and what a rendered object
//! looks like, depends on these habits, so they are kept here, down to the wording of errors. The rows under
//! `tests/cases` are Go's own answers, and `tests/live_oracle.rs` asks Go again.
//!
//! Known differences:
//!
//! - Nesting is bounded by [`MAX_DEPTH`], where Go allows 10,000 levels; [`read_with`] allows as many.
//! - [`to_yaml`] writes what Go refuses to write: control characters, and keys longer than 1024 characters.
//! - Where Go leaves it to chance, we do not: which of the keys `1` and `'1'` wins, and the order of keys such as `v2`,
//!   `v10` and `v1beta1`, each of which is before the next, and the last before the first.
//! - Keys in scripts that have vowels as marks may be sorted differently.
//! - After two byte order marks at the beginning, Go forgets the first character of lines.

mod binary;
mod build;
mod cursor;
mod decode;
mod directives;
mod document;
mod documents;
mod error;
mod float;
mod gosyntax;
mod input;
mod json;
mod keys;
mod lines;
mod parser;
mod plain;
mod quoted;
mod resolve;
mod scanner;
mod stack;
mod style;
mod timestamp;
mod tokens;
mod tree;
mod writer;

use serde_json::Value;

pub use build::Build;
pub use document::to_yaml;
pub use documents::{Document, documents};
pub use error::Error;
pub use float::{is_halfway, is_halfway_single, shortest, shortest_single};
pub use keys::{are_sorted, sort_keys};
pub use lines::line;
pub use parser::MAX_DEPTH;
pub use writer::{Dialect, Writer};

use decode::Duplicates;
use input::Input;

/// The first document of a text, as `yaml.YAMLToJSON` gives it: of two equal keys, the later wins.
///
/// A number is whole in the answer when Go writes it without a fraction: `1.0` and `1e3` are whole, `1.5` is not.
pub fn from_yaml(text: &str) -> Result<Value, Error> {
    read(text, Duplicates::LastWins).map(|read| read.value)
}

/// The first document of a text, as `yaml.YAMLToJSONStrict` gives it: equal keys are refused.
pub fn from_yaml_strict(text: &str) -> Result<Value, Error> {
    read(text, Duplicates::Refused).map(|read| read.value)
}

/// The first document of a text, made into other values than JSON's own. It may nest as deeply as Go allows.
pub fn read_with<B: Build>(text: &[u8], build: &B) -> Result<B::Value, Error> {
    let input = Input::of(text);
    let tree = parser::parse(&input, GO_DEPTH)?;
    json::to_json(decode::decode(&tree, Duplicates::LastWins, GO_DEPTH)?, build)
}

/// The first document of a text, but of a mapping only what is under keys that are wanted: the rest is checked and
/// forgotten. It may nest as deeply as Go allows.
pub fn top(text: &[u8], wanted: impl Fn(&str) -> bool) -> Result<Value, Error> {
    let input = Input::of(text);
    let tree = parser::parse(&input, GO_DEPTH)?;
    json::top(decode::decode(&tree, Duplicates::LastWins, GO_DEPTH)?, wanted)
}

/// How deep Go lets a text nest.
const GO_DEPTH: usize = 10_000;

/// A document's value, and the line on which it begins, from 1.
struct Read {
    value: Value,
    line: usize,
}

fn read(text: &str, duplicates: Duplicates) -> Result<Read, Error> {
    let input = Input::of(text.as_bytes());
    let tree = parser::parse(&input, MAX_DEPTH)?;
    let line = tree.root.map_or(1, |root| tree.node(root).line + 1);
    let value = json::to_json(decode::decode(&tree, duplicates, MAX_DEPTH)?, &build::Json)?;
    Ok(Read { value, line })
}
