//! OCI manifests of charts and catalogs, and their media types.

use std::collections::BTreeMap;

use fitout_model::Digest;
use serde::{Deserialize, Serialize};

use crate::address::sha256;
use crate::{CatalogError, ChartError};

/// The media type of an OCI image manifest.
pub(crate) const MANIFEST_TYPE: &str = "application/vnd.oci.image.manifest.v1+json";

/// The media type of a chart's config, which is `Chart.yaml` as JSON.
pub(crate) const CHART_CONFIG_TYPE: &str = "application/vnd.cncf.helm.config.v1+json";

/// Media types of a chart's archive; the second is that of older versions of Helm.
pub(crate) const CHART_TYPES: [&str; 2] =
    ["application/vnd.cncf.helm.chart.content.v1.tar+gzip", "application/tar+gzip"];

/// The media type of a chart's provenance file.
pub(crate) const PROVENANCE_TYPE: &str = "application/vnd.cncf.helm.chart.provenance.v1.prov";

/// The media type of a catalog's config, which is an empty JSON object.
pub(crate) const CATALOG_CONFIG_TYPE: &str = "application/vnd.fitout.catalog.config.v1+json";

/// The media type of the archive with a catalog's definitions.
pub(crate) const CATALOG_TYPE: &str = "application/vnd.fitout.catalog.v1.tar+gzip";

/// An OCI descriptor, which refers to a blob.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Descriptor {
    #[serde(default)]
    pub(crate) media_type: String,
    pub(crate) digest: String,
    pub(crate) size: u64,
}

impl Descriptor {
    /// The descriptor of a blob with this content.
    pub(crate) fn of(media_type: &str, content: &[u8]) -> Self {
        let digest = Digest::of(content).to_string();
        Self { media_type: media_type.to_owned(), digest, size: content.len() as u64 }
    }
}

/// A manifest to write. Its fields have the order in which Helm writes them.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NewManifest {
    pub(crate) schema_version: u8,
    /// None for a chart, as Helm leaves it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) media_type: Option<&'static str>,
    pub(crate) config: Descriptor,
    pub(crate) layers: Vec<Descriptor>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) annotations: BTreeMap<String, String>,
}

/// A manifest as it is read.
#[derive(Deserialize)]
struct Raw {
    config: Option<Descriptor>,
    #[serde(default)]
    layers: Vec<Descriptor>,
}

/// The manifest of a chart: its config, which is `Chart.yaml` as JSON, and its archive.
pub(crate) struct Manifest {
    pub(crate) config: Descriptor,
    pub(crate) archive: Descriptor,
}

impl Manifest {
    /// Parses the manifest of a chart.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, ChartError> {
        let raw: Raw = serde_json::from_slice(text).map_err(ChartError::Manifest)?;
        let config = raw.config.filter(|config| config.media_type == CHART_CONFIG_TYPE).ok_or(ChartError::Config)?;
        let archive = raw.layers.into_iter().find(|layer| CHART_TYPES.contains(&layer.media_type.as_str()));
        Ok(Self { config, archive: archive.ok_or(ChartError::NoArchive)? })
    }
}

/// Parses the manifest of a catalog, and returns its layer with the definitions.
pub(crate) fn catalog_layer(text: &[u8]) -> Result<Descriptor, CatalogError> {
    let raw: Raw = serde_json::from_slice(text).map_err(CatalogError::Manifest)?;
    let layer = raw.layers.into_iter().find(|layer| layer.media_type == CATALOG_TYPE).ok_or(CatalogError::NoLayer)?;
    match sha256(&layer.digest).filter(|digest| *digest == layer.digest) {
        Some(_) => Ok(layer),
        None => Err(CatalogError::Digest(layer.digest)),
    }
}
