//! What of a value no schema has looked at.

use std::collections::BTreeSet;

use fitout_go_template::{Text, Value};

use super::super::node::Node;
use super::Check;

/// What of a value no schema has looked at, where anybody wants to know.
#[derive(Debug, Default)]
pub(super) struct Unevaluated {
    pub(super) properties: BTreeSet<Text>,
    pub(super) items: BTreeSet<usize>,
}

impl Unevaluated {
    pub(super) fn of(value: &Value, node: &Node, wanted: bool) -> Self {
        let mut left = Self::default();
        match value {
            Value::Map(map)
                if !node.all_properties_evaluated() && (wanted || node.unevaluated_properties.is_some()) =>
            {
                let keys = map.entries().into_iter().map(|(key, _)| key);
                left.properties =
                    keys.filter_map(|key| if let Value::String(key) = key { Some(key) } else { None }).collect();
            }
            Value::List(list) if wanted || node.unevaluated_items.is_some() => {
                if let Some(evaluated) = node.items_evaluated() {
                    left.items = (evaluated..list.len()).collect();
                }
            }
            _ => {}
        }
        left
    }

    pub(super) fn is_empty(&self) -> bool {
        self.properties.is_empty() && self.items.is_empty()
    }

    /// What neither has looked at.
    pub(super) fn intersect(&mut self, other: &Self) {
        self.properties.retain(|key| other.properties.contains(key));
        self.items.retain(|place| other.items.contains(place));
    }
}

impl Check<'_> {
    pub(super) fn left_over(&mut self, node: &Node) {
        if let (Value::Map(map), Some(schema)) = (self.value, node.unevaluated_properties) {
            for key in std::mem::take(&mut self.unevaluated.properties) {
                if let Some(value) = map.get(&key) {
                    let refused = self.inner(schema, &value, &key.to_str());
                    self.problems.extend(refused);
                }
            }
        }
        if let (Value::List(list), Some(schema)) = (self.value, node.unevaluated_items) {
            for place in std::mem::take(&mut self.unevaluated.items) {
                let refused = self.inner(schema, &list.items()[place], &place.to_string());
                self.problems.extend(refused);
            }
        }
    }
}
