//! The versions of JSON Schema.

use serde_json::Value as Json;

use super::location::{escaped, split};
use super::words::Words;

/// A version of JSON Schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Draft {
    Four,
    Six,
    Seven,
    V2019,
    #[default]
    V2020,
}

/// Where schemas are in a schema.
#[derive(Clone, Copy)]
enum At {
    Itself(&'static str),
    Items(&'static str),
    Values(&'static str),
}

const SUBSCHEMAS: [(Draft, &[At]); 5] = [
    (
        Draft::Four,
        &[
            At::Values("definitions"),
            At::Itself("not"),
            At::Items("allOf"),
            At::Items("anyOf"),
            At::Items("oneOf"),
            At::Values("properties"),
            At::Itself("additionalProperties"),
            At::Values("patternProperties"),
            At::Itself("items"),
            At::Items("items"),
            At::Itself("additionalItems"),
            At::Values("dependencies"),
        ],
    ),
    (Draft::Six, &[At::Itself("propertyNames"), At::Itself("contains")]),
    (Draft::Seven, &[At::Itself("if"), At::Itself("then"), At::Itself("else")]),
    (
        Draft::V2019,
        &[
            At::Values("$defs"),
            At::Values("dependentSchemas"),
            At::Itself("unevaluatedProperties"),
            At::Itself("unevaluatedItems"),
            At::Itself("contentSchema"),
        ],
    ),
    (Draft::V2020, &[At::Items("prefixItems")]),
];

impl Draft {
    /// The newest, which is meant where nobody says which.
    pub(crate) const LATEST: Self = Self::V2020;

    pub(crate) const ALL: [Self; 5] = [Self::Four, Self::Six, Self::Seven, Self::V2019, Self::V2020];

    /// The address of its own schema.
    pub(crate) fn url(self) -> &'static str {
        match self {
            Self::Four => "http://json-schema.org/draft-04/schema",
            Self::Six => "http://json-schema.org/draft-06/schema",
            Self::Seven => "http://json-schema.org/draft-07/schema",
            Self::V2019 => "https://json-schema.org/draft/2019-09/schema",
            Self::V2020 => "https://json-schema.org/draft/2020-12/schema",
        }
    }

    /// The version that `$schema` names.
    pub(crate) fn named(url: &str) -> Option<Self> {
        let (url, fragment) = split(url);
        if !fragment.is_empty() {
            return None;
        }
        let without = |url: &'_ str| -> String {
            url.strip_prefix("http://").or_else(|| url.strip_prefix("https://")).unwrap_or(url).to_owned()
        };
        let name = without(url);
        if name == "json-schema.org/schema" {
            return Some(Self::LATEST);
        }
        Self::ALL.into_iter().find(|draft| without(draft.url()) == name)
    }

    /// The name that a schema gives itself, without what comes behind a `#`.
    pub(crate) fn id(self, schema: &Json) -> Option<&str> {
        // Beside a reference nothing else counted once.
        if self < Self::V2019 && schema.get("$ref").is_some() {
            return None;
        }
        let id = schema.get(self.id_key())?.as_str()?;
        Some(split(id).0).filter(|id| !id.is_empty())
    }

    pub(crate) fn id_key(self) -> &'static str {
        if self == Self::Four { "id" } else { "$id" }
    }

    /// All schemas right inside of a schema, with their pointers.
    pub(crate) fn subschemas<'s>(self, schema: &'s Json, pointer: &str) -> Vec<(String, &'s Json)> {
        let mut found = Vec::new();
        let Some(words) = schema.as_object().map(Words::of) else { return found };
        for (_, places) in SUBSCHEMAS.iter().filter(|(draft, _)| *draft <= self) {
            for place in *places {
                match *place {
                    At::Itself(key) => found.extend(words.get(key).map(|inner| (format!("{pointer}/{key}"), inner))),
                    At::Items(key) => {
                        let items = words.get(key).and_then(Json::as_array).into_iter().flatten();
                        found.extend(items.enumerate().map(|(place, item)| (format!("{pointer}/{key}/{place}"), item)));
                    }
                    At::Values(key) => {
                        let values = words.get(key).and_then(Json::as_object).into_iter().flatten();
                        found.extend(values.map(|(name, value)| (format!("{pointer}/{key}/{}", escaped(name)), value)));
                    }
                }
            }
        }
        found
    }
}
