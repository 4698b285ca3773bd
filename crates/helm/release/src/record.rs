//! What a record holds.
//!
//! Field names and what is left out when it is empty are Helm's. Each part that Helm may add to ends with `rest`, which
//! holds the fields that are not named here, so that reading and writing a record loses nothing. A `null` and an empty
//! list, map or string where Helm leaves the field out are the exception: they mean the same and are left out too.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use time::OffsetDateTime;

use crate::moment;
use crate::shared::SharedChart;
use crate::words::{ApplyMethod, HookDeletePolicy, HookEvent, HookLogPolicy, HookPhase, Status};

/// One revision of a release.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Release {
    /// The release's name, unique in its namespace.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// What happened to this revision.
    pub info: Info,
    /// What was installed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chart: Option<SharedChart>,
    /// The values that were given, without the chart's own.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Map::is_empty")]
    pub config: Map<String, Value>,
    /// All objects but the hooks, as YAML documents.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub manifest: String,
    /// The objects that run at certain moments.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<Hook>,
    /// The number of this revision. The first is 1.
    #[serde(rename = "version", default, deserialize_with = "or_default", skip_serializing_if = "is_zero")]
    pub revision: u64,
    /// Where the release lives, and its record.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Who merged the objects' fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apply_method: Option<ApplyMethod>,
    /// Labels that a person gave the release. They are on the Secret and not in the record.
    #[serde(skip)]
    pub labels: BTreeMap<String, String>,
    /// Fields that are not known here.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// What happened to a revision.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Info {
    /// When the release's first revision was installed.
    #[serde(default, with = "moment", skip_serializing_if = "Option::is_none")]
    pub first_deployed: Option<OffsetDateTime>,
    /// When this revision was installed.
    #[serde(default, with = "moment", skip_serializing_if = "Option::is_none")]
    pub last_deployed: Option<OffsetDateTime>,
    /// When it was removed.
    #[serde(default, with = "moment", skip_serializing_if = "Option::is_none")]
    pub deleted: Option<OffsetDateTime>,
    /// What `helm history` shows: one line about what was done or why it failed.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// How far it has come.
    #[serde(default)]
    pub status: Status,
    /// The revision that this one brought back, where it is a rollback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rollback_revision: Option<u64>,
    /// What the chart has to say to the person who installed it.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub notes: String,
    /// Fields that are not known here.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// An object that runs at certain moments.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Hook {
    /// The object's name.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The object's kind.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// The template it was rendered from.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// The object as YAML.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub manifest: String,
    /// The moments.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<HookEvent>,
    /// How it went the last time.
    #[serde(default, deserialize_with = "or_default")]
    pub last_run: HookRun,
    /// Hooks of one moment run from the lowest to the highest.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "is_level")]
    pub weight: i64,
    /// When the object is deleted.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub delete_policies: Vec<HookDeletePolicy>,
    /// When its log is shown.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub output_log_policies: Vec<HookLogPolicy>,
    /// Fields that are not known here.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// Where a record says for which event a hook has run: Helm only says how it went.
const EVENT: &str = "event";

impl Hook {
    /// The event that it has run for, as far as that is on record.
    pub fn ran_for(&self) -> Option<&str> {
        self.rest.get(EVENT)?.as_str()
    }

    /// Puts on record for which event it runs.
    pub fn set_ran_for(&mut self, event: &HookEvent) {
        self.rest.insert(EVENT.to_owned(), event.as_str().into());
    }

    /// Forgets that it has run.
    pub fn forget_run(&mut self) {
        self.rest.remove(EVENT);
        self.last_run = HookRun::default();
    }
}

/// One run of a hook.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HookRun {
    /// When it began.
    #[serde(default, with = "moment", skip_serializing_if = "Option::is_none")]
    pub started_at: Option<OffsetDateTime>,
    /// When it ended.
    #[serde(default, with = "moment", skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<OffsetDateTime>,
    /// How it went.
    #[serde(default)]
    pub phase: HookPhase,
}

/// What was installed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Chart {
    /// What `Chart.yaml` says.
    #[serde(default)]
    pub metadata: Option<Metadata>,
    /// All else, as Helm wrote it: `templates` and `files` (with contents in base64), `values`, `schema`, `lock`.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// What `Chart.yaml` says. The names are those of that file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// The chart's name.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The chart's version.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// The version of what it installs.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub app_version: String,
    /// The version of the chart format.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub api_version: String,
    /// One line about it.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The range of Kubernetes versions it is made for.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub kube_version: String,
    /// Whether its makers have given it up.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "std::ops::Not::not")]
    pub deprecated: bool,
    /// All else: `home`, `icon`, `sources`, `maintainers`, `dependencies`, and whatever a later Helm adds.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl Chart {
    /// A chart of which only this is known: no templates and no files, as Helm writes that.
    pub fn new(metadata: Metadata, values: Map<String, Value>) -> Self {
        let nothing = ["files", "lock", "schema", "templates"].map(|field| (field.to_owned(), Value::Null));
        let mut rest = Map::from_iter(nothing);
        rest.insert("schemamodtime".to_owned(), "0001-01-01T00:00:00Z".into());
        rest.insert("values".to_owned(), Value::Object(values));
        Self { metadata: Some(metadata), rest }
    }
}

impl Release {
    /// The chart's name and version as `helm list` shows them, where the record knows.
    pub fn chart_label(&self) -> Option<String> {
        let metadata = self.chart.as_ref()?.metadata.as_ref()?;
        Some(format!("{}-{}", metadata.name, metadata.version))
    }

    /// About how many bytes have to be compressed for a record of it: a chart that others share may be by then.
    pub fn size(&self) -> usize {
        let hooks: usize = self.hooks.iter().map(|hook| hook.manifest.len()).sum();
        self.manifest.len() + hooks + self.chart.as_ref().map_or(0, SharedChart::unpacked)
    }
}

/// Go reads `null` as the empty value of whatever it is reading.
fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(from: D) -> Result<T, D::Error> {
    Option::deserialize(from).map(Option::unwrap_or_default)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
fn is_zero(revision: &u64) -> bool {
    *revision == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
fn is_level(weight: &i64) -> bool {
    *weight == 0
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A record with every field that Helm 4.3 knows, and one in each part that it does not.
    fn full() -> Value {
        json!({
            "name": "web",
            "info": {
                "first_deployed": "2026-11-15T21:42:08.123456789Z",
                "last_deployed": "2026-11-16T21:42:08+01:00",
                "deleted": "2026-11-17T21:42:08Z",
                "description": "Upgrade complete",
                "status": "uninstalled",
                "rollback_revision": 3,
                "notes": "Visit us.",
                "resources": { "v1/Pod(related)": [{ "kind": "PodList" }] },
                "later": [1],
            },
            "chart": {
                "metadata": {
                    "name": "web", "version": "1.2.3", "appVersion": "9", "apiVersion": "v2", "description": "A shop",
                    "kubeVersion": ">=1.30", "deprecated": true, "type": "application", "home": "https://example.org",
                    "maintainers": [{ "name": "Ann" }], "annotations": { "a": "b" },
                    "dependencies": [{ "name": "db", "repository": "" }],
                },
                "lock": null,
                "templates": [{ "name": "templates/a.yaml", "data": "eA==" }],
                "values": { "replicas": 2, "share": 0.1, "large": 9_007_199_254_740_993_u64 },
                "schema": null,
                "schemamodtime": "0001-01-01T00:00:00Z",
                "files": [],
            },
            "config": { "replicas": 3, "off": null, "list": [], "map": {}, "fraction": 0.300_000_000_000_000_04 },
            "manifest": "---\nkind: ConfigMap\n",
            "hooks": [{
                "name": "check", "kind": "Pod", "path": "templates/check.yaml", "manifest": "kind: Pod",
                "events": ["test", "pre-dawn"],
                "last_run": { "started_at": "2026-11-15T21:42:08Z", "completed_at": "2026-11-15T21:43:08Z", "phase": "" },
                "weight": -5, "delete_policies": ["hook-succeeded"], "output_log_policies": ["hook-failed"],
                "later": true,
            }],
            "version": 4,
            "namespace": "shop",
            "apply_method": "ssa",
            "later": { "yes": true },
        })
    }

    #[test]
    fn every_field_is_written_as_it_was_read() {
        let release: Release = serde_json::from_value(full()).unwrap();
        assert_eq!(serde_json::to_value(&release).unwrap(), full());
    }

    #[test]
    fn fractions_stay_what_they_are_through_text() {
        let text = full().to_string();
        let release: Release = serde_json::from_str(&text).unwrap();
        let again: Value = serde_json::from_str(&serde_json::to_string(&release).unwrap()).unwrap();
        assert_eq!(again, full());
    }

    #[test]
    fn fields_have_their_types() {
        let release: Release = serde_json::from_value(full()).unwrap();
        assert_eq!(release.revision, 4);
        assert_eq!(release.info.status, Status::Uninstalled);
        assert_eq!(release.info.rollback_revision, Some(3));
        assert_eq!(release.apply_method, Some(ApplyMethod::ServerSide));
        assert_eq!(release.hooks[0].events, [HookEvent::Test, HookEvent::Other("pre-dawn".into())]);
        assert_eq!(release.hooks[0].last_run.phase, HookPhase::None);
        assert_eq!(release.chart_label().unwrap(), "web-1.2.3");
    }

    #[test]
    fn what_is_empty_is_left_out() {
        let release = Release { name: "web".into(), revision: 1, hooks: vec![Hook::default()], ..Release::default() };
        let written = serde_json::to_value(&release).unwrap();
        let expected = json!({
            "name": "web", "info": { "status": "unknown" }, "hooks": [{ "last_run": { "phase": "" } }], "version": 1,
        });
        assert_eq!(written, expected);
    }

    #[test]
    fn labels_are_not_in_the_record() {
        let labels = BTreeMap::from([("team".to_owned(), "a".to_owned())]);
        let written = serde_json::to_value(Release { labels, ..Release::default() }).unwrap();
        assert_eq!(written, json!({ "info": { "status": "unknown" } }));
    }

    #[test]
    fn null_is_read_as_nothing() {
        let text = r#"{"name":null,"info":{"status":"failed","notes":null,"deleted":""},"chart":null,"config":null,
            "manifest":null,"hooks":null,"version":null,"namespace":null}"#;
        let release: Release = serde_json::from_str(text).unwrap();
        let info = Info { status: Status::Failed, ..Info::default() };
        assert_eq!(release, Release { info, ..Release::default() });
    }
}
