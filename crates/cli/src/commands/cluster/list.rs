//! `fitout cluster list`.

use fitout_api::Cluster;
use kube::api::ListParams;

use crate::Answer;
use crate::commands::list_objects;
use crate::connection::Session;
use crate::failure::Failure;
use crate::tables;

pub(crate) async fn run(session: &Session) -> Result<Answer, Failure> {
    let clusters = session.all(session.own::<Cluster>(), &ListParams::default()).await?;
    let table = || tables::clusters(&clusters, session.layout, session.now);
    list_objects(session, &clusters, &format!("organization {} has no clusters", session.organization), table)
}
