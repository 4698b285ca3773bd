//! `fitout catalog`: the catalogs that an organization can install from.

mod list;

use clap::Subcommand;

use crate::Answer;
use crate::connection::Session;
use crate::failure::Failure;

#[derive(Subcommand)]
pub(crate) enum Command {
    /// List the catalogs that the organization can install from
    List,
}

pub(crate) async fn run(session: &Session, command: &Command) -> Result<Answer, Failure> {
    match command {
        Command::List => list::run(session).await,
    }
}
