//! `import-values`: what a chart takes over from the values of its dependencies.

use std::rc::Rc;

use fitout_go_template::{Map, Value, sprint};

use crate::Warnings;
use crate::chart::Chart;
use crate::error::Error;
use crate::metadata::Import;
use crate::values::{self, deep_copy, endless, is_bounded, merge_tables, merge_values, table, with_stack};

/// More tables than any chart has: what contains itself has no end, and what is imported twice doubles.
const MOST_TABLES: usize = 1 << 20;

/// Gives every chart with declared dependencies the values of all below it, and what it imports: first those below.
pub(crate) fn process(chart: &mut Chart, warnings: &mut Warnings) -> Result<(), Error> {
    for dependency in &mut chart.dependencies {
        with_stack(|| process(dependency, warnings))?;
    }
    let Some(mut declared) = chart.metadata.dependencies.take() else { return Ok(()) };
    let all = merge_values(chart, &values::empty(), warnings)?;
    let imported = values::empty();
    for dependency in &mut declared {
        let imports = std::mem::take(&mut dependency.import_values);
        for (child, parent) in imports.iter().filter_map(paths) {
            match table(&all, &format!("{}.{child}", dependency.name)) {
                Ok(found) => merge_tables(&imported, &at_path(&parent, found), warnings)?,
                Err(part) => warnings.push(format!(
                    "ImportValues missing table from chart chart={} error={} is not a table",
                    dependency.name,
                    fitout_go_template::quote(part.as_bytes())
                )),
            }
            dependency.import_values.push(Import::Processed { child, parent });
        }
    }
    chart.values = if imported.is_empty() { all } else { with_imported(&all, &imported, warnings)? };
    chart.metadata.dependencies = Some(declared);
    Ok(())
}

/// All values with those that are imported. These are part of the others; what comes out must not be.
fn with_imported(all: &Map, imported: &Map, warnings: &mut Warnings) -> Result<Rc<Map>, Error> {
    if !is_bounded(all, MOST_TABLES) {
        return Err(endless());
    }
    let all = deep_copy(all);
    merge_tables(&all, imported, warnings)?;
    if is_bounded(&all, MOST_TABLES) { Ok(all) } else { Err(endless()) }
}

/// From which path of the dependency to which of the chart above.
fn paths(import: &Import) -> Option<(String, String)> {
    match import {
        Import::Written(Value::String(name)) => Some((format!("exports.{}", name.to_str()), ".".to_owned())),
        Import::Written(Value::Map(map)) => {
            let printed = |key: &str| {
                let value = map.get(key.as_bytes()).unwrap_or_default();
                sprint(&[value]).map_or_else(|error| error.to_string(), |text| text.to_str().into_owned())
            };
            Some((printed("child"), printed("parent")))
        }
        Import::Written(_) | Import::Processed { .. } => None,
    }
}

/// A table as it is, or inside of others along a path.
fn at_path(path: &str, table: Rc<Map>) -> Rc<Map> {
    let table = if table.is_empty() { values::empty() } else { table };
    if path == "." {
        return table;
    }
    path.rsplit('.')
        .fold(table, |inner, key| Rc::new(Map::of(fitout_go_template::Type::MAP, [(key.into(), Value::Map(inner))])))
}
