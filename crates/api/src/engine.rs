//! The packagings that an extension may come in, as its definition names them.

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{FreeForm, rules, schema};

/// A Helm chart.
#[derive(KubeSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Helm {
    /// The chart's name in its repository, or its path within the definition's own files.
    #[schemars(length(min = 1, max = 512))]
    #[x_kube(validation = rules::file())]
    pub chart: String,
    /// The chart's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub version: Option<String>,
    /// The repository the chart is in: an `https://` or `oci://` address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub repository: Option<String>,
    /// The digest of the packaged chart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    #[x_kube(validation = rules::digest())]
    pub digest: Option<String>,
    /// Values that come before those of sets and instances.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::free_form")]
    pub values: Option<FreeForm>,
}

/// Plain manifests.
#[derive(KubeSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifests {
    /// The file, or the directory of files, within the definition's own files.
    #[schemars(length(min = 1, max = 512))]
    #[x_kube(validation = rules::file())]
    pub path: String,
}

/// A package of the Operator Lifecycle Manager.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Olm {
    /// The package's name.
    #[schemars(length(min = 1, max = 253))]
    pub package: String,
    /// The channel to follow; absent: the package's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub channel: Option<String>,
    /// The image of the index that the package is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub index: Option<String>,
}

/// A program that makes the objects.
#[derive(KubeSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Runtime {
    /// The program's image, with its digest.
    #[schemars(length(max = 1024))]
    #[x_kube(validation = rules::image())]
    pub image: String,
}
