//! The index of a repository: the versions of a chart, their URLs and digests.

mod line;
mod parse;
mod reader;
mod scan;
#[cfg(test)]
mod tests;

use fitout_helm_ranges::Version;
use serde_json::Value;

pub(crate) use parse::parse_whole;
pub(crate) use reader::IndexReader;
use scan::Scan;
pub(crate) use scan::ScanError;

/// A version of a chart in an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Release {
    pub(crate) version: String,
    pub(crate) urls: Vec<String>,
    /// The digest as in the index, usually without `sha256:`.
    pub(crate) digest: Option<String>,
}

impl Release {
    /// Reads an entry; none for one that Helm skips too, without a name or with an invalid version.
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
