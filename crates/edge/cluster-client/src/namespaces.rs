//! Which namespaces there are on a cluster, so that nobody has to ask for one.

use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::StreamExt;
use k8s_openapi::api::core::v1::Namespace;
use kube::core::PartialObjectMeta;
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{Config, Event, watcher};
use kube::{Api, Client, ResourceExt};

/// Their names; none as long as not all of them have been seen.
#[derive(Debug, Default)]
pub(crate) struct Namespaces(Mutex<Option<BTreeSet<String>>>);

impl Namespaces {
    fn lock(&self) -> MutexGuard<'_, Option<BTreeSet<String>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there is one of this name; none where that is not known.
    pub(crate) fn has(&self, name: &str) -> Option<bool> {
        self.lock().as_ref().map(|known| known.contains(name))
    }

    /// Takes note of one that is there, before the watch tells of it.
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

/// What is known for as long as this is kept.
struct Known<'a>(&'a Namespaces);

impl Known<'_> {
    fn forget(&self) {
        *self.0.lock() = None;
    }
}

impl Drop for Known<'_> {
    fn drop(&mut self) {
        self.forget();
    }
}

/// Follows them for as long as it is not dropped.
pub(crate) async fn follow(client: Client, namespaces: Arc<Namespaces>) {
    // Once nobody follows them, what was known may not be so any more.
    let known = Known(&namespaces);
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
                tracing::debug!(%error, "watch namespaces");
                known.forget();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_known_until_all_have_been_seen() {
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
