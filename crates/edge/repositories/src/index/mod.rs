//! A repository's index: which versions of a chart there are, and where.

mod arriving;
mod line;
mod scan;
#[cfg(test)]
mod tests;
mod whole;

use fitout_helm_ranges::Version;
use serde_json::Value;

pub(crate) use arriving::Arriving;
pub(crate) use scan::Fault;
use scan::Scan;
pub(crate) use whole::whole;

/// A version of a chart, as the index has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Release {
    pub(crate) version: String,
    pub(crate) urls: Vec<String>,
    /// As it is written there, which is without the name of the algorithm as a rule.
    pub(crate) digest: Option<String>,
}

impl Release {
    /// What the index has, unless Helm would skip it too: a chart without a name, or whose version is none.
    fn read(value: &Value) -> Option<Self> {
        let text = |key: &str| value.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        text("name")?;
        let version = text("version").filter(|version| Version::parse(version).is_ok())?;
        let urls = value.get("urls").and_then(Value::as_array).into_iter().flatten();
        Some(Self {
            version: version.to_owned(),
            urls: urls.filter_map(Value::as_str).map(str::to_owned).collect(),
            digest: text("digest").map(str::to_owned),
        })
    }
}
