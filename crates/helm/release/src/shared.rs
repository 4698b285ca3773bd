//! A chart that many records have.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use flate2::Compression;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::packed::Part;
use crate::{Chart, Error};

/// A chart with what it takes up in a record: that is most of it, and is made once for all who share the chart. A clone
/// shares it.
#[derive(Clone)]
pub struct SharedChart(Arc<Shared>);

struct Shared {
    chart: Chart,
    packed: OnceLock<Part>,
    brief: OnceLock<SharedChart>,
}

/// Most of a chart, and nothing that a release is upgraded, brought back or removed by.
const FILES: [&str; 2] = ["files", "templates"];

/// Half the time of the usual, for a text that is a twentieth longer: for what is packed each time.
pub(crate) const QUICK: Compression = Compression::new(3);

impl SharedChart {
    /// The same without its files: for a record that is soon another.
    pub fn brief(&self) -> &Self {
        self.0.brief.get_or_init(|| {
            let mut chart = self.0.chart.clone();
            chart.rest.retain(|part, _| !FILES.contains(&part.as_str()));
            chart.into()
        })
    }

    /// Whether it has no files.
    pub fn is_brief(&self) -> bool {
        FILES.iter().all(|part| self.0.chart.rest.get(*part).is_none_or(Value::is_null))
    }

    /// The beginning of a record.
    pub(crate) fn packed(&self) -> Result<&Part, Error> {
        if let Some(known) = self.0.packed.get() {
            return Ok(known);
        }
        let part = Part::new(&self.beginning()?, Compression::default())?;
        Ok(self.0.packed.get_or_init(|| part))
    }

    /// About how many bytes are still to be packed.
    pub(crate) fn unpacked(&self) -> usize {
        if self.0.packed.get().is_some() {
            return 0;
        }
        let texts = self.0.chart.rest.values().filter_map(Value::as_array).flatten();
        texts.filter_map(|file| Some(file.get("data")?.as_str()?.len())).sum()
    }

    /// The same, as it is before it is packed.
    pub(crate) fn beginning(&self) -> Result<Vec<u8>, Error> {
        let mut json = br#"{"chart":"#.to_vec();
        serde_json::to_writer(&mut json, &self.0.chart).map_err(Error::NotARelease)?;
        json.push(b',');
        Ok(json)
    }
}

impl From<Chart> for SharedChart {
    fn from(chart: Chart) -> Self {
        Self(Arc::new(Shared { chart, packed: OnceLock::new(), brief: OnceLock::new() }))
    }
}

impl Deref for SharedChart {
    type Target = Chart;

    fn deref(&self) -> &Chart {
        &self.0.chart
    }
}

impl fmt::Debug for SharedChart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chart.fmt(f)
    }
}

impl PartialEq for SharedChart {
    fn eq(&self, other: &Self) -> bool {
        self.0.chart == other.0.chart
    }
}

impl Serialize for SharedChart {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.chart.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for SharedChart {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Chart::deserialize(deserializer).map(Into::into)
    }
}
