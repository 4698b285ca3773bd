//! The OCI manifest of a chart.

use serde::Deserialize;

use crate::ChartError;

/// The media type of an OCI image manifest.
pub(crate) const MANIFEST_TYPE: &str = "application/vnd.oci.image.manifest.v1+json";

const CONFIG_TYPE: &str = "application/vnd.cncf.helm.config.v1+json";

/// Media types of a chart's archive; the second is that of older versions of Helm.
const ARCHIVE_TYPES: [&str; 2] = ["application/vnd.cncf.helm.chart.content.v1.tar+gzip", "application/tar+gzip"];

/// An OCI descriptor, which refers to a blob.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Descriptor {
    #[serde(default)]
    media_type: String,
    pub(crate) digest: String,
    pub(crate) size: u64,
}

/// The manifest of a chart: its config, which is `Chart.yaml` as JSON, and its archive.
pub(crate) struct Manifest {
    pub(crate) config: Descriptor,
    pub(crate) archive: Descriptor,
}

impl Manifest {
    /// Parses the manifest of a chart.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, ChartError> {
        #[derive(Deserialize)]
        struct Raw {
            config: Option<Descriptor>,
            #[serde(default)]
            layers: Vec<Descriptor>,
        }
        let raw: Raw = serde_json::from_slice(text).map_err(ChartError::Manifest)?;
        let config = raw.config.filter(|config| config.media_type == CONFIG_TYPE).ok_or(ChartError::Config)?;
        let archive = raw.layers.into_iter().find(|layer| ARCHIVE_TYPES.contains(&layer.media_type.as_str()));
        Ok(Self { config, archive: archive.ok_or(ChartError::NoArchive)? })
    }
}
