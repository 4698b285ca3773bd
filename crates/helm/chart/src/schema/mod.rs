//! JSON Schema, as far as Helm's library goes: drafts 4, 6, 7, 2019-09 and 2020-12, refused in its words.
//!
//! What a schema refers to outside of itself is not fetched.

mod check;
mod compile;
mod draft;
mod equal;
mod format;
mod kinds;
mod location;
mod meta;
mod node;
mod number;
mod problem;
mod resources;
mod words;

use std::fmt::Write;

use fitout_go_template::{Map, Value};

use crate::Warnings;
use crate::chart::Chart;
use crate::error::Error;
use crate::values::{as_table, with_stack};

/// Where a chart's schema is, as far as references are concerned.
const URL: &str = "file:///values.schema.json";

/// Checks the values of a chart and of all its dependencies against the schemas that they have.
pub(crate) fn validate(chart: &Chart, values: &Map, warnings: &mut Warnings) -> Result<(), Error> {
    let mut problems = String::new();
    collect(chart, values, &mut problems, warnings);
    if problems.is_empty() {
        return Ok(());
    }
    let what = "values don't meet the specifications of the schema(s) in the following chart(s):";
    Err(Error::new(format!("{what}\n{problems}")))
}

fn collect(chart: &Chart, values: &Map, problems: &mut String, warnings: &mut Warnings) {
    let name = chart.name();
    if let Some(schema) = &chart.schema
        && let Err(problem) = validate_against(values, schema, warnings)
    {
        // A string takes whatever is written to it.
        let _ = write!(problems, "{name}:\n{problem}");
    }
    for dependency in &chart.dependencies {
        let name = dependency.name();
        match values.get(name.as_bytes()) {
            None | Some(Value::Nil) => {}
            Some(inner) => {
                if let Some(inner) = as_table(&inner) {
                    with_stack(|| collect(dependency, inner, problems, warnings));
                } else {
                    let found = inner.type_name();
                    let problem = format!("invalid type for values: expected object (map), got {found}");
                    let _ = writeln!(problems, "{name}:\n{problem}");
                }
            }
        }
    }
}

/// Checks values against one schema.
pub fn validate_against(values: &Map, schema: &[u8], warnings: &mut Warnings) -> Result<(), Error> {
    let document = parsed(schema)?;
    let mut compiler = compile::Compiler::new(format::Asserted::ByDraft);
    compiler.add(URL, document);
    let root = compiler.compile(URL, warnings).map_err(Error::new)?;
    let instance = Value::Map(std::rc::Rc::new(Map::of(values.kind(), values.entries())));
    check::validate(compiler.nodes(), root, &instance)
        .map_err(|problem| Error::new(format!("{}\n", problem.causes_text())))
}

/// The document, or what Go says of it.
fn parsed(schema: &[u8]) -> Result<serde_json::Value, Error> {
    let refused = match serde_json::from_slice(schema) {
        Ok(document) => return Ok(document),
        Err(error) => error,
    };
    if schema.iter().all(u8::is_ascii_whitespace) {
        return Err(Error::new("EOF"));
    }
    let (_, length) = fitout_helm_functions::json_prefix(schema).map_err(|error| Error::new(error.to_string()))?;
    let more = !schema[length..].iter().all(u8::is_ascii_whitespace);
    Err(Error::new(if more { "invalid character after top-level value".to_owned() } else { refused.to_string() }))
}
