//! JSON objects without a fixed schema.

use schemars::{Schema, SchemaGenerator, json_schema};

/// A JSON object without a fixed schema.
pub type FreeForm = serde_json::Map<String, serde_json::Value>;

/// The schema of an object with any content, null included.
///
/// It is a map of unknown values instead of an object with unknown fields, because `self == oldSelf` in CEL does not notice a
/// renamed unknown field, so that an immutable field could change. In return, CEL rules cannot read the values.
pub fn object(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "additionalProperties": { "nullable": true, "x-kubernetes-preserve-unknown-fields": true },
    })
}

/// The schema of a list of such objects.
pub fn objects(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": object(generator), "maxItems": 64 })
}
