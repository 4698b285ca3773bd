//! What is written for those who look later: events, and on each revision what came of it.
//!
//! Nobody waits for it, so it comes after what somebody waits for: when nothing has changed for a moment, and at the latest
//! half a minute later. What came of a revision follows from the instance's status, so nothing is lost with a hub that ends
//! before; an event that was not told by then is.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Result;
use fitout_api::{ExtensionInstance, ExtensionRevision, Outcome};
use k8s_openapi::api::core::v1::ObjectReference;
use kube::api::{Patch, PatchParams};
use kube::runtime::events::{Event, Recorder, Reporter};
use kube::{Api, ResourceExt};
use serde_json::json;
use tokio::time::{Instant, timeout};

use crate::Hub;

/// How long nothing has to change before it is calm.
const CALM: Duration = Duration::from_secs(1);

/// How long is waited for that.
const AT_THE_LATEST: Duration = Duration::from_secs(30);

/// As many events as can wait. One more is dropped: the status says the same.
const EVENTS: usize = 4096;

/// Where events wait.
#[derive(Default)]
pub(crate) struct Chronicle(Mutex<Vec<(Event, ObjectReference)>>);

impl Chronicle {
    /// Has an event written, sooner or later.
    pub(crate) fn tell(&self, event: Event, of: ObjectReference) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() < EVENTS {
            waiting.push((event, of));
        } else {
            tracing::warn!(instance = of.name, "more events than can be written: this one is dropped");
        }
    }

    /// All that wait, the oldest first.
    fn take(&self) -> Vec<(Event, ObjectReference)> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

pub(crate) async fn run(hub: Arc<Hub>) -> Result<()> {
    let mut changes = hub.index.any_instance();
    changes.mark_changed();
    loop {
        // An event is told of with the status that it is about.
        changes.changed().await?;
        let latest = Instant::now() + AT_THE_LATEST;
        while Instant::now() < latest && timeout(CALM, changes.changed()).await.is_ok() {}
        for (event, of) in hub.chronicle.take() {
            // A recorder that remembers would count an event as the repetition of one with another sentence.
            let recorder = Recorder::new(hub.client.clone(), Reporter::from("fitout-hub"));
            if let Err(error) = recorder.publish(&event, &of).await {
                tracing::warn!(instance = of.name, %error, "event");
            }
        }
        results(&hub).await;
    }
}

/// Writes on revisions what came of them, where it does not say so yet.
async fn results(hub: &Hub) {
    let instances = hub.index.instances.state();
    let key = |instance: &ExtensionInstance| (instance.namespace().unwrap_or_default(), instance.name_any());
    let installed: BTreeMap<(String, String), u32> =
        instances.iter().filter_map(|instance| Some((key(instance), instance.status.as_ref()?.revision?))).collect();
    for revision in hub.index.revisions.state() {
        let of = (revision.namespace().unwrap_or_default(), revision.spec.instance.clone());
        let came = revision.outcome(installed.get(&of).copied());
        let said = revision.status.as_ref().and_then(|status| status.result);
        if came == Outcome::Running || said == Some(came) || revision.metadata.deletion_timestamp.is_some() {
            continue;
        }
        let api: Api<ExtensionRevision> = Api::namespaced(hub.client.clone(), &of.0);
        let patch = Patch::Merge(json!({ "status": { "result": came } }));
        match api.patch_status(&revision.name_any(), &PatchParams::default(), &patch).await {
            Ok(_) => {}
            // It has gone with its instance.
            Err(kube::Error::Api(status)) if status.code == 404 => {}
            Err(error) => tracing::warn!(instance = of.1, %error, "result"),
        }
    }
}
