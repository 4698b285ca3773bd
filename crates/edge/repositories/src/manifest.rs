//! A chart's manifest in a registry.

use serde::Deserialize;

/// What registries are asked for.
pub(crate) const ACCEPTED: &str = "application/vnd.oci.image.manifest.v1+json";

const CONFIG: &str = "application/vnd.cncf.helm.config.v1+json";

/// The second is what Helm wrote before it had a name of its own.
const ARCHIVE: [&str; 2] = ["application/vnd.cncf.helm.chart.content.v1.tar+gzip", "application/tar+gzip"];

/// Something in the registry.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Part {
    #[serde(default)]
    media_type: String,
    pub(crate) digest: String,
    pub(crate) size: u64,
}

/// A chart: what is in its `Chart.yaml`, and the archive.
pub(crate) struct Manifest {
    pub(crate) config: Part,
    pub(crate) archive: Part,
}

impl Manifest {
    /// Reads a chart's manifest. Why it is none is the error.
    pub(crate) fn read(text: &[u8]) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Raw {
            config: Option<Part>,
            #[serde(default)]
            layers: Vec<Part>,
        }
        let raw: Raw = serde_json::from_slice(text).map_err(|error| format!("its manifest is none: {error}"))?;
        let config = raw.config.filter(|config| config.media_type == CONFIG).ok_or("its manifest is not a chart's")?;
        let archive = raw.layers.into_iter().find(|layer| ARCHIVE.contains(&layer.media_type.as_str()));
        Ok(Self { config, archive: archive.ok_or("its manifest has no archive")? })
    }
}
