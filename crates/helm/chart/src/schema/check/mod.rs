//! Checking a value against a schema.

mod array;
mod object;
mod scalar;
mod unevaluated;

use fitout_go_template::Value;

use super::draft::Draft;
use super::equal;
use super::kinds::kind_name;
use super::location::escaped;
use super::node::{Id, Node};
use super::problem::{Kind, Problem, quoted};
use crate::values::with_stack;
use unevaluated::Unevaluated;

/// Checks a value against a schema. The problem has causes, and stands for the whole.
pub(crate) fn validate(nodes: &[Node], root: Id, value: &Value) -> Result<(), Problem> {
    let scope = Scope { schema: root, keyword: None, level: 0, around: None };
    let place = Place { around: None, key: "" };
    let node = &nodes[root];
    let unevaluated = Unevaluated::of(value, node, false);
    let check = Check { nodes, value, place: &place, scope: &scope, quick: false, unevaluated, problems: Vec::new() };
    match check.run() {
        Ok(_) => Ok(()),
        Err(Problem { kind: Kind::Several, causes, .. }) if !causes.is_empty() => {
            Err(Problem { causes, ..Problem::default() })
        }
        Err(problem) => Err(Problem { causes: vec![problem], ..Problem::default() }),
    }
}

/// Which schema is being looked at, and how we came to it.
struct Scope<'a> {
    schema: Id,
    /// The keyword of a reference that led here.
    keyword: Option<&'static str>,
    /// The same as that of the scope around it, where the value is the same.
    level: usize,
    around: Option<&'a Scope<'a>>,
}

/// Where a value is.
struct Place<'a> {
    around: Option<&'a Place<'a>>,
    key: &'a str,
}

impl Place<'_> {
    fn pointer(&self) -> String {
        match self.around {
            Some(around) => format!("{}/{}", around.pointer(), escaped(self.key)),
            None => String::new(),
        }
    }
}

/// A value and a schema.
struct Check<'a> {
    nodes: &'a [Node],
    value: &'a Value,
    place: &'a Place<'a>,
    scope: &'a Scope<'a>,
    /// Whether anybody wants to know why.
    quick: bool,
    unevaluated: Unevaluated,
    problems: Vec<Problem>,
}

impl<'a> Check<'a> {
    fn node(&self) -> &'a Node {
        &self.nodes[self.scope.schema]
    }

    /// What of the value nobody has looked at, or what is wrong with it.
    fn run(mut self) -> Result<Unevaluated, Problem> {
        let node = self.node();
        match node.truth {
            Some(true) => return Ok(self.unevaluated),
            Some(false) => return Err(self.problem(|| "false schema".to_owned())),
            None => {}
        }
        if let Some(problem) = self.cycle() {
            return Err(problem);
        }
        self.itself(node)?;
        if let Some(reference) = node.reference {
            let refused = self.referred(reference, "$ref");
            if node.draft < Draft::V2019 {
                return refused.map_or(Ok(self.unevaluated), Err);
            }
            self.problems.extend(refused);
        }
        match self.value {
            Value::Map(map) => self.object(node, map),
            Value::List(list) => self.array(node, list.items()),
            Value::String(text) => self.string(node, text),
            _ => self.number(node),
        }
        if self.problems.is_empty() || !self.quick {
            if node.draft >= Draft::V2019 {
                self.references(node);
            }
            self.conditions(node);
            if node.draft >= Draft::V2019 {
                self.left_over(node);
            }
        }
        match self.problems.len() {
            0 => Ok(self.unevaluated),
            1 => Err(self.problems.remove(0)),
            _ => Err(Problem { place: self.place.pointer(), kind: Kind::Several, causes: self.problems }),
        }
    }

    /// What is said of a value of any type, of which the first that is wrong ends it.
    fn itself(&self, node: &Node) -> Result<(), Problem> {
        let Some(kind) = kind_name(self.value) else {
            return Err(self.problem(|| format!("invalid jsonType {}", self.value.type_name())));
        };
        if let Some(kinds) = node.kinds
            && !kinds.allows(self.value)
        {
            return Err(self.problem(|| format!("got {kind}, want {}", kinds.names())));
        }
        if let Some(wanted) = &node.constant
            && !equal::is(self.value, wanted)
        {
            return Err(self.problem(|| match wanted {
                serde_json::Value::Array(_) | serde_json::Value::Object(_) => "'const' failed".to_owned(),
                wanted => format!("value must be {}", shown(wanted)),
            }));
        }
        if let Some(wanted) = &node.enumeration
            && !wanted.iter().any(|wanted| equal::is(self.value, wanted))
        {
            return Err(self.problem(|| enumerated(wanted)));
        }
        if let (Some(format), Value::String(text)) = (node.format, self.value)
            && let Err(why) = format.check(&text.to_str())
        {
            let text = quoted(&text.to_str());
            return Err(self.problem(|| format!("{text} is not valid {}: {why}", format.name())));
        }
        Ok(())
    }

    fn problem(&self, what: impl FnOnce() -> String) -> Problem {
        if self.quick {
            return Problem::default();
        }
        Problem { place: self.place.pointer(), kind: Kind::Text(what()), causes: Vec::new() }
    }

    fn add(&mut self, what: impl FnOnce() -> String) {
        let problem = self.problem(what);
        self.problems.push(problem);
    }

    fn add_with(&mut self, what: impl FnOnce() -> String, causes: Vec<Problem>) {
        let problem = self.problem(what);
        self.problems.push(Problem { causes, ..problem });
    }

    /// The same value against another schema.
    fn same(&mut self, schema: Id, keyword: Option<&'static str>, quick: bool) -> Option<Problem> {
        let scope = Scope { schema, keyword, level: self.scope.level, around: Some(self.scope) };
        let node = &self.nodes[schema];
        let inner = Check {
            nodes: self.nodes,
            value: self.value,
            place: self.place,
            scope: &scope,
            quick: self.quick || quick,
            unevaluated: Unevaluated::of(self.value, node, !self.unevaluated.is_empty()),
            problems: Vec::new(),
        };
        match with_stack(|| inner.run()) {
            Ok(left) => {
                self.unevaluated.intersect(&left);
                None
            }
            Err(problem) => Some(problem),
        }
    }

    /// A value inside of this one.
    fn inner(&self, schema: Id, value: &Value, key: &str) -> Option<Problem> {
        let scope = Scope { schema, keyword: None, level: self.scope.level + 1, around: Some(self.scope) };
        let place = Place { around: Some(self.place), key };
        let inner = Check {
            nodes: self.nodes,
            value,
            place: &place,
            scope: &scope,
            quick: self.quick,
            unevaluated: Unevaluated::of(value, &self.nodes[schema], false),
            problems: Vec::new(),
        };
        with_stack(|| inner.run()).err()
    }

    fn referred(&mut self, schema: Id, keyword: &'static str) -> Option<Problem> {
        let problem = self.same(schema, Some(keyword), false)?;
        let causes = if matches!(problem.kind, Kind::Several) && !problem.causes.is_empty() {
            problem.causes
        } else {
            vec![problem]
        };
        Some(Problem { place: self.place.pointer(), kind: Kind::Reference, causes })
    }

    fn references(&mut self, node: &Node) {
        if let Some(mut schema) = node.recursive_reference {
            if self.nodes[schema].recursive_anchor {
                schema = self.outermost(|node, _| node.recursive_anchor).unwrap_or(schema);
            }
            let refused = self.referred(schema, "$recursiveRef");
            self.problems.extend(refused);
        }
        if let Some((mut schema, anchor)) = node.dynamic_reference.clone() {
            if let Some(anchor) = anchor
                && self.nodes[schema].dynamic_anchor.as_ref() == Some(&anchor)
            {
                let found = self.outermost(|node, _| node.dynamic_anchors.contains_key(&anchor));
                let found = found.and_then(|scope| {
                    let resource = &self.nodes[self.nodes[scope].resource];
                    resource.dynamic_anchors.get(&anchor).copied()
                });
                schema = found.unwrap_or(schema);
            }
            let refused = self.referred(schema, "$dynamicRef");
            self.problems.extend(refused);
        }
    }

    /// The first schema on our way whose named schema is such.
    fn outermost(&self, such: impl Fn(&Node, Id) -> bool) -> Option<Id> {
        let mut found = None;
        let mut scope = Some(self.scope);
        while let Some(here) = scope {
            let resource = self.nodes[here.schema].resource;
            if such(&self.nodes[resource], resource) {
                found = Some(here.schema);
            }
            scope = here.around;
        }
        found
    }

    fn conditions(&mut self, node: &Node) {
        if let Some(not) = node.not
            && self.same(not, None, true).is_none()
        {
            self.add(|| "'not' failed".to_owned());
        }
        let mut causes = Vec::new();
        for schema in &node.all_of {
            causes.extend(self.same(*schema, None, false));
            if self.quick && !causes.is_empty() {
                break;
            }
        }
        if !causes.is_empty() {
            self.add_with(|| "'allOf' failed".to_owned(), causes);
        }
        self.any_of(&node.any_of);
        self.one_of(&node.one_of);
        if let Some(condition) = node.condition {
            let holds = self.same(condition, None, true).is_none();
            let next = if holds { node.then } else { node.otherwise };
            if let Some(next) = next {
                let refused = self.same(next, None, false);
                self.problems.extend(refused);
            }
        }
    }

    fn any_of(&mut self, schemas: &[Id]) {
        let mut causes = Vec::new();
        let mut matched = schemas.is_empty();
        for schema in schemas {
            if let Some(problem) = self.same(*schema, None, false) {
                causes.push(problem);
            } else {
                matched = true;
                // What is left over depends on all of them.
                if self.unevaluated.is_empty() {
                    break;
                }
            }
        }
        if !matched {
            self.add_with(|| "'anyOf' failed".to_owned(), causes);
        }
    }

    fn one_of(&mut self, schemas: &[Id]) {
        let mut causes = Vec::new();
        let mut matched = None;
        for (place, schema) in schemas.iter().enumerate() {
            match (self.same(*schema, None, matched.is_some()), matched) {
                (Some(problem), None) => causes.push(problem),
                (Some(_), Some(_)) => {}
                (None, None) => matched = Some(place),
                (None, Some(first)) => {
                    self.add(|| format!("'oneOf' failed, subschemas {first}, {place} matched"));
                    break;
                }
            }
        }
        if matched.is_none() && !schemas.is_empty() {
            self.add_with(|| "'oneOf' failed, none matched".to_owned(), causes);
        }
    }

    /// Whether this very schema is already being looked at for the same value.
    fn cycle(&self) -> Option<Problem> {
        let mut scope = self.scope.around;
        while let Some(around) = scope {
            if around.level != self.scope.level {
                return None;
            }
            if around.schema == self.scope.schema {
                let (one, other) = (self.keyword_location(self.scope), self.keyword_location(around));
                let url = fitout_go_template::quote(self.node().location().as_bytes());
                return Some(
                    self.problem(|| format!("both {one} and {other} resolve to {url} causing reference cycle")),
                );
            }
            scope = around.around;
        }
        None
    }

    fn keyword_location(&self, scope: &Scope<'_>) -> String {
        let Some(around) = scope.around else { return String::new() };
        let step = if let Some(keyword) = scope.keyword {
            format!("/{keyword}")
        } else {
            let (here, there) = (self.nodes[scope.schema].location(), self.nodes[around.schema].location());
            here.get(there.len()..).unwrap_or_default().to_owned()
        };
        format!("{}{step}", self.keyword_location(around))
    }
}

fn enumerated(wanted: &[serde_json::Value]) -> String {
    if wanted.iter().any(|item| item.is_array() || item.is_object()) {
        return "'enum' failed".to_owned();
    }
    let shown: Vec<_> = wanted.iter().map(shown).collect();
    let of = if wanted.len() == 1 { "" } else { "one of " };
    format!("value must be {of}{}", shown.join(", "))
}

fn shown(wanted: &serde_json::Value) -> String {
    match wanted {
        serde_json::Value::String(text) => quoted(text),
        serde_json::Value::Null => "<nil>".to_owned(),
        other => other.to_string(),
    }
}
