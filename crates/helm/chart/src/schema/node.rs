//! A compiled schema.

use std::collections::BTreeMap;
use std::rc::Rc;

use fitout_go_regex::Regex;
use serde_json::Value as Json;

use super::draft::Draft;
use super::format::Format;
use super::kinds::Kinds;
use super::number::Decimal;

/// A schema, by its number.
pub(crate) type Id = usize;

/// Either all is allowed or nothing, or what a schema says.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Additional {
    All(bool),
    Schema(Id),
}

/// What has to be there if something else is.
#[derive(Clone, Debug)]
pub(crate) enum Dependency {
    Properties(Vec<String>),
    Schema(Id),
}

/// What `items` says, before 2020.
#[derive(Clone, Debug)]
pub(crate) enum Items {
    Each(Id),
    First(Vec<Id>),
}

/// A compiled schema: what it says of any value, of objects, of arrays, of strings, of numbers.
#[derive(Debug, Default)]
pub(crate) struct Node {
    pub(crate) draft: Draft,
    pub(crate) url: Rc<str>,
    pub(crate) pointer: Rc<str>,
    /// The schema with a name that this one is in.
    pub(crate) resource: Id,
    pub(crate) dynamic_anchors: BTreeMap<String, Id>,

    pub(crate) truth: Option<bool>,
    pub(crate) reference: Option<Id>,
    pub(crate) recursive_reference: Option<Id>,
    pub(crate) recursive_anchor: bool,
    /// Where it leads first, and the anchor that it may lead to instead.
    pub(crate) dynamic_reference: Option<(Id, Option<String>)>,
    pub(crate) dynamic_anchor: Option<String>,
    pub(crate) kinds: Option<Kinds>,
    pub(crate) constant: Option<Json>,
    pub(crate) enumeration: Option<Vec<Json>>,
    pub(crate) format: Option<Format>,
    pub(crate) not: Option<Id>,
    pub(crate) all_of: Vec<Id>,
    pub(crate) any_of: Vec<Id>,
    pub(crate) one_of: Vec<Id>,
    pub(crate) condition: Option<Id>,
    pub(crate) then: Option<Id>,
    pub(crate) otherwise: Option<Id>,

    pub(crate) min_properties: Option<i64>,
    pub(crate) max_properties: Option<i64>,
    pub(crate) required: Vec<String>,
    pub(crate) property_names: Option<Id>,
    pub(crate) properties: BTreeMap<String, Id>,
    pub(crate) pattern_properties: Vec<(Regex, Id)>,
    pub(crate) additional_properties: Option<Additional>,
    pub(crate) dependencies: Vec<(String, Dependency)>,
    pub(crate) dependent_required: Vec<(String, Vec<String>)>,
    pub(crate) dependent_schemas: Vec<(String, Id)>,
    pub(crate) unevaluated_properties: Option<Id>,

    pub(crate) min_items: Option<i64>,
    pub(crate) max_items: Option<i64>,
    pub(crate) unique_items: bool,
    pub(crate) contains: Option<Id>,
    pub(crate) min_contains: Option<i64>,
    pub(crate) max_contains: Option<i64>,
    pub(crate) items: Option<Items>,
    pub(crate) additional_items: Option<Additional>,
    pub(crate) prefix_items: Vec<Id>,
    /// `items` since 2020: what comes after `prefixItems`.
    pub(crate) rest_items: Option<Id>,
    pub(crate) unevaluated_items: Option<Id>,

    pub(crate) min_length: Option<i64>,
    pub(crate) max_length: Option<i64>,
    pub(crate) pattern: Option<(Regex, String)>,

    pub(crate) minimum: Option<Decimal>,
    pub(crate) maximum: Option<Decimal>,
    pub(crate) exclusive_minimum: Option<Decimal>,
    pub(crate) exclusive_maximum: Option<Decimal>,
    pub(crate) multiple_of: Option<Decimal>,
}

impl Node {
    pub(crate) fn new(url: Rc<str>, pointer: Rc<str>) -> Self {
        Self { url, pointer, ..Self::default() }
    }

    /// The address of this very schema.
    pub(crate) fn location(&self) -> String {
        format!("{}#{}", self.url, super::location::encoded(&self.pointer))
    }

    pub(crate) fn all_properties_evaluated(&self) -> bool {
        self.additional_properties.is_some()
    }

    /// How many items are evaluated by it, whatever they are: all, where there is no number.
    pub(crate) fn items_evaluated(&self) -> Option<usize> {
        if self.draft == Draft::V2020 {
            return if self.rest_items.is_some() { None } else { Some(self.prefix_items.len()) };
        }
        match (&self.items, self.additional_items) {
            (Some(Items::Each(_)), _) | (_, Some(_)) => None,
            (Some(Items::First(first)), None) => Some(first.len()),
            (None, None) => Some(0),
        }
    }
}
