//! Schemas.

use serde_json::{Map as Object, Value as Json, json};

use super::Chance;

const DRAFTS: &[&str] = &[
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-07/schema",
    "https://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
    "http://json-schema.org/schema#",
];
const NAMES: &[&str] = &["a", "b", "c", "sub", "global", "data", "x'y", "a/b", "é"];
const TYPES: &[&str] = &["object", "object", "string", "array", "integer", "number", "boolean", "null"];
const PATTERNS: &[&str] = &["^[a-z]+$", "x", "^$", "\\d{2,}", "[", "(?i)A", "^(a|b)", "\\p{L}"];
const FORMATS: &[&str] = &[
    "date",
    "date-time",
    "time",
    "email",
    "hostname",
    "ipv4",
    "uri",
    "uri-reference",
    "regex",
    "uuid",
    "semver",
    "duration",
    "json-pointer",
    "relative-json-pointer",
    "period",
    "unknown",
];
const TEXTS: &[&str] = &[
    "",
    "x",
    "a@b.c",
    "2020-01-01",
    "2020-13-01",
    "2020-02-30",
    "2020-01-01T00:00:00Z",
    "12:00:00Z",
    "http://a/b",
    "P1D",
    "1.2.3",
    "a..b",
    "-a",
    "1.2.3.4",
    "256.1.1.1",
    "01.2.3.4",
    "[",
    "/a~1b",
    "0#",
    "00/a",
    "it's \"so\"",
    "a b",
    "é",
    "12",
    "P",
    "1.2.3-01",
    "2020-1-1",
    "12:00:60+01:00",
    "x@-a",
    "\"q\"@a",
    "123e4567-e89b-12d3-a456-426614174000",
    "123e4567-e89b-12d3-a456-42661417400g",
    "a_b",
];

impl Chance {
    /// A schema, and values for it.
    pub(crate) fn schema(&mut self) -> Json {
        let mut schema = self.schema_object(3);
        if !self.one_in(4) {
            schema.insert("$schema".to_owned(), json!(self.one_of(DRAFTS)));
        }
        let mut definitions = Object::new();
        for name in ["one", "two"] {
            definitions.insert(name.to_owned(), self.subschema(2));
        }
        let key = self.one_of(&["definitions", "$defs"]);
        schema.insert(key.to_owned(), Json::Object(definitions));
        let values = self.instance(3);
        let values = if values.is_object() { values } else { json!({ "a": values }) };
        json!({"op": "schema", "text": Json::Object(schema).to_string(), "values": values})
    }

    fn subschema(&mut self, depth: usize) -> Json {
        match self.below(12) {
            0 => json!(true),
            1 => json!(false),
            2 | 3 => {
                let target = self.one_of(&[
                    "#/definitions/one",
                    "#/$defs/one",
                    "#/definitions/two",
                    "#/$defs/two",
                    "#",
                    "#/properties/a",
                ]);
                json!({ "$ref": target })
            }
            _ => Json::Object(self.schema_object(depth)),
        }
    }

    fn schema_object(&mut self, depth: usize) -> Object<String, Json> {
        let mut schema = Object::new();
        if self.one_in(2) || depth == 3 {
            schema.insert("properties".to_owned(), self.properties(depth));
        }
        for _ in 0..self.below(4) {
            let (key, value) = self.keyword(depth);
            schema.insert(key.to_owned(), value);
        }
        schema
    }

    fn properties(&mut self, depth: usize) -> Json {
        let mut object = Object::new();
        for _ in 0..=self.below(3) {
            let name = self.one_of(NAMES);
            let schema = if depth == 0 { json!({ "type": self.one_of(TYPES) }) } else { self.subschema(depth - 1) };
            object.insert(name.to_owned(), schema);
        }
        Json::Object(object)
    }

    fn inner(&mut self, depth: usize) -> Json {
        if depth == 0 { json!({ "type": self.one_of(TYPES) }) } else { self.subschema(depth - 1) }
    }

    fn inners(&mut self, depth: usize) -> Json {
        (0..=self.below(2)).map(|_| self.inner(depth)).collect()
    }

    fn names(&mut self) -> Json {
        let mut names: Vec<_> = (0..=self.below(2)).map(|_| self.one_of(NAMES)).collect();
        if !self.one_in(12) {
            names.sort_unstable();
            names.dedup();
        }
        json!(names)
    }

    fn size(&mut self) -> Json {
        if self.one_in(20) { json!(self.one_of(&[-1.0, 1.5])) } else { json!(self.below(4)) }
    }

    fn keyword(&mut self, depth: usize) -> (&'static str, Json) {
        match self.below(36) {
            0..=3 => ("type", json!(self.one_of(TYPES))),
            4 => ("type", json!(["string", "null"])),
            5 => ("type", json!(self.one_of(&["foo", ""]))),
            6 => ("enum", json!(["x", 1, null, true, 1.5])),
            7 => ("enum", json!(["x"])),
            8 => ("enum", json!([{"a": 1}, [1], "x"])),
            9 => ("const", self.instance(1)),
            10..=12 => ("required", self.names()),
            13..=14 => ("additionalProperties", if self.one_in(2) { json!(false) } else { self.inner(depth) }),
            15 => ("patternProperties", json!({ self.one_of(PATTERNS): self.inner(depth) })),
            16 => (
                self.one_of(&["minProperties", "maxProperties", "minItems", "maxItems", "minLength", "maxLength"]),
                self.size(),
            ),
            17 => (
                self.one_of(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]),
                json!(self.one_of(&[0.0, 1.0, 1.5, -3.0, 1e6, 1234.5])),
            ),
            18 => ("multipleOf", json!(self.one_of(&[0.1, 2.0, 1.5, 0.0]))),
            19 => ("pattern", json!(self.one_of(PATTERNS))),
            20..=21 => ("format", json!(self.one_of(FORMATS))),
            22 => ("items", if self.one_in(3) { self.inners(depth) } else { self.inner(depth) }),
            23 => ("additionalItems", if self.one_in(2) { json!(false) } else { self.inner(depth) }),
            24 => ("prefixItems", self.inners(depth)),
            25 => ("contains", self.inner(depth)),
            26 => (self.one_of(&["minContains", "maxContains"]), self.size()),
            27 => ("uniqueItems", json!(true)),
            28 => ("propertyNames", json!({ "pattern": self.one_of(PATTERNS), "maxLength": 1 })),
            29 => ("dependencies", json!({ self.one_of(NAMES): self.names(), "c": self.inner(depth) })),
            30 => ("dependentRequired", json!({ self.one_of(NAMES): self.names() })),
            31 => ("dependentSchemas", json!({ self.one_of(NAMES): self.inner(depth) })),
            32 => (
                self.one_of(&["unevaluatedProperties", "unevaluatedItems"]),
                if self.one_in(2) { json!(false) } else { self.inner(depth) },
            ),
            33 => ("not", self.inner(depth)),
            34 => (self.one_of(&["allOf", "anyOf", "oneOf"]), self.inners(depth)),
            _ => (self.one_of(&["if", "then", "else"]), self.inner(depth)),
        }
    }

    fn instance(&mut self, depth: usize) -> Json {
        if depth > 0 && !self.one_in(4) {
            let mut object = Object::new();
            for _ in 0..=self.below(3) {
                let name = self.one_of(NAMES);
                let value = self.instance(depth - 1);
                object.insert(name.to_owned(), value);
            }
            return Json::Object(object);
        }
        match self.below(8) {
            0 => json!(null),
            1 => json!(self.one_in(2)),
            2 => json!(self.one_of(&[0.5, 1.5, 1_234_567.5, -2.25])),
            3 => json!(self.one_of(&[0, 1, 2, 3, 70000, -5])),
            4 | 5 => json!(self.one_of(TEXTS)),
            _ => {
                let count = self.below(4);
                (0..count).map(|_| self.instance(depth.saturating_sub(1))).collect()
            }
        }
    }
}
