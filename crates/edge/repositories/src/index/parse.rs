//! Parses a whole index: JSON, or YAML that the scan does not support.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::Release;
use crate::IndexError;

/// Parses the versions of a chart; none if the index does not have it.
pub(crate) fn parse_whole(text: &[u8], chart: &str) -> Result<Option<Vec<Release>>, IndexError> {
    let (has_version, releases) = match Json(chart).deserialize(&mut serde_json::Deserializer::from_slice(text)) {
        Ok(found) => found,
        // Like Helm, parse as YAML whatever is not JSON.
        Err(_) => yaml(text, chart)?,
    };
    if !has_version {
        return Err(IndexError::NoApiVersion);
    }
    let releases = releases.map(|releases| match releases {
        Value::Array(items) => Ok(items.iter().filter_map(Release::read).collect()),
        Value::Null => Ok(Vec::new()),
        _ => Err(IndexError::Versions(chart.to_owned())),
    });
    releases.transpose()
}

/// Whether the index has an `apiVersion`, and its entry of the chart.
type Found = (bool, Option<Value>);

fn yaml(text: &[u8], chart: &str) -> Result<Found, IndexError> {
    let top = fitout_go_yaml::top(text, |key| matches!(key, "apiVersion" | "entries"));
    let Value::Object(mut top) = top.map_err(IndexError::Yaml)? else {
        return Err(IndexError::NotAMapping);
    };
    let has_version = top.get("apiVersion").and_then(Value::as_str).is_some_and(|version| !version.is_empty());
    let releases = match top.remove("entries") {
        Some(Value::Object(mut entries)) => entries.remove(chart),
        Some(Value::Null) | None => None,
        Some(_) => return Err(IndexError::Entries),
    };
    Ok((has_version, releases))
}

/// Deserializes `apiVersion` and the entry of one chart, and skips everything else.
struct Json<'c>(&'c str);

/// Deserializes the entry of one chart.
struct Entries<'c>(&'c str);

impl<'de> DeserializeSeed<'de> for Json<'_> {
    type Value = Found;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Found, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Json<'_> {
    type Value = Found;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an index")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Found, A::Error> {
        let mut found = (false, None);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "apiVersion" => found.0 = !map.next_value::<String>()?.is_empty(),
                "entries" => found.1 = map.next_value_seed(Entries(self.0))?,
                _ => map.next_value::<IgnoredAny>().map(drop)?,
            }
        }
        Ok(found)
    }
}

impl<'de> DeserializeSeed<'de> for Entries<'_> {
    type Value = Option<Value>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Entries<'_> {
    type Value = Option<Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("charts by their names")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(key) = map.next_key::<String>()? {
            if key == self.0 {
                found = Some(map.next_value::<Value>()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}
