//! The definition: all that one version of an extension declares.
//!
//! It is typed once, here: catalogs read it strictly with [`parse_definition`], and the CRD has its schema and its rules from
//! the same type.

mod access;
mod checks;
mod engine;
mod parse;
mod relations;
mod requirements;
mod shape;

pub use access::{AccessRule, Role};
pub use engine::{Engine, Helm, Manifests, Olm, Runtime};
pub use parse::parse_definition;
pub use relations::{Conflict, Dependency};
pub use requirements::{InternetAccess, Reach, Requirements, Webhook, WebhookKind, WebhookRule};
use schemars::JsonSchema;
use semver::Version;
use serde::{Deserialize, Serialize};

use crate::rules::{self, Rule};
use crate::{FreeForm, free_form};

/// One version of an extension. It never changes: what was read once is what it is.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[schemars(
    transform = rules::fixed("a definition never changes: apply another with a new version and a new name"),
    transform = engine::exactly_one(),
    transform = platform_is_for_native_extensions(),
)]
pub struct Definition {
    /// The extension this is a version of.
    #[schemars(length(max = 253), transform = rules::label("an extension", 63))]
    pub extension: String,
    /// The version, three numbers and perhaps a pre-release, such as 1.21.2.
    #[schemars(with = "String", length(max = 128), transform = rules::semver())]
    pub version: Version,
    /// The versions that this one may replace in place; absent: those of the same major version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256), transform = rules::range())]
    pub upgrade_from: Option<String>,
    /// The version of what it installs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub app_version: Option<String>,
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub display_name: Option<String>,
    /// What it is for, in a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 512))]
    pub summary: Option<String>,
    /// Who publishes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub publisher: Option<String>,
    /// The file with its logo.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 512), transform = rules::file())]
    pub logo: Option<String>,
    /// The file that describes it at length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 512), transform = rules::file())]
    pub description: Option<String>,
    /// Its licence, as an SPDX expression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub license: Option<String>,
    /// Where to read more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    pub links: Vec<Link>,
    /// What it is found under.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), inner(length(max = 64)))]
    pub categories: Vec<String>,
    /// The file that says what is new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 512), transform = rules::file())]
    pub changelog: Option<String>,
    /// Whose versions its life is tied to.
    #[serde(default)]
    pub lifecycle: Lifecycle,
    /// The Kubernetes versions it is made for; absent: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256), transform = rules::range())]
    pub kubernetes: Option<String>,
    /// The platform versions that a native extension belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256), transform = rules::range())]
    pub platform: Option<String>,
    /// Whether a cluster has at most one of it; absent: yes when it has CRDs or fixed cluster-wide names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub singleton: Option<bool>,
    /// Whether it may be installed before the cluster has a node that is ready, as a network must be.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bootstrap: bool,
    /// What it needs, for a person to approve; absent: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requirements: Option<Requirements>,
    /// What has to be there, and healthy, before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub dependencies: Vec<Dependency>,
    /// Capabilities that others may depend on instead of on its name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(max = 128)))]
    pub provides: Vec<String>,
    /// What must not be on the same cluster.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub conflicts: Vec<Conflict>,
    /// Extensions that go well with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(max = 128)))]
    pub suggests: Vec<String>,
    /// The file with the JSON Schema of its values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 512), transform = rules::file())]
    pub parameters: Option<String>,
    /// The custom resource through which it is configured, where that is not done by `parameters`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "free_form::object")]
    pub configuration: Option<FreeForm>,
    /// It is a Helm chart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub helm: Option<Helm>,
    /// It is plain manifests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifests: Option<Manifests>,
    /// It is a package of the Operator Lifecycle Manager.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub olm: Option<Olm>,
    /// It is made by a program of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<Runtime>,
    /// Custom resources to create once its operator is there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "free_form::objects")]
    pub operands: Vec<FreeForm>,
    /// All images it may pull, each with its digest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), inner(length(max = 512)), transform = rules::images())]
    pub images: Vec<String>,
    /// Roles that can be given to people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    pub roles: Vec<Role>,
    /// What the console lists of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "free_form::object")]
    pub menu: Option<FreeForm>,
    /// What the console shows of it beyond lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "free_form::object")]
    pub pages: Option<FreeForm>,
}

fn platform_is_for_native_extensions() -> Rule {
    Rule::new(
        "!has(self.platform) || self.lifecycle == 'Native'",
        "'platform' is for native extensions: set 'lifecycle' to Native, or leave 'platform' out",
    )
}

/// Whose versions an extension's life is tied to.
#[derive(JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Lifecycle {
    /// Kubernetes' and its own.
    #[default]
    External,
    /// The platform's.
    Native,
}

/// Where to read more.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// What is there.
    #[schemars(length(min = 1, max = 128))]
    pub name: String,
    /// Its address.
    #[schemars(length(min = 1, max = 1024))]
    pub url: String,
}
