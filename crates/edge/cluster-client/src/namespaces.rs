//! The names of a cluster's namespaces, kept by a watch.

use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::StreamExt;
use k8s_openapi::api::core::v1::Namespace;
use kube::core::PartialObjectMeta;
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{Config, Event, watcher};
use kube::{Api, Client, ResourceExt};

/// The names of all namespaces; none until the watch has listed them.
#[derive(Debug, Default)]
pub(crate) struct Namespaces(Mutex<Option<BTreeSet<String>>>);

impl Namespaces {
    fn lock(&self) -> MutexGuard<'_, Option<BTreeSet<String>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a namespace of this name exists; none where that is not known.
    pub(crate) fn has(&self, name: &str) -> Option<bool> {
        self.lock().as_ref().map(|known| known.contains(name))
    }

    /// Adds a namespace that was just created, before its watch event.
    pub(crate) fn add(&self, name: &str) {
        if let Some(known) = self.lock().as_mut() {
            known.insert(name.to_owned());
        }
    }

    fn remove(&self, name: &str) {
        if let Some(known) = self.lock().as_mut() {
            known.remove(name);
        }
    }
}

/// Clears the names when it is dropped.
struct ClearOnDrop<'a>(&'a Namespaces);

impl ClearOnDrop<'_> {
    fn clear(&self) {
        *self.0.lock() = None;
    }
}

impl Drop for ClearOnDrop<'_> {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Watches the namespaces until it is dropped.
pub(crate) async fn follow(client: Client, namespaces: Arc<Namespaces>) {
    // Without a watch the names may be stale.
    let guard = ClearOnDrop(&namespaces);
    let api = Api::<PartialObjectMeta<Namespace>>::all(client);
    let mut events = pin!(watcher(api, Config::default()).default_backoff());
    let mut all = BTreeSet::new();
    while let Some(event) = events.next().await {
        match event {
            Ok(Event::Init) => all.clear(),
            Ok(Event::InitApply(namespace)) => drop(all.insert(namespace.name_any())),
            Ok(Event::InitDone) => *namespaces.lock() = Some(std::mem::take(&mut all)),
            Ok(Event::Apply(namespace)) => namespaces.add(&namespace.name_any()),
            Ok(Event::Delete(namespace)) => namespaces.remove(&namespace.name_any()),
            Err(error) => {
                tracing::debug!(%error, "watch of namespaces failed");
                guard.clear();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespaces_are_unknown_until_all_are_listed() {
        let namespaces = Namespaces::default();
        namespaces.add("shop");
        assert_eq!(namespaces.has("shop"), None);
        *namespaces.lock() = Some(BTreeSet::new());
        assert_eq!(namespaces.has("shop"), Some(false));
        namespaces.add("shop");
        assert_eq!(namespaces.has("shop"), Some(true));
        namespaces.remove("shop");
        assert_eq!(namespaces.has("shop"), Some(false));
    }
}
