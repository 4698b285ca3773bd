//! `fitout extension`: the extensions that an organization can install.

mod list;
mod show;

use clap::Subcommand;

use crate::Answer;
use crate::connection::Session;
use crate::failure::Failure;

#[derive(Subcommand)]
pub(crate) enum Command {
    /// List the extensions that the organization can install
    List,
    /// Show an extension and its versions
    Show(show::Show),
}

pub(crate) async fn run(session: &Session, command: &Command) -> Result<Answer, Failure> {
    match command {
        Command::List => list::run(session).await,
        Command::Show(show) => show::run(session, show).await,
    }
}
