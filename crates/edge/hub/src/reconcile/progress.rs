//! The running step of a worker: in its log lines, and in the metrics of step durations.

use std::sync::Arc;
use std::time::Instant;

use fitout_api::ExtensionInstance;
use kube::ResourceExt;
use tracing::{Span, error_span};

use crate::metrics::Metrics;

/// The step before the first decision: the version is resolved and rendered, and the cluster observed.
const PREPARE: &str = "prepare";

/// The step of a worker that has nothing to do.
const WATCH: &str = "watch";

/// The running step, and when it started.
pub(crate) struct Progress {
    metrics: Arc<Metrics>,
    namespace: String,
    instance: String,
    cluster: String,
    at: Option<(String, Instant)>,
}

impl Progress {
    pub(crate) fn new(metrics: Arc<Metrics>, instance: &ExtensionInstance) -> Self {
        let namespace = instance.namespace().unwrap_or_default();
        let cluster = instance.spec.cluster.clone();
        Self { metrics, namespace, instance: instance.name_any(), cluster, at: None }
    }

    /// Enters a step, unless it is the running one; `None` when nothing is left to do.
    pub(crate) fn enter(&mut self, step: Option<&str>) {
        if self.at.as_ref().map(|(at, _)| at.as_str()) == step {
            return;
        }
        if let Some((before, since)) = self.at.take() {
            self.metrics.step(&before, since.elapsed());
        }
        self.at = step.map(|step| (step.to_owned(), Instant::now()));
        match step {
            Some(PREPARE) | None => {}
            Some(_) => self.span().in_scope(|| tracing::info!("step started")),
        }
    }

    /// Enters the preparation step, if no step is running.
    pub(crate) fn wake(&mut self) {
        if self.at.is_none() {
            self.enter(Some(PREPARE));
        }
    }

    /// The span of all log lines, at every log level.
    pub(crate) fn span(&self) -> Span {
        let Self { namespace, instance, cluster, .. } = self;
        let step = self.at.as_ref().map_or(WATCH, |(step, _)| step);
        error_span!("worker", namespace, instance, cluster, step)
    }
}
