//! What is said of objects.

use fitout_go_template::{Map, Value};

use super::super::draft::Draft;
use super::super::node::{Additional, Dependency, Node};
use super::super::number::count;
use super::super::problem::{Kind, Problem, all_quoted, quoted};
use super::{Check, validate};

impl Check<'_> {
    pub(super) fn object(&mut self, node: &Node, map: &Map) {
        let length = i64::try_from(map.len()).unwrap_or(i64::MAX);
        if let Some(least) = node.min_properties
            && length < least
        {
            self.add(|| format!("minProperties: got {}, want {}", count(length), count(least)));
        }
        if let Some(most) = node.max_properties
            && length > most
        {
            self.add(|| format!("maxProperties: got {}, want {}", count(length), count(most)));
        }
        let missing = missing(map, &node.required);
        if let Some(names) = &missing {
            let noun = if names.len() == 1 { "property" } else { "properties" };
            self.add(|| format!("missing {noun} {}", all_quoted(names.iter().copied())));
        }
        if self.quick && !self.problems.is_empty() {
            return;
        }
        for (name, dependency) in node.dependencies.iter().filter(|(name, _)| has(map, name)) {
            match dependency {
                Dependency::Properties(required) => self.dependent(map, name, required),
                Dependency::Schema(schema) => {
                    let refused = self.same(*schema, None, false);
                    self.problems.extend(refused);
                }
            }
        }
        self.properties(node, map);
        if node.draft >= Draft::Six {
            self.property_names(node, map);
        }
        if node.draft >= Draft::Seven {
            for (_, schema) in node.dependent_schemas.iter().filter(|(name, _)| has(map, name)) {
                let refused = self.same(*schema, None, false);
                self.problems.extend(refused);
            }
            for (name, required) in node.dependent_required.iter().filter(|(name, _)| has(map, name)) {
                self.dependent(map, name, required);
            }
        }
    }

    fn dependent(&mut self, map: &Map, name: &str, required: &[String]) {
        if let Some(names) = missing(map, required) {
            self.add(|| format!("properties {} required, if {} exists", all_quoted(names), quoted(name)));
        }
    }

    fn properties(&mut self, node: &Node, map: &Map) {
        let mut additional = Vec::new();
        for (key, value) in map.entries() {
            if self.quick && !self.problems.is_empty() {
                return;
            }
            let Value::String(key) = key else { continue };
            let name = key.to_str();
            let mut evaluated = false;
            if let Some(schema) = node.properties.get(&*name) {
                evaluated = true;
                self.problems.extend(self.inner(*schema, &value, &name));
            }
            for (_, schema) in node.pattern_properties.iter().filter(|(pattern, _)| pattern.is_match(&key)) {
                evaluated = true;
                self.problems.extend(self.inner(*schema, &value, &name));
            }
            if !evaluated {
                match node.additional_properties {
                    None => continue,
                    Some(Additional::All(true)) => {}
                    Some(Additional::All(false)) => additional.push(name.to_string()),
                    Some(Additional::Schema(schema)) => {
                        self.problems.extend(self.inner(schema, &value, &name));
                    }
                }
            }
            self.unevaluated.properties.remove(&key);
        }
        if !additional.is_empty() {
            let names = additional.iter().map(String::as_str);
            self.add(|| format!("additional properties {} not allowed", all_quoted(names)));
        }
    }

    fn property_names(&mut self, node: &Node, map: &Map) {
        let Some(schema) = node.property_names else { return };
        for (key, _) in map.entries() {
            if let Err(problem) = validate(self.nodes, schema, &key)
                && let Value::String(key) = key
            {
                let kind = Kind::Text(format!("invalid propertyName {}", quoted(&key.to_str())));
                self.problems.push(Problem { place: self.place.pointer(), kind, causes: problem.causes });
            }
        }
    }
}

fn has(map: &Map, name: &str) -> bool {
    map.get(name.as_bytes()).is_some()
}

/// Which of these names are missing, if any.
fn missing<'n>(map: &Map, names: &'n [String]) -> Option<Vec<&'n str>> {
    let missing: Vec<_> = names.iter().map(String::as_str).filter(|name| !has(map, name)).collect();
    (!missing.is_empty()).then_some(missing)
}
