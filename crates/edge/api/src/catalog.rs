//! `Catalog`: a source of extension definitions.

use std::collections::BTreeMap;

use fitout_model::VersionStateRule;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::conditions;
use crate::rules::{self, Rule};

/// The label of catalogs of the platform and of the Extensions that they offer.
pub const BUILTIN: &str = "fitout.dev/builtin";

/// The annotation that requests a sync at once. Its value is the time of the request; each new value is one request.
pub const SYNC_REQUESTED_AT: &str = "fitout.dev/requestedAt";

/// The annotation that accepts the content of a source that contradicts its history. Its value is the revision to accept.
pub const ACCEPT_REVISION: &str = "fitout.dev/acceptRevision";

/// The catalog of the `ExtensionDefinition` objects of an organization. It has no `Catalog` object.
pub const SIDELOADED: &str = "sideloaded";

/// The source that a catalog is read from.
#[derive(CustomResource, JsonSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[kube(
    group = "fitout.dev",
    version = "v1alpha1",
    kind = "Catalog",
    doc = "A Catalog is a source of extensions. A catalog in fitout-system serves every organization, one in org-NAME \
           serves that organization alone. Deleting a catalog does not change installed extensions.",
    namespaced,
    status = "CatalogStatus",
    derive = "PartialEq",
    shortname = "cat",
    category = "fitout",
    validation = rules::object_name("a catalog", 63),
    validation = name_is_not_reserved(),
    printcolumn(name = "Extensions", type_ = "integer", json_path = ".status.extensions"),
    printcolumn(name = "Versions", type_ = "integer", json_path = ".status.versions"),
    printcolumn(name = "Ready", type_ = "string", json_path = r#".status.conditions[?(@.type=="Ready")].status"#),
    printcolumn(name = "Status", type_ = "string", json_path = r#".status.conditions[?(@.type=="Ready")].message"#),
    printcolumn(name = "Priority", type_ = "integer", json_path = ".spec.priority", priority = 1),
    printcolumn(name = "Synced", type_ = "date", json_path = ".status.syncedAt", priority = 1),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = one_source())]
pub struct CatalogSpec {
    /// The name shown to users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub display_name: Option<String>,
    /// The source of the definitions. Its addresses and references may contain `{kube.major}` and `{kube.minor}`; the
    /// catalog is then read once for each Kubernetes version of the clusters that it serves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<CatalogSource>,
    /// A source for each Kubernetes minor version, such as `1.36`. A cluster is offered what the source of its version has.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 16), transform = keys_are_kubernetes_versions())]
    pub sources: BTreeMap<String, CatalogSource>,
    /// The order of catalogs: of two that offer the same extension, the one with the higher priority is listed first.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(min = -1000, max = 1000))]
    pub priority: i32,
    /// The extensions and versions to offer. Defaults to all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256))]
    pub include: Vec<CatalogFilter>,
    /// The extensions and versions to leave out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256))]
    pub exclude: Vec<CatalogFilter>,
    /// The states of versions, over those that the source declares. Of several that match, the last one counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256))]
    pub states: Vec<VersionStateRule>,
    /// The interval between two syncs, in seconds. Defaults to 600. Up to a tenth is added at random.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 5, max = 604_800))]
    pub interval_seconds: Option<u32>,
    /// Whether syncing is suspended. The extensions of the last sync stay.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub suspend: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
fn is_zero(number: &i32) -> bool {
    *number == 0
}

fn name_is_not_reserved() -> kube::core::Rule {
    rules::of_name(&Rule::new(
        format!("self.metadata.name != '{SIDELOADED}'"),
        "the name sideloaded is taken by the ExtensionDefinitions of an organization",
    ))
}

fn one_source() -> Rule {
    Rule::new(
        "has(self.source) != has(self.sources)",
        "a catalog has either 'source' or 'sources' (by Kubernetes version)",
    )
}

fn keys_are_kubernetes_versions() -> Rule {
    Rule::new(
        "self.all(key, key.matches('^[0-9]{1,3}[.][0-9]{1,4}$'))",
        "a key of 'sources' is a Kubernetes minor version, such as 1.36",
    )
}

/// A pattern of extensions and versions.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CatalogFilter {
    /// The name of the extension; `*` stands for any characters. Defaults to all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub name: Option<String>,
    /// The range of versions. Defaults to all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256), transform = rules::range())]
    pub version: Option<String>,
}

/// The kinds of sources, of which a catalog has exactly one.
const SOURCES: [&str; 4] = ["directory", "archive", "helmRepository", "git"];

/// The source of definitions. Exactly one of its fields is set.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules::exactly_one(
    &SOURCES,
    "a source is exactly one of directory, archive, helmRepository and git",
))]
pub struct CatalogSource {
    /// A directory that the hub can read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<DirectorySource>,
    /// An archive of definitions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archive: Option<ArchiveSource>,
    /// A repository of Helm charts, each of which becomes an extension.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub helm_repository: Option<HelmRepositorySource>,
    /// A git repository with definitions or charts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitSource>,
}

/// A directory that is built into Fitout or is on the hub's file system.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules::exactly_one(
    &["embedded", "path"],
    "a directory is named by exactly one of 'embedded' (a catalog that comes with Fitout) and 'path' (on the hub's disk)",
))]
pub struct DirectorySource {
    /// The name of a catalog that is built into Fitout, such as `community`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253), transform = rules::label("an embedded catalog", 63))]
    pub embedded: Option<String>,
    /// The absolute path of a directory on the hub's file system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024), transform = rules::absolute_path())]
    pub path: Option<String>,
}

/// An archive with definitions at `EXTENSION/VERSION/definition.yaml`: a tar, gzipped or not.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ArchiveSource {
    /// The address: `https://…`, or `oci://HOST/PATH:TAG` for an artifact that `fitout extension push` has pushed.
    #[schemars(length(min = 1, max = 1024), transform = addresses(&["https", "http", "oci", "oci+http"]))]
    pub url: String,
}

/// A repository of Helm charts.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HelmRepositorySource {
    /// The address: `https://…` of the folder of `index.yaml`, or `oci://HOST/PATH`.
    #[schemars(length(min = 1, max = 1024), transform = addresses(&["https", "http", "oci", "oci+http"]))]
    pub url: String,
    /// The names of the charts below an `oci://` address, which has no index. Defaults to those that the registry lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1024), inner(length(min = 1, max = 253)))]
    pub charts: Vec<String>,
}

/// A git repository.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = one_reference())]
pub struct GitSource {
    /// The address: `https://…` or `ssh://…`.
    #[schemars(length(min = 1, max = 1024), transform = addresses(&["https", "http", "ssh"]))]
    pub url: String,
    /// The folder with the definitions or charts. Defaults to the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 512), transform = rules::file())]
    pub path: Option<String>,
    /// The branch. Defaults to the default branch of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub branch: Option<String>,
    /// The tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub tag: Option<String>,
    /// The commit, with all of its digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 40, max = 64))]
    pub commit: Option<String>,
}

fn one_reference() -> Rule {
    Rule::new(
        "[has(self.branch), has(self.tag), has(self.commit)].filter(given, given).size() <= 1",
        "a git source has at most one of 'branch', 'tag' and 'commit'",
    )
}

fn addresses(schemes: &[&str]) -> Rule {
    let pattern = schemes.iter().map(|scheme| scheme.replace('+', "[+]")).collect::<Vec<_>>().join("|");
    let named: Vec<String> = schemes.iter().map(|scheme| format!("{scheme}://")).collect();
    Rule::new(
        format!("self.matches('^({pattern})://[^@ ]+(@sha256:[0-9a-f]{{64}})?$')"),
        format!(
            "an address begins with {} and has neither spaces nor credentials, which belong in a Secret of type \
             fitout.dev/repository",
            named.join(", ")
        ),
    )
}

/// The observed state of a catalog.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CatalogStatus {
    /// The generation that the hub last processed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The latest conditions, one of each type: `Synced`, `Ready`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "conditions::schema")]
    pub conditions: Vec<Condition>,
    /// The number of extensions in the catalog.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extensions: Option<u32>,
    /// The number of extension versions in the catalog.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub versions: Option<u32>,
    /// The digest of the snapshot: the content that the hub read last, which it keeps when the source is lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The time at which the content of the source last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synced_at: Option<Time>,
    /// The sources that were read, one for each Kubernetes version if the catalog has several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    pub sources: Vec<SourceStatus>,
    /// Versions that were left out or kept as they were, each with the reason. At most 20 are listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 20), inner(length(max = 1024)))]
    pub problems: Vec<String>,
    /// The value of the annotation `fitout.dev/requestedAt` that the hub last acted on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256))]
    pub last_handled_request: Option<String>,
}

/// The state of one source of a catalog.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SourceStatus {
    /// The Kubernetes version that the source is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 16))]
    pub key: Option<String>,
    /// The revision that was read: a commit, or the digest of an index or an archive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256))]
    pub revision: Option<String>,
    /// The reason why the source could not be read. The catalog keeps what it read before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub error: Option<String>,
}
