//! The definition: the specification of one version of an extension.
//!
//! This type is the single source: catalogs parse it strictly with [`parse_definition`], and the CRD takes its schema and its
//! CEL rules from it.

mod access;
mod checks;
mod engine;
mod parse;
mod relations;
mod requirements;
mod shape;

pub use access::{AccessRule, Role};
pub use engine::{Engine, Helm, Manifests, Olm, Runtime};
pub(crate) use parse::deserialize;
pub use parse::parse_definition;
pub use relations::{Conflict, Dependency};
pub use requirements::{InternetAccess, Reach, Requirements, Webhook, WebhookKind, WebhookRule};
pub(crate) use shape::{check_field, schema};

use schemars::JsonSchema;
use semver::Version;
use serde::{Deserialize, Serialize};

use crate::rules::{self, Rule};
use crate::{FreeForm, free_form};

/// One version of an extension. A definition is immutable.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[schemars(
    transform = rules::fixed("a definition never changes: apply another with a new version and a new name"),
    transform = engine::exactly_one(),
    transform = platform_requires_native(),
)]
pub struct Definition {
    /// The name of the extension.
    #[schemars(length(max = 253), transform = rules::label("an extension", 63))]
    pub extension: String,
    /// The version, as in Semantic Versioning, such as 1.21.2.
    #[schemars(with = "String", length(max = 128), transform = rules::semver())]
    pub version: Version,
    /// The versions that can be upgraded to this one in place. Defaults to those of the same major version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256), transform = rules::range())]
    pub upgrade_from: Option<String>,
    /// The version of the application that it installs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub app_version: Option<String>,
    /// The name that the console shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub display_name: Option<String>,
    /// Its purpose in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 512))]
    pub summary: Option<String>,
    /// Its publisher.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub publisher: Option<String>,
    /// The file with its logo.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 512), transform = rules::file())]
    pub logo: Option<String>,
    /// The file with its long description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 512), transform = rules::file())]
    pub description: Option<String>,
    /// Its licence, as an SPDX expression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub license: Option<String>,
    /// Links to further information.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    pub links: Vec<Link>,
    /// The categories under which catalogs list it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), inner(length(max = 64)))]
    pub categories: Vec<String>,
    /// The file with its changelog.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 512), transform = rules::file())]
    pub changelog: Option<String>,
    /// Whether its lifecycle follows its own versions or those of the platform.
    #[serde(default)]
    pub lifecycle: Lifecycle,
    /// The Kubernetes versions that it supports. Defaults to any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256), transform = rules::range())]
    pub kubernetes: Option<String>,
    /// The platform versions that a native extension supports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256), transform = rules::range())]
    pub platform: Option<String>,
    /// Whether a cluster has at most one instance of it. Defaults to true where it has CRDs or fixed cluster-wide names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub singleton: Option<bool>,
    /// Whether it can be installed before the cluster has a Ready node, as a network plugin must be.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bootstrap: bool,
    /// The permissions and capabilities it needs, for approval. Defaults to none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requirements: Option<Requirements>,
    /// The extensions that have to be installed and healthy before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub dependencies: Vec<Dependency>,
    /// Capabilities that other extensions can name as a dependency instead of this extension.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(max = 128)))]
    pub provides: Vec<String>,
    /// The extensions that must not be installed on the same cluster.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub conflicts: Vec<Conflict>,
    /// Extensions that complement it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(max = 128)))]
    pub suggests: Vec<String>,
    /// The file with the JSON Schema of its values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 512), transform = rules::file())]
    pub parameters: Option<String>,
    /// The custom resource that configures it, where `parameters` do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "free_form::object")]
    pub configuration: Option<FreeForm>,
    /// The Helm chart, where it is packaged as one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub helm: Option<Helm>,
    /// The plain manifests, where it is packaged as such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifests: Option<Manifests>,
    /// The package of the Operator Lifecycle Manager, where it is packaged as one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub olm: Option<Olm>,
    /// The program that renders it, where it is packaged with one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<Runtime>,
    /// Custom resources to create once its operator is healthy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "free_form::objects")]
    pub operands: Vec<FreeForm>,
    /// All images that it may pull, each with its digest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), inner(length(max = 512)), transform = rules::images())]
    pub images: Vec<String>,
    /// Roles that can be granted to users.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    pub roles: Vec<Role>,
    /// The resources that the console lists for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "free_form::object")]
    pub menu: Option<FreeForm>,
    /// Further pages that the console shows for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "free_form::object")]
    pub pages: Option<FreeForm>,
}

fn platform_requires_native() -> Rule {
    Rule::new(
        "!has(self.platform) || self.lifecycle == 'Native'",
        "'platform' is for native extensions: set 'lifecycle' to Native, or leave 'platform' out",
    )
}

/// The versions that the lifecycle of an extension follows.
#[derive(JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Lifecycle {
    /// Its own versions and those of Kubernetes.
    #[default]
    External,
    /// The versions of the platform.
    Native,
}

/// A link to further information.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// The title of the link.
    #[schemars(length(min = 1, max = 128))]
    pub name: String,
    /// The URL.
    #[schemars(length(min = 1, max = 1024))]
    pub url: String,
}
