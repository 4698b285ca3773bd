//! Which step a session is at: in what it logs, and in how long steps take.

use std::sync::Arc;
use std::time::Instant;

use fitout_api::ExtensionInstance;
use kube::ResourceExt;
use tracing::{Span, error_span};

use crate::metrics::Metrics;

/// What comes before it is known what is to be done: a version is chosen, rendered, and the cluster looked at.
const PREPARE: &str = "prepare";

/// What a session does while there is nothing to do.
const WATCH: &str = "watch";

/// The step that a session is at, and since when.
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

    /// Goes on to this step, unless it is at it. None is that there is nothing to do.
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
            Some(_) => self.span().in_scope(|| tracing::info!("the step begins")),
        }
    }

    /// Begins to find out what is to be done, where nothing was.
    pub(crate) fn wake(&mut self) {
        if self.at.is_none() {
            self.enter(Some(PREPARE));
        }
    }

    /// What every line says that is logged meanwhile. It is always there, however little is logged.
    pub(crate) fn span(&self) -> Span {
        let Self { namespace, instance, cluster, .. } = self;
        let step = self.at.as_ref().map_or(WATCH, |(step, _)| step);
        error_span!("session", namespace, instance, cluster, step)
    }
}
