//! `fitout extension`: the extensions that an organization can install.

mod fit;
mod list;
mod search;
mod show;
mod sideload;

use clap::Subcommand;

use crate::Answer;
use crate::connection::Session;
use crate::failure::Failure;

#[derive(Subcommand)]
pub(crate) enum Command {
    /// List the extensions that the organization can install
    List(list::List),
    /// Search extensions by words and categories
    Search(search::Search),
    /// Show an extension, its versions, and which of them fit the organization's clusters
    Show(show::Show),
    /// Offer a definition or a chart to this organization alone, without a catalog
    Sideload(sideload::Sideload),
}

pub(crate) async fn run(session: &Session, command: &Command) -> Result<Answer, Failure> {
    match command {
        Command::List(list) => list::run(session, list).await,
        Command::Search(search) => search::run(session, search).await,
        Command::Show(show) => show::run(session, show).await,
        Command::Sideload(sideload) => sideload::run(session, sideload).await,
    }
}
