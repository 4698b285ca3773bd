//! `fitout catalog sync`.

use clap::Args;
use fitout_api::{ACCEPT_REVISION, Catalog, SYNC_REQUESTED_AT};
use k8s_openapi::jiff::Timestamp;
use kube::api::{Patch, PatchParams};
use kube::{Api, ResourceExt};
use serde_json::json;

use super::wait::wait_until;
use super::{find, result};
use crate::Answer;
use crate::arguments::Waiting;
use crate::commands::instance::install::CatalogScope;
use crate::connection::Session;
use crate::failure::{Failure, refused};

#[derive(Args)]
pub(crate) struct Sync {
    /// The name of the catalog
    name: String,
    /// The scope of the catalog, where a shared and an own one have the same name
    #[arg(long, value_enum)]
    scope: Option<CatalogScope>,
    /// Accept this revision of the source, which changes published versions or is older than the last one
    #[arg(long, value_name = "REVISION")]
    accept: Option<String>,
    #[command(flatten)]
    waiting: Waiting,
}

pub(crate) async fn run(session: &Session, sync: &Sync) -> Result<Answer, Failure> {
    let name = &sync.name;
    let catalog = find(session, name, sync.scope).await?;
    let namespace = catalog.namespace().unwrap_or_default();
    if catalog.spec.suspend {
        return Err(Failure::new(format!("catalog {name} is suspended, so the hub does not read it"))
            .hint("unset `spec.suspend` of the Catalog first"));
    }
    let request = Timestamp::now().to_string();
    let mut annotations = json!({ SYNC_REQUESTED_AT: request });
    if let Some(revision) = &sync.accept {
        annotations[ACCEPT_REVISION] = json!(revision);
    }
    let patch = Patch::Merge(json!({ "metadata": { "annotations": annotations } }));
    let api: Api<Catalog> = Api::namespaced(session.client.clone(), &namespace);
    let patched = api.patch(name, &PatchParams::default(), &patch).await;
    patched.map_err(|error| refused(&format!("annotate Catalog {namespace}/{name}"), &error))?;
    // The command is about the result, so it waits unless told otherwise.
    if !sync.waiting.is_on(true) {
        return Ok(session.output.object(&catalog, || format!("requested a sync of catalog {name}\n"))?.into());
    }
    let is_handled = |catalog: &Catalog| {
        catalog.status.as_ref().is_some_and(|status| status.last_handled_request.as_ref() == Some(&request))
    };
    match wait_until(session, &namespace, name, sync.waiting.timeout, is_handled).await? {
        Some(catalog) => result(session, &catalog, "synced"),
        None => Err(Failure::new(format!("the hub has not read catalog {name} yet"))
            .hint(format!("check that the hub runs; `fitout catalog show {name}` shows the state of each source"))),
    }
}
