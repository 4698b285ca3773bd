//! `fitout catalog list`.

use fitout_api::Catalog;

use crate::Answer;
use crate::commands::{list_objects, shared_and_own};
use crate::connection::Session;
use crate::failure::Failure;
use crate::tables;

pub(crate) async fn run(session: &Session) -> Result<Answer, Failure> {
    let catalogs = shared_and_own::<Catalog>(session).await?;
    let table = || tables::catalogs(&catalogs, session.layout, session.now);
    list_objects(session, &catalogs, "the hub has no catalogs", table)
}
