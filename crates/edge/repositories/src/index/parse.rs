//! Parses a whole index: JSON, or YAML that the scan does not support.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::{Charts, Found};
use crate::IndexError;

/// Parses an index as a whole. `charts` creates the receiver, which starts anew where the text is not JSON.
pub(crate) fn parse_whole<C: Charts>(text: &[u8], charts: impl Fn() -> C) -> Result<Found<C>, IndexError> {
    let mut index = Json::new(charts());
    // Like Helm, parse as YAML whatever is not JSON.
    match (&mut index).deserialize(&mut serde_json::Deserializer::from_slice(text)) {
        Ok(()) => {}
        Err(_) if index.error.is_some() => {}
        Err(_) => {
            index = Json::new(charts());
            yaml(text, &mut index)?;
        }
    }
    match index.error {
        Some(error) => Err(error),
        None if !index.has_version => Err(IndexError::NoApiVersion),
        None => Ok(Found { charts: index.charts, generated: index.generated }),
    }
}

fn yaml<C: Charts>(text: &[u8], index: &mut Json<C>) -> Result<(), IndexError> {
    let top = fitout_go_yaml::top(text, |key| matches!(key, "apiVersion" | "entries" | "generated"));
    let Value::Object(mut top) = top.map_err(IndexError::Yaml)? else {
        return Err(IndexError::NotAMapping);
    };
    index.has_version = top.get("apiVersion").and_then(Value::as_str).is_some_and(|version| !version.is_empty());
    index.generated = top.get("generated").and_then(Value::as_str).map(str::to_owned);
    match top.remove("entries") {
        Some(Value::Object(entries)) => {
            for (chart, versions) in entries {
                if index.charts.begin(&chart)? {
                    index.add_versions(&chart, versions)?;
                }
            }
            Ok(())
        }
        Some(Value::Null) | None => Ok(()),
        Some(_) => Err(IndexError::Entries),
    }
}

/// Deserializes an index: hands its charts on, and skips all keys that are not needed.
struct Json<C> {
    charts: C,
    has_version: bool,
    generated: Option<String>,
    /// An error of the index that is not one of JSON.
    error: Option<IndexError>,
}

/// Deserializes the entries of an index.
struct Entries<'i, C>(&'i mut Json<C>);

impl<C: Charts> Json<C> {
    fn new(charts: C) -> Self {
        Self { charts, has_version: false, generated: None, error: None }
    }

    fn add_versions(&mut self, chart: &str, versions: Value) -> Result<(), IndexError> {
        match versions {
            Value::Array(entries) => entries.into_iter().try_for_each(|entry| self.charts.add(entry))?,
            Value::Null => {}
            _ => return Err(IndexError::Versions(chart.to_owned())),
        }
        self.charts.end();
        Ok(())
    }
}

impl<'de, C: Charts> DeserializeSeed<'de> for &mut Json<C> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de, C: Charts> Visitor<'de> for &mut Json<C> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an index")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "apiVersion" => self.has_version = !map.next_value::<String>()?.is_empty(),
                "generated" => self.generated = map.next_value::<Value>()?.as_str().map(str::to_owned),
                "entries" => map.next_value_seed(Entries(&mut *self))?,
                _ => map.next_value::<IgnoredAny>().map(drop)?,
            }
        }
        Ok(())
    }
}

impl<'de, C: Charts> DeserializeSeed<'de> for Entries<'_, C> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de, C: Charts> Visitor<'de> for Entries<'_, C> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("charts by their names")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let index = self.0;
        while let Some(chart) = map.next_key::<String>()? {
            let result = match index.charts.begin(&chart) {
                Ok(false) => map.next_value::<IgnoredAny>().map(|_| Ok(()))?,
                Ok(true) => {
                    let versions = map.next_value::<Value>()?;
                    index.add_versions(&chart, versions)
                }
                Err(error) => Err(error),
            };
            if let Err(error) = result {
                index.error = Some(error);
                return Err(A::Error::custom("the index is invalid"));
            }
        }
        Ok(())
    }
}
