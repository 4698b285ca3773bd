//! Where each value comes from that templates see.
//!
//! Nothing is coalesced a second way here: every value that is no table is exchanged for a mark, the charts and layers are
//! put together by the very code that rendering uses, and the marks that are left say what won. That code looks at values
//! only to see whether they are tables or nulls.

use std::rc::Rc;

use fitout_go_template::{Map, Text, Type, Value};

use super::{as_table, coalesce_values, empty, merge_maps, with_stack};
use crate::Warnings;
use crate::chart::Chart;
use crate::dependencies;
use crate::error::Error;

/// One value that templates see.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// The keys that lead to it.
    pub path: Vec<Text>,
    /// The value: no table, unless it is empty.
    pub value: Value,
    /// The layer that set it: one that was given, or `chart`, or `chart NAME` of a dependency, with its path.
    pub layer: String,
    /// The layers that have a value in this place as well, and lost: those that win over others first.
    pub shadowed: Vec<String>,
}

/// Every value that the templates of a chart see, with the layer that it comes from. Of the layers over the chart's own,
/// later ones win; as in Helm a null removes what is below it, and tables merge.
pub fn explain(chart: &Chart, layers: &[(&str, &Map)]) -> Result<Vec<Leaf>, Error> {
    let given = layers.iter().fold(empty(), |under, (_, over)| merge_maps(&under, over));
    let mut chart = chart.clone();
    dependencies::choose(&mut chart, &given, &mut Warnings::new())?;
    let mut sources = Vec::new();
    collect(&chart, &[], &mut sources);
    sources.extend(layers.iter().map(|(layer, values)| Source {
        layer: (*layer).to_owned(),
        at: Vec::new(),
        values: Rc::new(Map::of(Type::MAP, values.entries())),
    }));

    let mut marks = Marks(Vec::new());
    let mut marked = chart.clone();
    let charts = marks.charts(&mut marked, 0);
    let over = sources[charts..].iter().enumerate();
    let over = over.map(|(index, source)| marks.table(&source.values, charts + index)).collect::<Vec<_>>();
    let over = over.iter().fold(empty(), |under, over| merge_maps(&under, over));
    // The words of an error are about values, not about marks.
    let all =
        put_together(&mut marked, &over).map_err(|error| put_together(&mut chart, &given).err().unwrap_or(error))?;
    let mut leaves = Vec::new();
    Explaining { sources, charts, marks }.table(&all, &mut Vec::new(), &mut leaves);
    Ok(leaves)
}

/// What templates see, once dependencies have been chosen.
fn put_together(chart: &mut Chart, given: &Map) -> Result<Rc<Map>, Error> {
    let mut unsaid = Warnings::new();
    dependencies::import(chart, &mut unsaid)?;
    coalesce_values(chart, given, &mut unsaid)
}

/// Values as they were given, and where in the whole they are.
struct Source {
    layer: String,
    at: Vec<Text>,
    values: Rc<Map>,
}

impl Source {
    /// What it has in a place; nothing where it has nothing to say about it.
    fn get(&self, path: &[Text]) -> Option<Value> {
        let mut value = Value::Map(Rc::clone(&self.values));
        for key in path.strip_prefix(&self.at[..])? {
            value = as_table(&value)?.get(key)?;
        }
        Some(value)
    }
}

/// The defaults of a chart and of those below it, in the order in which they are marked.
fn collect(chart: &Chart, at: &[Text], sources: &mut Vec<Source>) {
    let names: Vec<_> = at.iter().map(|key| key.to_str().into_owned()).collect();
    let layer = if at.is_empty() { "chart".to_owned() } else { format!("chart {}", names.join(".")) };
    sources.push(Source { layer, at: at.to_vec(), values: Rc::clone(&chart.values) });
    for dependency in &chart.dependencies {
        let inner = [at, &[Text::from(dependency.name())]].concat();
        with_stack(|| collect(dependency, &inner, sources));
    }
}

/// What stands for each value: its place in here. Beside the value is the number of its source.
struct Marks(Vec<(usize, Value)>);

impl Marks {
    /// Marks the defaults of a chart and of those below it, and returns the number of the next source.
    fn charts(&mut self, chart: &mut Chart, source: usize) -> usize {
        chart.values = self.table(&chart.values, source);
        chart.dependencies.iter_mut().fold(source + 1, |next, chart| with_stack(|| self.charts(chart, next)))
    }

    fn table(&mut self, table: &Map, source: usize) -> Rc<Map> {
        let entries: Vec<_> =
            table.entries().into_iter().map(|(key, value)| (key, self.value(value, source))).collect();
        Rc::new(Map::of(Type::MAP, entries))
    }

    fn value(&mut self, value: Value, source: usize) -> Value {
        if let Some(table) = as_table(&value) {
            return Value::Map(with_stack(|| self.table(table, source)));
        }
        if matches!(value, Value::Nil) {
            return Value::Nil;
        }
        self.0.push((source, value));
        Value::string((self.0.len() - 1).to_string())
    }

    fn read(&self, mark: &Value) -> Option<&(usize, Value)> {
        let Value::String(text) = mark else { return None };
        self.0.get(text.to_str().parse::<usize>().ok()?)
    }
}

struct Explaining {
    sources: Vec<Source>,
    /// How many of them are charts; they are first.
    charts: usize,
    marks: Marks,
}

impl Explaining {
    fn table(&self, table: &Map, path: &mut Vec<Text>, leaves: &mut Vec<Leaf>) {
        for (key, value) in table.entries() {
            let Value::String(key) = key else { continue };
            path.push(key);
            match as_table(&value) {
                Some(inner) if !inner.is_empty() => with_stack(|| self.table(inner, path, leaves)),
                _ => leaves.push(self.leaf(path, value)),
            }
            path.pop();
        }
    }

    fn leaf(&self, path: &[Text], found: Value) -> Leaf {
        let places = self.places(path);
        let has = |source: &usize| places.iter().any(|place| self.sources[*source].get(place).is_some());
        // Of layers the last wins, of charts the one that is above the others.
        let by_rank = (self.charts..self.sources.len()).rev().chain(0..self.charts);
        let mut others: Vec<usize> = by_rank.filter(has).collect();
        let (winner, value) = match self.marks.read(&found) {
            Some((source, value)) => (*source, value.clone()),
            // Empty tables and nulls have no mark: the highest layer that has one there; tables of dependencies are there
            // in any case.
            None => (others.first().copied().unwrap_or_default(), found),
        };
        others.retain(|source| *source != winner);
        let layer = |source: usize| self.sources[source].layer.clone();
        Leaf { path: path.to_vec(), value, layer: layer(winner), shadowed: others.into_iter().map(layer).collect() }
    }

    /// The places that a value may come from: its own, and for a global those in the charts above.
    fn places(&self, path: &[Text]) -> Vec<Vec<Text>> {
        let mut places = vec![path.to_vec()];
        let Some(global) = path.iter().position(|key| &**key == b"global") else { return places };
        if self.sources.iter().any(|source| !source.at.is_empty() && source.at == path[..global]) {
            places.extend((0..global).map(|above| [&path[..above], &path[global..]].concat()));
        }
        places
    }
}
