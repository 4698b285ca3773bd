//! `fitout history`.

use clap::Args;
use fitout_api::ExtensionRevision;
use kube::api::ListParams;

use super::{find, revisions};
use crate::Answer;
use crate::commands::list_objects;
use crate::connection::Session;
use crate::failure::Failure;
use crate::tables;

#[derive(Args)]
pub(crate) struct History {
    /// The name of the instance
    instance: String,
}

pub(crate) async fn run(session: &Session, history: &History) -> Result<Answer, Failure> {
    let name = &history.instance;
    let installed = find(session, name).await?.status.and_then(|status| status.revision);
    let params = ListParams::default().fields(&format!("spec.instance={name}"));
    let kept = revisions::with_results(session.all(session.own::<ExtensionRevision>(), &params).await?, installed);
    let table = || tables::history(&kept, session.layout, session.now);
    list_objects(session, &kept, &format!("instance {name} has no revision yet"), table)
}
