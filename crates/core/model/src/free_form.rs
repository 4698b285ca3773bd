//! JSON whose content is not ours to describe.

use schemars::{Schema, SchemaGenerator, json_schema};

/// A JSON object whose content is not ours to describe.
pub type FreeForm = serde_json::Map<String, serde_json::Value>;

/// The schema of an object that may hold anything, null included.
///
/// It is a map of unknown values, and not an object with unknown fields: of such an object the API server's `self == oldSelf`
/// does not see that a field was renamed, so what should never change could. The price is that rules cannot look at it.
pub fn object(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "additionalProperties": { "nullable": true, "x-kubernetes-preserve-unknown-fields": true },
    })
}

/// The schema of a list of objects that may hold anything.
pub fn objects(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": object(generator), "maxItems": 64 })
}
