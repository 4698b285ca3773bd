//! `fitout list`.

use clap::Args;
use fitout_api::{Cluster, ExtensionInstance};
use kube::api::ListParams;

use super::withdrawal;
use crate::Answer;
use crate::commands::list_objects;
use crate::connection::Session;
use crate::failure::Failure;
use crate::tables;

#[derive(Args)]
pub(crate) struct List {
    /// List only the instances on this cluster
    #[arg(long, short)]
    cluster: Option<String>,
}

pub(crate) async fn run(session: &Session, list: &List) -> Result<Answer, Failure> {
    let mut params = ListParams::default();
    if let Some(cluster) = &list.cluster {
        session.named::<Cluster>("cluster", cluster, "fitout cluster list").await?;
        params = params.fields(&format!("spec.cluster={cluster}"));
    }
    let instances = session.all(session.own::<ExtensionInstance>(), &params).await?;
    let marked = if session.output.is_table() { instances.as_slice() } else { &[] };
    let withdrawn = withdrawal::of_instances(session, marked).await;
    let table = || {
        let table = tables::instances(&instances, &withdrawn, session.layout, session.paint, session.now);
        table + &withdrawal::notices(&withdrawn, session.paint)
    };
    list_objects(session, &instances, &format!("organization {} has no instances", session.organization), table)
}
