//! Prometheus metrics of the hub.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use fitout_api::{Cluster, ExtensionInstance, conditions, reasons};
use fitout_cluster_client::{Call, ClientOptions, Fence};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::ResourceExt;
use kube::runtime::reflector::Store;
use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use crate::cache::Cache;

/// A handle to the metrics and the readiness of a hub, for the server that exposes them.
#[derive(Clone, Debug, Default)]
pub struct MetricsHandle(Arc<Metrics>);

impl MetricsHandle {
    /// Whether the hub's cache is filled. A hub that waits for the lease is ready too.
    pub fn is_ready(&self) -> bool {
        self.0.stores.get().is_some()
    }

    /// All metrics, in the `OpenMetrics` text format.
    pub fn metrics(&self) -> String {
        self.0.text()
    }

    pub(crate) fn shared(&self) -> Arc<Metrics> {
        Arc::clone(&self.0)
    }
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct CallLabels {
    server: String,
    verb: String,
    result: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct VerbLabel {
    verb: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct StepLabel {
    step: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ChangeLabel {
    state: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct StateLabels {
    organization: String,
    cluster: String,
    state: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct BuildLabel {
    version: &'static str,
}

type Histograms<L> = Family<L, Histogram, fn() -> Histogram>;

#[derive(Debug)]
pub(crate) struct Metrics {
    /// Held while clusters and instances are recounted, so that no scrape reads half a count.
    registry: Mutex<Registry>,
    calls: Family<CallLabels, Counter>,
    call_times: Histograms<VerbLabel>,
    step_times: Histograms<StepLabel>,
    changes: Family<ChangeLabel, Gauge>,
    leading: Gauge,
    clusters: Family<StateLabels, Gauge>,
    instances: Family<StateLabels, Gauge>,
    /// Set once the cache is filled.
    stores: OnceLock<(Store<Cluster>, Store<ExtensionInstance>)>,
}

impl Default for Metrics {
    fn default() -> Self {
        // A call takes milliseconds, or until its deadline; a step may wait for pods to start.
        let call_times: Histograms<VerbLabel> =
            Family::new_with_constructor(|| Histogram::new([0.005, 0.02, 0.1, 0.5, 2.0, 5.0, 35.0]));
        let step_times: Histograms<StepLabel> =
            Family::new_with_constructor(|| Histogram::new([0.01, 0.05, 0.2, 1.0, 5.0, 15.0, 60.0, 300.0, 1800.0]));
        let mut metrics = Self {
            registry: Mutex::default(),
            calls: Family::default(),
            call_times,
            step_times,
            changes: Family::default(),
            leading: Gauge::default(),
            clusters: Family::default(),
            instances: Family::default(),
            stores: OnceLock::new(),
        };
        let mut registry = Registry::with_prefix("fitout");
        let build = Family::<BuildLabel, Gauge>::default();
        build.get_or_create(&BuildLabel { version: env!("CARGO_PKG_VERSION") }).set(1);
        registry.register("build_info", "The version of the hub, as a label; the value is always 1", build);
        registry.register("leading", "1 if this replica holds the lease, 0 if not", metrics.leading.clone());
        let help = "Requests to API servers, by server, verb and status code (unanswered: no response)";
        registry.register("api_calls", help, metrics.calls.clone());
        let help = "Duration of requests to API servers, by verb";
        registry.register_with_unit("api_call_duration", help, Unit::Seconds, metrics.call_times.clone());
        let help = "Duration of the steps of a change";
        registry.register_with_unit("step_duration", help, Unit::Seconds, metrics.step_times.clone());
        let help = "Changes that wait for a slot on their cluster, and changes in progress";
        registry.register("changes", help, metrics.changes.clone());
        registry.register("clusters", "Clusters, by state", metrics.clusters.clone());
        registry.register("instances", "Instances, by state", metrics.instances.clone());
        for state in [WAITING, RUNNING] {
            drop(metrics.changes.get_or_create(&ChangeLabel { state }));
        }
        metrics.registry = Mutex::new(registry);
        metrics
    }
}

/// The state of a change that waits for a slot on its cluster.
pub(crate) const WAITING: &str = "waiting";
/// The state of a change that has a slot on its cluster.
pub(crate) const RUNNING: &str = "running";

/// Counts one until it is dropped.
pub(crate) struct GaugeGuard(Gauge);

impl Drop for GaugeGuard {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Metrics {
    /// Records that the cache is filled: the hub is ready.
    pub(crate) fn filled(&self, cache: &Cache) {
        // A hub has one cache, so this is never set twice.
        let _ = self.stores.set((cache.clusters.clone(), cache.instances.clone()));
    }

    pub(crate) fn leads(&self, leads: bool) {
        self.leading.set(i64::from(leads));
    }

    /// Client options that count the requests to the hub's own API server.
    pub(crate) fn client_options(self: &Arc<Self>, fence: Fence) -> ClientOptions {
        self.client_options_of("hub".to_owned(), fence)
    }

    /// Client options that count the requests to a cluster.
    pub(crate) fn client_options_for(self: &Arc<Self>, cluster: &Cluster, fence: Fence) -> ClientOptions {
        let namespace = cluster.namespace().unwrap_or_default();
        self.client_options_of(format!("{}/{}", organization(&namespace), cluster.name_any()), fence)
    }

    fn client_options_of(self: &Arc<Self>, server: String, fence: Fence) -> ClientOptions {
        let metrics = Arc::clone(self);
        ClientOptions { fence, on_request: Arc::new(move |call| metrics.call(&server, call)) }
    }

    fn call(&self, server: &str, call: Call<'_>) {
        let Call { verb, code, took } = call;
        let result = code.map_or_else(|| "unanswered".to_owned(), |code| code.to_string());
        let verb = verb.to_owned();
        self.call_times.get_or_create(&VerbLabel { verb: verb.clone() }).observe(took.as_secs_f64());
        self.calls.get_or_create(&CallLabels { server: server.to_owned(), verb, result }).inc();
    }

    pub(crate) fn step(&self, step: &str, took: Duration) {
        self.step_times.get_or_create(&StepLabel { step: step.to_owned() }).observe(took.as_secs_f64());
    }

    /// Counts a change in this state until the guard is dropped.
    pub(crate) fn change(&self, state: &'static str) -> GaugeGuard {
        let gauge = self.changes.get_or_create_owned(&ChangeLabel { state });
        gauge.inc();
        GaugeGuard(gauge)
    }

    fn text(&self) -> String {
        let registry = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((clusters, instances)) = self.stores.get() {
            recount(&self.clusters, clusters, |cluster| {
                let conditions = cluster.status.as_ref().map_or(&[][..], |status| &status.conditions);
                (cluster.name_any(), state_of_cluster(conditions))
            });
            recount(&self.instances, instances, |instance| {
                let conditions = instance.status.as_ref().map_or(&[][..], |status| &status.conditions);
                (instance.spec.cluster.clone(), state_of_instance(conditions))
            });
        }
        let mut text = String::new();
        // Writing to memory does not fail.
        let _ = text::encode(&mut text, &registry);
        text
    }
}

fn recount<K>(family: &Family<StateLabels, Gauge>, store: &Store<K>, read: impl Fn(&K) -> (String, &'static str))
where
    K: kube::Resource<DynamicType = ()> + Clone + 'static,
{
    family.clear();
    for object in store.state() {
        let (cluster, state) = read(&object);
        let organization = organization(&object.namespace().unwrap_or_default()).to_owned();
        family.get_or_create(&StateLabels { organization, cluster, state }).inc();
    }
}

/// The organization of a namespace. A label `namespace` would be taken for the hub's own.
fn organization(namespace: &str) -> &str {
    namespace.strip_prefix("org-").unwrap_or(namespace)
}

fn state_of_cluster(conditions: &[Condition]) -> &'static str {
    match conditions::find(conditions, conditions::CONNECTED).map(|connected| connected.status.as_str()) {
        Some("True") => "connected",
        Some("False") => "lost",
        _ => "unknown",
    }
}

fn state_of_instance(conditions: &[Condition]) -> &'static str {
    let ready = conditions::find(conditions, conditions::READY);
    match ready.map(|ready| (ready.status.as_str(), ready.reason.as_str())) {
        Some(("True", _)) => "ready",
        _ if conditions::find(conditions, conditions::STALLED).is_some() => "stalled",
        Some((_, reasons::ready::FAILED)) => "failing",
        Some((_, reasons::ready::SUSPENDED)) => "suspended",
        Some((_, reasons::ready::WAITING)) => "waiting",
        Some((_, reasons::ready::REMOVING)) => "removing",
        _ => "progressing",
    }
}

#[cfg(test)]
mod tests {
    use fitout_api::conditions::{ConditionStatus, ConditionUpdate, set};

    use super::*;
    use crate::storage::api_writes::now;

    fn conditions(updates: &[(&'static str, ConditionStatus, &'static str)]) -> Vec<Condition> {
        let mut conditions = vec![];
        for &(type_, status, reason) in updates {
            let update = ConditionUpdate { type_, status, reason, message: String::new(), generation: None };
            set(&mut conditions, update, &now());
        }
        conditions
    }

    #[test]
    fn the_state_follows_from_the_conditions() {
        let ready = |status, reason| (conditions::READY, status, reason);
        let stalled = (conditions::STALLED, ConditionStatus::True, reasons::stalled::INVALID_SPEC);
        let rows = [
            (vec![], "progressing"),
            (vec![ready(ConditionStatus::True, reasons::ready::INSTALLED)], "ready"),
            (vec![ready(ConditionStatus::False, reasons::ready::PROGRESSING)], "progressing"),
            (vec![ready(ConditionStatus::False, reasons::ready::FAILED)], "failing"),
            (vec![ready(ConditionStatus::False, reasons::ready::FAILED), stalled], "stalled"),
            (vec![ready(ConditionStatus::False, reasons::ready::WAITING)], "waiting"),
        ];
        for (updates, expected) in rows {
            assert_eq!(state_of_instance(&conditions(&updates)), expected, "{updates:?}");
        }
        let connected = |status| conditions(&[(conditions::CONNECTED, status, reasons::connected::CONNECTED)]);
        assert_eq!(state_of_cluster(&connected(ConditionStatus::True)), "connected");
        assert_eq!(state_of_cluster(&connected(ConditionStatus::False)), "lost");
        assert_eq!(state_of_cluster(&[]), "unknown");
    }

    #[test]
    fn a_change_is_counted_until_its_guard_is_dropped() {
        let metrics = Arc::new(Metrics::default());
        let line = |state: &str| {
            let start = format!("fitout_changes{{state=\"{state}\"}} ");
            let text = metrics.text();
            text.lines().find_map(|line| line.strip_prefix(&start).map(str::to_owned)).unwrap()
        };
        let counted = (metrics.change(RUNNING), metrics.change(RUNNING), metrics.change(WAITING));
        assert_eq!((line(RUNNING), line(WAITING)), ("2".to_owned(), "1".to_owned()));
        drop(counted);
        assert_eq!((line(RUNNING), line(WAITING)), ("0".to_owned(), "0".to_owned()));
    }

    #[test]
    fn calls_are_counted_by_server_verb_and_result() {
        let metrics = Arc::new(Metrics::default());
        let options = metrics.client_options_of("acme/foo".to_owned(), Fence::open());
        for code in [Some(200), Some(200), None] {
            (options.on_request)(Call { verb: "patch", code, took: Duration::from_millis(3) });
        }
        let text = metrics.text();
        for (result, count) in [("200", 2), ("unanswered", 1)] {
            let line =
                format!("fitout_api_calls_total{{server=\"acme/foo\",verb=\"patch\",result=\"{result}\"}} {count}\n");
            assert!(text.contains(&line), "{line}{text}");
        }
        assert!(text.contains("fitout_api_call_duration_seconds_count{verb=\"patch\"} 3"), "{text}");
    }
}
