//! The packaging formats of an extension, as its definition names them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Definition;
use crate::rules::{self, Rule};
use crate::{FreeForm, free_form};

/// The packaging format that a definition names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine<'a> {
    /// A Helm chart.
    Helm(&'a Helm),
    /// Plain manifests.
    Manifests(&'a Manifests),
    /// A package of the Operator Lifecycle Manager.
    Olm(&'a Olm),
    /// A program that renders the objects.
    Runtime(&'a Runtime),
}

impl Definition {
    /// The engine that the definition names. A validated definition has exactly one.
    pub fn engine(&self) -> Option<Engine<'_>> {
        let helm = self.helm.as_ref().map(Engine::Helm);
        let manifests = self.manifests.as_ref().map(Engine::Manifests);
        let olm = self.olm.as_ref().map(Engine::Olm);
        let runtime = self.runtime.as_ref().map(Engine::Runtime);
        helm.or(manifests).or(olm).or(runtime)
    }
}

/// The fields of which a definition has exactly one.
pub(super) const ENGINES: [&str; 4] = ["helm", "manifests", "olm", "runtime"];

pub(super) fn exactly_one() -> Rule {
    rules::exactly_one(&ENGINES, "a definition has exactly one engine: helm, manifests, olm or runtime")
}

/// A Helm chart.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Helm {
    /// The chart's name in its repository, or its path within the definition's files.
    #[schemars(length(min = 1, max = 512), transform = rules::file())]
    pub chart: String,
    /// The chart's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub version: Option<String>,
    /// The repository of the chart: an `https://` or `oci://` URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub repository: Option<String>,
    /// The digest of the chart archive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128), transform = rules::digest())]
    pub digest: Option<String>,
    /// Values of the definition. Those of sets and instances override them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "free_form::object")]
    pub values: Option<FreeForm>,
}

/// Plain manifests.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifests {
    /// The file or directory within the definition's files.
    #[schemars(length(min = 1, max = 512), transform = rules::file())]
    pub path: String,
}

/// A package of the Operator Lifecycle Manager.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Olm {
    /// The package's name.
    #[schemars(length(min = 1, max = 253))]
    pub package: String,
    /// The channel to follow. Defaults to the package's default channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub channel: Option<String>,
    /// The image of the index that contains the package.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub index: Option<String>,
}

/// A program that renders the objects.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Runtime {
    /// The program's image, with its digest.
    #[schemars(length(max = 1024), transform = rules::image())]
    pub image: String,
}
