//! Validations of a schema that are tighter than before.

use serde_json::Value;

/// Upper bounds: tighter where smaller.
const UPPER: [(&str, &str); 4] = [
    ("maximum", "may be at most"),
    ("maxLength", "may be no longer than"),
    ("maxItems", "may have no more items than"),
    ("maxProperties", "may have no more fields than"),
];

/// Lower bounds with their default: tighter where larger.
const LOWER: [(&str, &str, Option<f64>); 4] = [
    ("minimum", "has to be at least", None),
    ("minLength", "may be no shorter than", Some(0.0)),
    ("minItems", "may have no fewer items than", Some(0.0)),
    ("minProperties", "may have no fewer fields than", Some(0.0)),
];

/// The formats that an API server validates; it ignores others. Every integer is an `int64`.
const VALIDATED_FORMATS: [&str; 29] = [
    "bsonobjectid",
    "byte",
    "cidr",
    "creditcard",
    "date",
    "date-time",
    "datetime",
    "duration",
    "email",
    "float",
    "hexcolor",
    "hostname",
    "int32",
    "ipv4",
    "ipv6",
    "isbn",
    "isbn10",
    "isbn13",
    "k8s-long-name",
    "k8s-short-name",
    "mac",
    "rgbcolor",
    "ssn",
    "uint32",
    "uri",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
];

/// The new restrictions on a value, each as the predicate of a sentence.
pub(super) fn tightened(old: &Value, new: &Value) -> Vec<String> {
    let mut found = Vec::new();
    found.extend(choices(old, new));
    for (field, sentence) in UPPER {
        let exclusive = field == "maximum" && becomes_exclusive(old, new, field, "exclusiveMaximum");
        if let Some(after) = new[field].as_f64()
            && (exclusive || old[field].as_f64().is_none_or(|before| after < before))
        {
            let less = if new["exclusiveMaximum"] == true && field == "maximum" { ", exclusive" } else { "" };
            found.push(format!("now {sentence} {}{less}", new[field]));
        }
    }
    for (field, sentence, least) in LOWER {
        let exclusive = field == "minimum" && becomes_exclusive(old, new, field, "exclusiveMinimum");
        if let Some(after) = new[field].as_f64()
            && (exclusive || old[field].as_f64().or(least).is_none_or(|before| after > before))
        {
            let more = if new["exclusiveMinimum"] == true && field == "minimum" { ", exclusive" } else { "" };
            found.push(format!("now {sentence} {}{more}", new[field]));
        }
    }
    for (field, sentence) in [("pattern", "has to match"), ("multipleOf", "has to be a multiple of")] {
        if !new[field].is_null() && old[field] != new[field] {
            found.push(format!("now {sentence} {}", text(&new[field])));
        }
    }
    if let Some(format) = new["format"].as_str().filter(|format| VALIDATED_FORMATS.contains(format))
        && old["format"] != new["format"]
    {
        found.push(format!("now has to have the format {format}"));
    }
    found
}

/// Whether an equal bound has become exclusive.
fn becomes_exclusive(old: &Value, new: &Value, field: &str, exclusive: &str) -> bool {
    old[field].as_f64() == new[field].as_f64() && new[exclusive] == true && old[exclusive] != true
}

fn choices(old: &Value, new: &Value) -> Option<String> {
    let after = new["enum"].as_array()?;
    let listed = |values: &[&Value]| values.iter().map(|value| text(value)).collect::<Vec<_>>().join(", ");
    let Some(before) = old["enum"].as_array() else {
        return Some(format!("may now only be {}", listed(&after.iter().collect::<Vec<_>>())));
    };
    let removed: Vec<&Value> = before.iter().filter(|value| !after.contains(value)).collect();
    (!removed.is_empty()).then(|| format!("may no longer be {}", listed(&removed)))
}

/// A value as text, strings without quotes.
pub(super) fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
