//! Waiting until the hub has read a catalog.

use std::fmt::Write;
use std::pin::pin;
use std::time::Duration;

use fitout_api::{Catalog, conditions};
use futures::StreamExt;
use kube::Api;
use kube::runtime::{WatchStreamExt, watcher};

use super::counts;
use super::show::described;
use crate::connection::Session;
use crate::display::Display;
use crate::failure::Failure;
use crate::wait::lost;

/// The sources that are named before the others are counted.
const NAMED: usize = 2;

/// Waits until a catalog is as expected, and returns it; none after the timeout. Shows which sources the hub reads, and how
/// long it has taken. The hub reports a read when it has ended, so there is no more to show.
pub(super) async fn wait_until(
    session: &Session,
    namespace: &str,
    name: &str,
    timeout: Duration,
    expected: impl Fn(&Catalog) -> bool,
) -> Result<Option<Catalog>, Failure> {
    let api: Api<Catalog> = Api::namespaced(session.client.clone(), namespace);
    let mut watched = pin!(watcher::watch_object(api, name).default_backoff());
    let display = Display::for_people(name);
    let found = async {
        while let Some(now) = watched.next().await {
            match now {
                Ok(Some(catalog)) if expected(&catalog) => return Ok(Some(catalog)),
                Ok(Some(catalog)) => display.message(&line(&catalog)),
                Ok(None) => return Err(Failure::new(format!("catalog {name} was removed by another client"))),
                Err(error) => lost::<Catalog>(name, &display, &error)?,
            }
        }
        Ok(None)
    };
    let ended = tokio::time::timeout(timeout, found).await;
    display.end();
    ended.unwrap_or(Ok(None))
}

/// The sources that the hub reads, and the result of the read before, if there is one.
fn line(catalog: &Catalog) -> String {
    let sources: Vec<String> = catalog.spec.source.iter().chain(catalog.spec.sources.values()).map(described).collect();
    let mut text = format!("reading {}", sources[..sources.len().min(NAMED)].join(", "));
    if sources.len() > NAMED {
        let _ = write!(text, " and {} more", sources.len() - NAMED);
    }
    let status = catalog.status.clone().unwrap_or_default();
    let failed = conditions::find(&status.conditions, conditions::READY).filter(|ready| ready.status == "False");
    let _ = match failed {
        Some(ready) => write!(text, "; the last read: {}", ready.message),
        None if status.extensions.is_some() => write!(text, "; so far {}", counts(&status)),
        None => Ok(()),
    };
    text
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn catalog(spec: &Value, status: &Value) -> Catalog {
        serde_json::from_value(json!({
            "apiVersion": "fitout.dev/v1alpha1", "kind": "Catalog", "metadata": { "name": "apps" }, "spec": spec,
            "status": status,
        }))
        .unwrap()
    }

    #[test]
    fn the_sources_and_the_last_result_are_shown() {
        let git = json!({ "source": { "git": { "url": "https://git.example.com/a.git", "branch": "main" } } });
        let helm = |minor: &str| json!({ "helmRepository": { "url": format!("https://charts.example.com/{minor}") } });
        let keyed = json!({ "sources": { "1.34": helm("1.34"), "1.35": helm("1.35"), "1.36": helm("1.36") } });
        let failed = json!({ "conditions": [{
            "type": "Ready", "status": "False", "reason": "Unreachable", "message": "no answer",
            "lastTransitionTime": "2030-01-02T00:00:00Z",
        }] });
        let git_text = "reading git repository https://git.example.com/a.git at main";
        let rows = [
            (&git, json!({}), git_text.to_owned()),
            (&git, json!({ "extensions": 1, "versions": 3 }), format!("{git_text}; so far 1 extension, 3 versions")),
            (&git, failed, format!("{git_text}; the last read: no answer")),
            (&keyed, json!({}), {
                "reading Helm repository https://charts.example.com/1.34, Helm repository \
                 https://charts.example.com/1.35 and 1 more"
                    .to_owned()
            }),
        ];
        for (spec, status, expected) in rows {
            assert_eq!(line(&catalog(spec, &status)), expected);
        }
    }
}
