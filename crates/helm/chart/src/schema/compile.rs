//! From documents to schemas that can be checked against.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::rc::Rc;

use fitout_go_regex::Regex;
use fitout_go_template::quote;
use serde_json::Value as Json;

use super::check;
use super::draft::Draft;
use super::format::{Asserted, Format};
use super::kinds::Kinds;
use super::location::{encoded, escaped, joined, lookup, split};
use super::meta;
use super::node::{Additional, Dependency, Id, Items, Node};
use super::number::Decimal;
use super::resources::Document;
use super::words::Words;
use crate::values::from_json;

/// Compiles schemas, and all that they refer to.
pub(crate) struct Compiler {
    asserted: Asserted,
    documents: HashMap<String, Document>,
    /// Documents that have not been looked at.
    given: HashMap<String, Json>,
    nodes: Vec<Node>,
    /// Where each schema is, those that are not compiled yet after the others.
    placed: Vec<(Rc<str>, Rc<str>)>,
    places: HashMap<(Rc<str>, Rc<str>), Id>,
}

/// Why what is outside of a schema is not there.
pub(crate) fn not_fetched(url: &str) -> String {
    format!("failing loading {}: what is not part of the chart is not fetched", quote(url.as_bytes()))
}

impl Compiler {
    pub(crate) fn new(asserted: Asserted) -> Self {
        Self {
            asserted,
            documents: HashMap::new(),
            given: HashMap::new(),
            nodes: Vec::new(),
            placed: Vec::new(),
            places: HashMap::new(),
        }
    }

    /// Gives it a document.
    pub(crate) fn add(&mut self, url: &str, document: Json) {
        self.given.insert(url.to_owned(), document);
    }

    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub(crate) fn into_nodes(self) -> Vec<Node> {
        self.nodes
    }

    /// Compiles the schema of a document.
    pub(crate) fn compile(&mut self, url: &str, warnings: &mut Vec<String>) -> Result<Id, String> {
        self.load(url, warnings)?;
        let root = self.node(&Rc::from(url), String::new());
        while let Some((url, pointer)) = self.placed.get(self.nodes.len()) {
            let node = self.compile_node(&Rc::clone(url), &Rc::clone(pointer), warnings)?;
            self.nodes.push(node);
        }
        Ok(root)
    }

    fn load(&mut self, url: &str, warnings: &mut Vec<String>) -> Result<(), String> {
        if self.documents.contains_key(url) {
            return Ok(());
        }
        let known = self.given.remove(url).or_else(|| meta::document(url));
        let json = match known {
            Some(json) => json,
            None if url.starts_with("urn:") => {
                let problem = "unresolved URN reference ignored; using permissive schema";
                warnings.push(format!("{problem} urn={url}"));
                Json::Bool(true)
            }
            None => return Err(not_fetched(url)),
        };
        let document = Document::new(url, json)?;
        let published = url.starts_with("http://json-schema.org/") || url.starts_with("https://json-schema.org/");
        if !published {
            validate(&document, "")?;
        }
        self.documents.insert(url.to_owned(), document);
        Ok(())
    }

    /// The schema at a place, which is compiled later.
    fn node(&mut self, url: &Rc<str>, pointer: String) -> Id {
        let next = self.placed.len();
        match self.places.entry((Rc::clone(url), pointer.into())) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                self.placed.push(new.key().clone());
                *new.insert(next)
            }
        }
    }

    fn compile_node(&mut self, url: &Rc<str>, pointer: &Rc<str>, warnings: &mut Vec<String>) -> Result<Node, String> {
        self.load(url, warnings)?;
        let Some(document) = self.documents.get_mut(&**url) else { return Err(not_fetched(url)) };
        if !document.is_processed(pointer) {
            document.add(pointer)?;
            validate(document, pointer)?;
        }
        let json = Rc::clone(&document.json);
        let Some(resource) = document.resource(pointer).cloned() else { return Err(not_fetched(url)) };
        let schema = lookup(&json, url, pointer)?;

        let mut node = Node::new(Rc::clone(url), Rc::clone(pointer));
        node.draft = resource.draft;
        node.resource = self.node(url, resource.pointer.clone());
        if node.draft == Draft::V2020 && *resource.pointer == **pointer {
            for anchor in &resource.dynamic_anchors {
                if let Some(place) = resource.anchors.get(anchor) {
                    let place = self.node(url, place.clone());
                    node.dynamic_anchors.insert(anchor.clone(), place);
                }
            }
        }
        match schema {
            Json::Bool(truth) => node.truth = Some(*truth),
            Json::Object(object) if object.is_empty() => node.truth = Some(true),
            Json::Object(object) => {
                Schema { compiler: self, words: Words::of(object), url, pointer, base: &resource.id, warnings }
                    .fill(&mut node)?;
            }
            _ => {}
        }
        Ok(node)
    }
}

/// Checks a schema against the schema of schemas.
fn validate(document: &Document, pointer: &str) -> Result<(), String> {
    let schema = lookup(&document.json, &document.url, pointer)?;
    let draft = document.resource(pointer).map_or(Draft::LATEST, |resource| resource.draft);
    let meta = meta::schema(draft);
    check::validate(&meta.nodes, meta.root, &from_json(schema)).map_err(|problem| {
        let url = quote(format!("{}#{}", document.url, encoded(pointer)).as_bytes());
        let by = super::problem::quoted(&meta.nodes[meta.root].location());
        let causes = problem.causes_text();
        format!("{url} is not valid against metaschema: jsonschema validation failed with {by}\n{causes}")
    })
}

/// A schema that is being compiled.
struct Schema<'a> {
    compiler: &'a mut Compiler,
    words: Words<'a>,
    url: &'a Rc<str>,
    pointer: &'a str,
    /// What references are relative to.
    base: &'a str,
    warnings: &'a mut Vec<String>,
}

impl<'a> Schema<'a> {
    /// In the order of Helm's library, which decides what is named where several things are wrong.
    fn fill(&mut self, node: &mut Node) -> Result<(), String> {
        node.reference = self.reference("$ref")?;
        if node.draft < Draft::V2019 && node.reference.is_some() {
            // Beside a reference nothing else counted once.
            return Ok(());
        }
        self.fill_applied(node)?;
        self.fill_sizes(node);
        self.fill_scalars(node)?;
        if node.draft >= Draft::Six {
            node.contains = self.schema("contains");
            node.property_names = self.schema("propertyNames");
            node.constant = self.words.get("const").cloned();
        }
        if node.draft >= Draft::Seven {
            self.fill_conditions(node);
        }
        if node.draft >= Draft::V2019 {
            self.fill_2019(node)?;
        }
        if node.draft == Draft::V2020 {
            self.fill_2020(node)?;
        }
        Ok(())
    }

    fn fill_applied(&mut self, node: &mut Node) -> Result<(), String> {
        node.all_of = self.schemas("allOf");
        node.any_of = self.schemas("anyOf");
        node.one_of = self.schemas("oneOf");
        node.not = self.schema("not");
        if node.draft < Draft::V2020 {
            if self.words.get("items").is_some_and(Json::is_array) {
                node.items = Some(Items::First(self.schemas("items")));
                node.additional_items = self.additional("additionalItems");
            } else {
                node.items = self.schema("items").map(Items::Each);
            }
        }
        node.properties = self.schema_map("properties").into_iter().collect();
        for (pattern, id) in self.schema_map("patternProperties") {
            node.pattern_properties.push((self.regex("patternProperties", &pattern)?, id));
        }
        node.additional_properties = self.additional("additionalProperties");
        let dependencies = self.words.get("dependencies").and_then(Json::as_object);
        for (name, value) in dependencies.into_iter().flatten() {
            let dependency = match value.as_array() {
                Some(names) => Dependency::Properties(texts(names)),
                None => Dependency::Schema(self.at(&format!("dependencies/{}", escaped(name)))),
            };
            node.dependencies.push((name.clone(), dependency));
        }
        Ok(())
    }

    fn fill_sizes(&mut self, node: &mut Node) {
        node.min_properties = self.whole("minProperties");
        node.max_properties = self.whole("maxProperties");
        node.required =
            self.words.get("required").and_then(Json::as_array).map(|names| texts(names)).unwrap_or_default();
        node.min_items = self.whole("minItems");
        node.max_items = self.whole("maxItems");
        node.unique_items = self.truth("uniqueItems");
        node.min_length = self.whole("minLength");
        node.max_length = self.whole("maxLength");
    }

    fn fill_scalars(&mut self, node: &mut Node) -> Result<(), String> {
        node.kinds = self.words.get("type").and_then(Kinds::of);
        node.enumeration = self.words.get("enum").and_then(Json::as_array).cloned();
        node.multiple_of = self.number("multipleOf");
        node.maximum = self.number("maximum");
        node.exclusive_maximum =
            if self.truth("exclusiveMaximum") { node.maximum.take() } else { self.number("exclusiveMaximum") };
        node.minimum = self.number("minimum");
        node.exclusive_minimum =
            if self.truth("exclusiveMinimum") { node.minimum.take() } else { self.number("exclusiveMinimum") };
        if let Some(pattern) = self.text("pattern") {
            node.pattern = Some((self.regex("pattern", pattern)?, pattern.to_owned()));
        }
        if self.compiler.asserted == Asserted::Always || node.draft < Draft::V2019 {
            node.format = self.text("format").and_then(Format::named);
        }
        Ok(())
    }

    fn fill_conditions(&mut self, node: &mut Node) {
        node.condition = self.schema("if");
        let truth = self.words.get("if").and_then(Json::as_bool);
        if node.condition.is_some() && truth != Some(false) {
            node.then = self.schema("then");
        }
        if node.condition.is_some() && truth != Some(true) {
            node.otherwise = self.schema("else");
        }
    }

    fn fill_2019(&mut self, node: &mut Node) -> Result<(), String> {
        node.recursive_reference = self.reference("$recursiveRef")?;
        node.recursive_anchor = self.truth("$recursiveAnchor");
        if node.contains.is_some() {
            node.min_contains = self.whole("minContains");
            node.max_contains = self.whole("maxContains");
        }
        let required = self.words.get("dependentRequired").and_then(Json::as_object);
        for (name, value) in required.into_iter().flatten() {
            if let Some(names) = value.as_array() {
                node.dependent_required.push((name.clone(), texts(names)));
            }
        }
        node.dependent_schemas = self.schema_map("dependentSchemas");
        node.unevaluated_items = self.schema("unevaluatedItems");
        node.unevaluated_properties = self.schema("unevaluatedProperties");
        Ok(())
    }

    fn fill_2020(&mut self, node: &mut Node) -> Result<(), String> {
        if let Some(place) = self.reference("$dynamicRef")? {
            let (_, fragment) = split(self.text("$dynamicRef").unwrap_or_default());
            let anchor = (!fragment.is_empty() && !fragment.starts_with('/')).then(|| fragment.to_owned());
            node.dynamic_reference = Some((place, anchor));
        }
        node.dynamic_anchor = self.text("$dynamicAnchor").map(str::to_owned);
        node.prefix_items = self.schemas("prefixItems");
        node.rest_items = self.schema("items");
        Ok(())
    }

    fn at(&mut self, below: &str) -> Id {
        self.compiler.node(self.url, format!("{}/{below}", self.pointer))
    }

    fn schema(&mut self, key: &str) -> Option<Id> {
        self.words.get(key)?;
        Some(self.at(key))
    }

    fn schemas(&mut self, key: &str) -> Vec<Id> {
        let count = self.words.get(key).and_then(Json::as_array).map_or(0, Vec::len);
        (0..count).map(|place| self.at(&format!("{key}/{place}"))).collect()
    }

    fn schema_map(&mut self, key: &str) -> Vec<(String, Id)> {
        let Some(object) = self.words.get(key).and_then(Json::as_object) else { return Vec::new() };
        object.keys().map(|name| (name.clone(), self.at(&format!("{key}/{}", escaped(name))))).collect()
    }

    fn additional(&mut self, key: &str) -> Option<Additional> {
        match self.words.get(key)?.as_bool() {
            Some(all) => Some(Additional::All(all)),
            None => self.schema(key).map(Additional::Schema),
        }
    }

    fn reference(&mut self, key: &str) -> Result<Option<Id>, String> {
        let Some(reference) = self.text(key) else { return Ok(None) };
        let target = joined(self.base, reference)?;
        if let Some(document) = self.compiler.documents.get(&**self.url)
            && let Some(pointer) = document.resolve(&target.url, &target.fragment)?
        {
            return Ok(Some(self.compiler.node(self.url, pointer)));
        }
        self.compiler.load(&target.url, self.warnings)?;
        let document = self.compiler.documents.get(&target.url).ok_or_else(|| not_fetched(&target.url))?;
        let pointer = document.resolve(&target.url, &target.fragment)?.unwrap_or_default();
        let url = Rc::clone(&document.url);
        Ok(Some(self.compiler.node(&url, pointer)))
    }

    fn regex(&self, key: &str, pattern: &str) -> Result<Regex, String> {
        Regex::compile(pattern).map_err(|error| {
            let at = quote(format!("{}#{}/{key}", self.url, encoded(self.pointer)).as_bytes());
            format!("invalid regex {} at {at}: {error}", quote(pattern.as_bytes()))
        })
    }

    fn text(&self, key: &str) -> Option<&'a str> {
        self.words.get(key)?.as_str()
    }

    fn truth(&self, key: &str) -> bool {
        self.words.get(key).and_then(Json::as_bool).unwrap_or_default()
    }

    fn number(&self, key: &str) -> Option<Decimal> {
        if let Json::Number(number) = self.words.get(key)? { Decimal::of_json(number) } else { None }
    }

    fn whole(&self, key: &str) -> Option<i64> {
        self.number(key)?.whole()
    }
}

fn texts(items: &[Json]) -> Vec<String> {
    items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
}
