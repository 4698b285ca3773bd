//! `fitout extension list`.

use fitout_api::Extension;

use crate::Answer;
use crate::commands::{list_objects, shared_and_own};
use crate::connection::Session;
use crate::failure::Failure;
use crate::tables;

pub(crate) async fn run(session: &Session) -> Result<Answer, Failure> {
    let extensions = shared_and_own::<Extension>(session).await?;
    let table = || tables::extensions(&extensions, session.layout, session.now);
    list_objects(session, &extensions, "no catalog offers an extension yet", table)
}
