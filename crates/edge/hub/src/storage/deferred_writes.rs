//! Deferred writes: events, content, revisions of the write-ahead log and results, written when the hub is idle.
//!
//! A worker waits for none of them. They are written once no instance has changed for a moment, and at the latest after
//! half a minute, or after some minutes while changes wait for a slot on a cluster. A crash before that loses events
//! only: the result of a revision follows from the status of its instance, and its content is in the release record on
//! the cluster.

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

/// The hub is idle once no instance has changed for this long.
const IDLE: Duration = Duration::from_secs(1);

/// The longest delay of a deferred write.
const DELAY: Duration = Duration::from_secs(30);

/// The longest delay while changes wait for a slot on a cluster: deferred writes would slow them down.
const DELAY_WHILE_CHANGES_WAIT: Duration = Duration::from_mins(5);

/// The number of events that can wait. Further ones are dropped: the status has the same facts.
const EVENTS: usize = 4096;

/// The bytes of content that can wait for the long delay.
const CONTENTS: usize = 16 << 20;

/// The writes that wait until the hub is idle.
#[derive(Default)]
pub(crate) struct DeferredWrites {
    events: Mutex<Vec<(Event, ObjectReference)>>,
    contents: Mutex<BTreeMap<Digest, Packed>>,
    /// Notified when a write was added.
    added: Notify,
}

impl DeferredWrites {
    /// Adds an event about an object.
    pub(crate) fn tell(&self, event: Event, object: ObjectReference) {
        let mut waiting = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() < EVENTS {
            waiting.push((event, object));
        } else {
            tracing::warn!(instance = object.name, limit = EVENTS, "dropped event");
        }
    }

    /// Adds the content of a revision. Until it is written, the release record on the cluster has it.
    pub(crate) fn keep(&self, content: Packed) {
        let mut waiting = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.insert(content.digest().clone(), content);
        self.added.notify_one();
    }

    /// Requests that the revisions of the write-ahead log become objects.
    pub(crate) fn request_flush(&self) {
        self.added.notify_one();
    }

    /// The longest delay. The long one applies as long as no event is lost and little memory is used.
    fn delay(&self, changes_wait: bool) -> Duration {
        let events = self.events.lock().unwrap_or_else(PoisonError::into_inner).len();
        let contents =
            self.contents.lock().unwrap_or_else(PoisonError::into_inner).values().map(Packed::size).sum::<usize>();
        if changes_wait && events < EVENTS / 2 && contents < CONTENTS { DELAY_WHILE_CHANGES_WAIT } else { DELAY }
    }
}

pub(crate) async fn run(hub: Arc<Hub>) -> Result<()> {
    let mut changes = hub.cache.any_instance();
    changes.mark_changed();
    loop {
        // An event is added with the status that it is about, so a change of the instance follows.
        tokio::select! {
            ended = changes.changed() => ended?,
            () = hub.deferred_writes.added.notified() => {}
        }
        let began = Instant::now();
        let delay = || hub.deferred_writes.delay(hub.change_queues.is_contended());
        while began.elapsed() < delay() && timeout(IDLE, changes.changed()).await.is_ok() {}
        if hub.write_ahead_log.create_revisions(&hub).await {
            // Their results are written once the cache has them.
            hub.deferred_writes.request_flush();
        }
        write_contents(&hub).await;
        for (event, object) in take(&hub.deferred_writes.events) {
            // A recorder that is kept aggregates events with different notes into one.
            let recorder = Recorder::new(hub.client.clone(), Reporter::from("fitout-hub"));
            if let Err(error) = recorder.publish(&event, &object).await {
                tracing::warn!(instance = object.name, %error, "failed to write event");
            }
        }
        write_results(&hub).await;
    }
}

/// Takes all that waits.
fn take<T: Default>(waiting: &Mutex<T>) -> T {
    std::mem::take(&mut *waiting.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Writes the content of revisions.
async fn write_contents(hub: &Hub) {
    for (digest, content) in take(&hub.deferred_writes.contents) {
        // Its revision may have been deleted meanwhile.
        if !hub.cache.names_content(&digest) {
            hub.content_gc.notify_one();
        }
        if let Err(error) = hub.content.put_packed(&content).await {
            tracing::warn!(%digest, %error, "failed to write content");
            hub.deferred_writes.keep(content);
        }
    }
}

/// Writes the result into the status of each revision that has none yet.
async fn write_results(hub: &Hub) {
    let instances = hub.cache.instances.state();
    let key = |instance: &ExtensionInstance| (instance.namespace().unwrap_or_default(), instance.name_any());
    let installed: BTreeMap<(String, String), u32> =
        instances.iter().filter_map(|instance| Some((key(instance), instance.status.as_ref()?.revision?))).collect();
    for revision in hub.cache.revisions.state() {
        let instance = (revision.namespace().unwrap_or_default(), revision.spec.instance.clone());
        let outcome = revision.outcome(installed.get(&instance).copied());
        let written = revision.status.as_ref().and_then(|status| status.result);
        if outcome == Outcome::Running || written == Some(outcome) || revision.metadata.deletion_timestamp.is_some() {
            continue;
        }
        let api: Api<ExtensionRevision> = Api::namespaced(hub.client.clone(), &instance.0);
        let patch = Patch::Merge(json!({ "status": { "result": outcome } }));
        match api.patch_status(&revision.name_any(), &PatchParams::default(), &patch).await {
            Ok(_) => {}
            // It was deleted with its instance.
            Err(kube::Error::Api(status)) if status.code == 404 => {}
            Err(error) => tracing::warn!(instance = instance.1, %error, "failed to write result"),
        }
    }
}

#[cfg(test)]
mod tests {
    use kube::runtime::events::EventType;

    use super::*;

    #[test]
    fn waiting_changes_delay_writes_within_limits() {
        let writes = DeferredWrites::default();
        assert_eq!([true, false].map(|changes_wait| writes.delay(changes_wait)), [DELAY_WHILE_CHANGES_WAIT, DELAY]);
        for _ in 0..EVENTS / 2 {
            let (reason, action) = ("Installed".to_owned(), "Reconcile".to_owned());
            let event = Event { type_: EventType::Normal, reason, note: None, action, secondary: None };
            writes.tell(event, ObjectReference::default());
        }
        assert_eq!(writes.delay(true), DELAY);
        drop(take(&writes.events));
        assert_eq!(writes.delay(true), DELAY_WHILE_CHANGES_WAIT);
        // Random bytes do not compress.
        let mut state = 1_u64;
        let mut byte = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state.to_be_bytes()[0]
        };
        writes.keep(Packed::new(&(0..CONTENTS).map(|_| byte()).collect::<Vec<u8>>()));
        assert_eq!(writes.delay(true), DELAY);
    }
}
