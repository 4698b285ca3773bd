//! `fitout adopt`.

use fitout_api::Choice;

use super::takeover::{self, Takeover};
use crate::Answer;
use crate::connection::Session;
use crate::failure::Failure;

pub(crate) async fn run(session: &Session, takeover: &Takeover) -> Result<Answer, Failure> {
    takeover::run(session, takeover, Choice::Adopt).await
}
