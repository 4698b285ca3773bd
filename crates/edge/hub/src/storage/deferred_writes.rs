//! What is written for those who look later: events, revisions that are in the journal, what a revision has installed, and
//! on each what came of it.
//!
//! Nobody waits for it, so it comes after what somebody waits for: when nothing has changed for a moment, and at the latest
//! half a minute later, or some minutes where a crowd waits for its turn. What came of a revision follows from the instance's
//! status, and what it has installed is in the release's record on the cluster too, so nothing is lost with a hub that ends
//! before; an event that was not told by then is.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Result;
use fitout_api::{ExtensionInstance, ExtensionRevision, Outcome};
use fitout_content::Packed;
use fitout_model::Digest;
use k8s_openapi::api::core::v1::ObjectReference;
use kube::api::{Patch, PatchParams};
use kube::runtime::events::{Event, Recorder, Reporter};
use kube::{Api, ResourceExt};
use serde_json::json;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use crate::Hub;

/// How long nothing has to change before it is calm.
const CALM: Duration = Duration::from_secs(1);

/// How long is waited for that.
const AT_THE_LATEST: Duration = Duration::from_secs(30);

/// The same where instances wait for their turn on a cluster: what is written here, they would wait for too.
const IN_A_CROWD: Duration = Duration::from_mins(5);

/// As many events as can wait. One more is dropped: the status says the same.
const EVENTS: usize = 4096;

/// As many bytes of contents as a crowd may have wait.
const CONTENTS: usize = 16 << 20;

/// What waits to be written.
#[derive(Default)]
pub(crate) struct DeferredWrites {
    events: Mutex<Vec<(Event, ObjectReference)>>,
    contents: Mutex<BTreeMap<Digest, Packed>>,
    /// Rings when there is something to keep.
    bell: Notify,
}

impl DeferredWrites {
    /// Has an event written, sooner or later.
    pub(crate) fn tell(&self, event: Event, of: ObjectReference) {
        let mut waiting = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() < EVENTS {
            waiting.push((event, of));
        } else {
            tracing::warn!(instance = of.name, "more events than can be written: this one is dropped");
        }
    }

    /// Has what a revision has installed kept on the hub, sooner or later: until then the release's record has it.
    pub(crate) fn keep(&self, content: Packed) {
        let mut waiting = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.insert(content.digest().clone(), content);
        self.bell.notify_one();
    }

    /// Has revisions that are in the journal made objects, sooner or later.
    pub(crate) fn settle(&self) {
        self.bell.notify_one();
    }

    /// How long it waits for calm. A crowd has it wait for as long as that costs no event and little memory.
    fn patience(&self, crowded: bool) -> Duration {
        let events = self.events.lock().unwrap_or_else(PoisonError::into_inner).len();
        let contents =
            self.contents.lock().unwrap_or_else(PoisonError::into_inner).values().map(Packed::size).sum::<usize>();
        if crowded && events < EVENTS / 2 && contents < CONTENTS { IN_A_CROWD } else { AT_THE_LATEST }
    }
}

pub(crate) async fn run(hub: Arc<Hub>) -> Result<()> {
    let mut changes = hub.cache.any_instance();
    changes.mark_changed();
    loop {
        // An event is told of with the status that it is about.
        tokio::select! {
            ended = changes.changed() => ended?,
            () = hub.deferred_writes.bell.notified() => {}
        }
        let began = Instant::now();
        let patience = || hub.deferred_writes.patience(hub.metrics.anybody_waits());
        while began.elapsed() < patience() && timeout(CALM, changes.changed()).await.is_ok() {}
        if hub.write_ahead_log.settle_all(&hub).await {
            // What came of them is written when the index has heard of them.
            hub.deferred_writes.settle();
        }
        contents(&hub).await;
        for (event, of) in taken(&hub.deferred_writes.events) {
            // A recorder that remembers would count an event as the repetition of one with another sentence.
            let recorder = Recorder::new(hub.client.clone(), Reporter::from("fitout-hub"));
            if let Err(error) = recorder.publish(&event, &of).await {
                tracing::warn!(instance = of.name, %error, "event");
            }
        }
        results(&hub).await;
    }
}

/// All that wait, which then wait no more.
fn taken<T: Default>(waiting: &Mutex<T>) -> T {
    std::mem::take(&mut *waiting.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Keeps on the hub what revisions have installed.
async fn contents(hub: &Hub) {
    for (digest, content) in taken(&hub.deferred_writes.contents) {
        // Its revision may have gone meanwhile.
        if !hub.cache.names_content(&digest) {
            hub.content_gc.notify_one();
        }
        if let Err(error) = hub.content.put_packed(&content).await {
            tracing::warn!(%digest, %error, "content");
            hub.deferred_writes.keep(content);
        }
    }
}

/// Writes on revisions what came of them, where it does not say so yet.
async fn results(hub: &Hub) {
    let instances = hub.cache.instances.state();
    let key = |instance: &ExtensionInstance| (instance.namespace().unwrap_or_default(), instance.name_any());
    let installed: BTreeMap<(String, String), u32> =
        instances.iter().filter_map(|instance| Some((key(instance), instance.status.as_ref()?.revision?))).collect();
    for revision in hub.cache.revisions.state() {
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

#[cfg(test)]
mod tests {
    use kube::runtime::events::EventType;

    use super::*;

    #[test]
    fn those_who_wait_for_their_turn_come_first_as_long_as_that_costs_no_event_and_little_memory() {
        let chronicle = DeferredWrites::default();
        assert_eq!([true, false].map(|crowded| chronicle.patience(crowded)), [IN_A_CROWD, AT_THE_LATEST]);
        for _ in 0..EVENTS / 2 {
            let (reason, action) = ("Installed".to_owned(), "Reconcile".to_owned());
            let event = Event { type_: EventType::Normal, reason, note: None, action, secondary: None };
            chronicle.tell(event, ObjectReference::default());
        }
        assert_eq!(chronicle.patience(true), AT_THE_LATEST);
        drop(taken(&chronicle.events));
        assert_eq!(chronicle.patience(true), IN_A_CROWD);
        // Nothing makes it smaller.
        let mut state = 1_u64;
        let mut byte = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state.to_be_bytes()[0]
        };
        chronicle.keep(Packed::new(&(0..CONTENTS).map(|_| byte()).collect::<Vec<u8>>()));
        assert_eq!(chronicle.patience(true), AT_THE_LATEST);
    }
}
