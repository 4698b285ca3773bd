//! Coalescing: what a user wants, over what charts have by default.
//!
//! What Helm keeps apart is kept apart here, and what it shares (tables two levels down in globals) is shared: templates
//! change values, and it can be seen.

use std::rc::Rc;

use fitout_go_template::{Map, Type, Value, sprintf};

use super::{as_table, deep_copy, with_stack};
use crate::Warnings;
use crate::chart::Chart;
use crate::error::Error;

const GLOBAL: &str = "global";

/// What becomes of a null.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Nulls {
    /// It removes what it stands for.
    Remove,
    /// It is kept for later.
    Keep,
}

/// A user's values over those of a chart and all its dependencies: a null removes a default.
pub fn coalesce_values(chart: &Chart, values: &Map, warnings: &mut Warnings) -> Result<Rc<Map>, Error> {
    let values = deep_copy(values);
    Coalescing::new(Nulls::Remove, warnings).chart(chart, &values, "")?;
    Ok(values)
}

/// The same, but a null is kept, to remove a default later.
pub fn merge_values(chart: &Chart, values: &Map, warnings: &mut Warnings) -> Result<Rc<Map>, Error> {
    let values = deep_copy(values);
    Coalescing::new(Nulls::Keep, warnings).chart(chart, &values, "")?;
    Ok(values)
}

/// Puts what a second table has and the first has not into the first. Nulls are kept.
pub(crate) fn merge_tables(into: &Map, from: &Map, warnings: &mut Warnings) -> Result<(), Error> {
    let mut coalescing = Coalescing::new(Nulls::Keep, warnings);
    coalescing.tables(into, from, "", Nulls::Keep);
    if coalescing.endless { Err(endless()) } else { Ok(()) }
}

/// Values that contain themselves, which only imports can make, end Helm.
pub(crate) fn endless() -> Error {
    Error::new("values contain themselves: a chart imports values into what they come from")
}

/// Deeper than any text can nest.
const DEEPEST: usize = 20_000;

struct Coalescing<'a> {
    nulls: Nulls,
    warnings: &'a mut Warnings,
    depth: usize,
    endless: bool,
}

impl<'a> Coalescing<'a> {
    fn new(nulls: Nulls, warnings: &'a mut Warnings) -> Self {
        Self { nulls, warnings, depth: 0, endless: false }
    }

    fn chart(&mut self, chart: &Chart, values: &Map, prefix: &str) -> Result<(), Error> {
        let prefix = joined(prefix, chart.name());
        self.defaults(chart, values, &prefix);
        for dependency in &chart.dependencies {
            let name = dependency.name();
            let inner = match values.get(name.as_bytes()) {
                None => {
                    let inner = super::empty();
                    values.insert(name.into(), Value::Map(Rc::clone(&inner)));
                    inner
                }
                Some(value) => match as_table(&value) {
                    Some(inner) => Rc::clone(inner),
                    None => return Err(mismatch(name, value)),
                },
            };
            self.globals(&inner, values, &prefix);
            with_stack(|| self.chart(dependency, &inner, &prefix))?;
        }
        Ok(())
    }

    /// Globals of a chart, put over those of one that it depends on.
    fn globals(&mut self, into: &Map, from: &Map, prefix: &str) {
        let table = |values: &Map| match values.get(GLOBAL.as_bytes()) {
            None => Some(super::empty()),
            Some(value) => as_table(&value).cloned(),
        };
        let Some(inner) = table(into) else {
            self.warnings.push(format!("warning: skipping globals because destination {GLOBAL} is not a table."));
            return;
        };
        let Some(outer) = table(from) else {
            self.warnings.push(format!("warning: skipping globals because source {GLOBAL} is not a table."));
            return;
        };
        for (key, value) in outer.entries() {
            let there = inner.get_value(&key);
            let Some(table) = as_table(&value) else {
                if there.as_ref().and_then(as_table).is_some() {
                    self.warnings.push(format!("key {} is table. Skipping", shown(&key)));
                } else {
                    inner.insert(key, value);
                }
                continue;
            };
            // Only this level is the dependency's own.
            let copy = Rc::new(Map::of(Type::MAP, table.entries()));
            match there.as_ref().map(as_table) {
                None => {}
                Some(None) => {
                    let key = quoted(&key);
                    self.warnings.push(format!("Conflict: cannot merge map onto non-map for {key}. Skipping."));
                    continue;
                }
                Some(Some(there)) => self.tables(&copy, there, &joined(prefix, &shown(&key)), Nulls::Keep),
            }
            inner.insert(key, Value::Map(copy));
        }
        into.insert(GLOBAL.into(), Value::Map(inner));
    }

    /// The defaults of a chart, put under values.
    fn defaults(&mut self, chart: &Chart, values: &Map, prefix: &str) {
        for (key, default) in deep_copy(&chart.values).entries() {
            let Some(value) = values.get_value(&key) else {
                if self.nulls == Nulls::Remove {
                    if matches!(default, Value::Nil) {
                        continue;
                    }
                    as_table(&default).inspect(|table| without_nulls(table));
                }
                values.insert(key, default);
                continue;
            };
            if matches!(value, Value::Nil) && self.nulls == Nulls::Remove {
                values.remove(&key);
                continue;
            }
            let Some(table) = as_table(&value) else { continue };
            let Some(default_table) = as_table(&default) else {
                if !matches!(default, Value::Nil) {
                    let key = shown(&key);
                    self.warnings.push(format!("warning: skipped value for {prefix}.{key}: Not a table."));
                }
                continue;
            };
            // What is meant for a dependency keeps its nulls: they remove the dependency's defaults.
            let key = shown(&key);
            let for_dependency = chart.dependencies.iter().any(|dependency| dependency.name() == key);
            let nulls = if for_dependency { Nulls::Keep } else { self.nulls };
            if nulls == Nulls::Remove {
                without_nulls(default_table);
            }
            self.tables(table, default_table, &joined(prefix, &key), nulls);
        }
    }

    fn tables(&mut self, into: &Map, from: &Map, prefix: &str, nulls: Nulls) {
        let before = from.entries();
        for (key, value) in into.entries() {
            if matches!(value, Value::Nil) {
                from.insert(key, Value::Nil);
            }
        }
        for (key, value) in before {
            let Some(there) = into.get_value(&key) else {
                into.insert(key, value);
                continue;
            };
            if matches!(there, Value::Nil) {
                if nulls == Nulls::Remove && !matches!(value, Value::Nil) {
                    into.remove(&key);
                }
                continue;
            }
            match (as_table(&there), as_table(&value)) {
                (Some(there), Some(value)) => {
                    if self.depth == DEEPEST {
                        self.endless = true;
                        return;
                    }
                    let prefix = joined(prefix, &shown(&key));
                    self.depth += 1;
                    with_stack(|| self.tables(there, value, &prefix, nulls));
                    self.depth -= 1;
                }
                (None, Some(_)) => {
                    let (key, value) = (joined(prefix, &shown(&key)), printed(&value));
                    self.warnings.push(format!("warning: cannot overwrite table with non table for {key} ({value})"));
                }
                (Some(_), None) if !matches!(value, Value::Nil) => {
                    let (key, value) = (joined(prefix, &shown(&key)), printed(&value));
                    self.warnings
                        .push(format!("warning: destination for {key} is a table. Ignoring non-table value ({value})"));
                }
                _ => {}
            }
        }
    }
}

/// Takes out what is null, however deep.
fn without_nulls(table: &Map) {
    for (key, value) in table.entries() {
        if matches!(value, Value::Nil) {
            table.remove(&key);
        } else if let Some(inner) = as_table(&value) {
            with_stack(|| without_nulls(inner));
        }
    }
}

fn mismatch(name: &str, value: Value) -> Error {
    let shown = sprintf(b"%t", &[value]).map_or_else(|error| error.to_string(), |text| text.to_str().into_owned());
    Error::new(format!("type mismatch on {name}: {shown}"))
}

fn joined(prefix: &str, key: &str) -> String {
    if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") }
}

fn shown(key: &Value) -> String {
    if let Value::String(text) = key { text.to_str().into_owned() } else { String::new() }
}

fn quoted(key: &Value) -> String {
    if let Value::String(text) = key { fitout_go_template::quote(text) } else { String::new() }
}

fn printed(value: &Value) -> String {
    let text = sprintf(b"%v", std::slice::from_ref(value));
    text.map_or_else(|error| error.to_string(), |text| text.to_str().into_owned())
}
