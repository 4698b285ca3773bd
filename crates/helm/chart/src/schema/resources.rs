//! A document: which schemas in it have names, and which places have.

use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;

use fitout_go_template::quote;
use serde_json::Value as Json;

use super::draft::Draft;
use super::location::{encoded, joined, split};
use crate::values::with_stack;

/// A schema with a name of its own, which references inside of it are relative to.
#[derive(Clone, Debug)]
pub(crate) struct Resource {
    pub(crate) pointer: String,
    pub(crate) id: String,
    pub(crate) draft: Draft,
    /// Names of places in it, with their pointers.
    pub(crate) anchors: BTreeMap<String, String>,
    pub(crate) dynamic_anchors: Vec<String>,
}

/// A document, as far as it has been gone through.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) url: Rc<str>,
    pub(crate) json: Rc<Json>,
    resources: BTreeMap<String, Resource>,
    processed: HashSet<String>,
}

impl Document {
    pub(crate) fn new(url: &str, json: Json) -> Result<Self, String> {
        let json = Rc::new(json);
        let mut document =
            Self { url: url.into(), json: Rc::clone(&json), resources: BTreeMap::new(), processed: HashSet::new() };
        document.collect(&json, url, "", Draft::LATEST)?;
        Ok(document)
    }

    pub(crate) fn is_processed(&self, pointer: &str) -> bool {
        self.processed.contains(pointer)
    }

    /// Goes through a part that nobody has taken for a schema before.
    pub(crate) fn add(&mut self, pointer: &str) -> Result<(), String> {
        let json = Rc::clone(&self.json);
        let schema = super::location::lookup(&json, &self.url, pointer)?;
        let (id, draft) = self.resource(pointer).map_or_else(Default::default, |found| (found.id.clone(), found.draft));
        self.collect(schema, &id, pointer, draft)
    }

    /// The schema with a name that a pointer leads into.
    pub(crate) fn resource(&self, pointer: &str) -> Option<&Resource> {
        let mut pointer = pointer;
        loop {
            if let Some(found) = self.resources.get(pointer) {
                return Some(found);
            }
            let Some(slash) = pointer.rfind('/') else { return self.resources.get("") };
            pointer = &pointer[..slash];
        }
    }

    /// The pointer that an address leads to, where it leads into this document.
    pub(crate) fn resolve(&self, url: &str, fragment: &str) -> Result<Option<String>, String> {
        let resource = if *url == *self.url {
            self.resources.get("")
        } else {
            self.resources.values().find(|resource| resource.id == url)
        };
        let Some(resource) = resource else { return Ok(None) };
        if fragment.is_empty() || fragment.starts_with('/') {
            return Ok(Some(format!("{}{fragment}", resource.pointer)));
        }
        if let Some(pointer) = resource.anchors.get(fragment) {
            Ok(Some(pointer.clone()))
        } else {
            let reference = quote(format!("{}#{}", resource.id, encoded(fragment)).as_bytes());
            Err(format!("anchor in {reference} not found in schema {}", quote(self.url.as_bytes())))
        }
    }

    fn collect(&mut self, schema: &Json, base: &str, pointer: &str, around: Draft) -> Result<(), String> {
        if self.processed.contains(pointer) {
            return Ok(());
        }
        with_stack(|| self.collect_now(schema, base, pointer, around))?;
        self.processed.insert(pointer.to_owned());
        Ok(())
    }

    fn collect_now(&mut self, schema: &Json, base: &str, pointer: &str, around: Draft) -> Result<(), String> {
        if !schema.is_object() {
            if pointer.is_empty() {
                self.add_resource(pointer, base, around)?;
            }
            return Ok(());
        }
        let mut draft = match schema.get("$schema").and_then(Json::as_str) {
            None => around,
            Some(named) => Draft::named(named).ok_or_else(|| unknown_draft(named, &self.url, pointer))?,
        };
        let mut id = draft.id(schema);
        if id.is_none() && !pointer.is_empty() {
            // What has no name of its own has no version of its own.
            draft = around;
            id = draft.id(schema);
        }
        let mut base = base.to_owned();
        if let Some(id) = id {
            base = joined(&base, id)?.url;
        }
        if id.is_some() || pointer.is_empty() {
            self.add_resource(pointer, &base, draft)?;
        }
        self.collect_anchors(schema, pointer, &base)?;
        for (pointer, inner) in draft.subschemas(schema, pointer) {
            self.collect(inner, &base, &pointer, draft)?;
        }
        Ok(())
    }

    fn add_resource(&mut self, pointer: &str, id: &str, draft: Draft) -> Result<(), String> {
        if let Some(other) = self.resources.values().find(|resource| resource.id == id) {
            if other.pointer == pointer {
                return Ok(());
            }
            let quoted = |text: &str| quote(text.as_bytes());
            return Err(format!(
                "duplicate id {} in {} at {} and {}",
                quoted(id),
                quoted(&self.url),
                quoted(pointer),
                quoted(&other.pointer)
            ));
        }
        let resource = Resource {
            pointer: pointer.to_owned(),
            id: id.to_owned(),
            draft,
            anchors: BTreeMap::new(),
            dynamic_anchors: Vec::new(),
        };
        self.resources.insert(pointer.to_owned(), resource);
        Ok(())
    }

    fn collect_anchors(&mut self, schema: &Json, pointer: &str, base: &str) -> Result<(), String> {
        let url = Rc::clone(&self.url);
        let Some(resource) = self.resources.values_mut().find(|resource| resource.id == base) else { return Ok(()) };
        let draft = resource.draft;
        let text = |key: &str| schema.get(key).and_then(Json::as_str);
        if draft < Draft::V2019 {
            if schema.get("$ref").is_some() {
                return Ok(());
            }
            let fragment = text(draft.id_key()).map(|id| split(id).1).unwrap_or_default();
            if !fragment.is_empty() && !fragment.starts_with('/') {
                resource.add_anchor(fragment, pointer, &url)?;
            }
            return Ok(());
        }
        if let Some(anchor) = text("$anchor") {
            resource.add_anchor(anchor, pointer, &url)?;
        }
        if draft == Draft::V2020
            && let Some(anchor) = text("$dynamicAnchor")
        {
            resource.add_anchor(anchor, pointer, &url)?;
            resource.dynamic_anchors.push(anchor.to_owned());
        }
        Ok(())
    }
}

impl Resource {
    fn add_anchor(&mut self, anchor: &str, pointer: &str, url: &str) -> Result<(), String> {
        match self.anchors.get(anchor) {
            Some(other) if other == pointer => Ok(()),
            Some(other) => {
                let [anchor, url, other, pointer] = [anchor, url, other, pointer].map(|text| quote(text.as_bytes()));
                Err(format!("duplicate anchor {anchor} in {url} at {other} and {pointer}"))
            }
            None => {
                self.anchors.insert(anchor.to_owned(), pointer.to_owned());
                Ok(())
            }
        }
    }
}

/// A version that is none of those we know would have to be fetched.
fn unknown_draft(named: &str, url: &str, pointer: &str) -> String {
    let (named, _) = split(named);
    if pointer.is_empty() && named == url {
        return format!("draft {} is not supported", quote(named.as_bytes()));
    }
    super::compile::not_fetched(named)
}
