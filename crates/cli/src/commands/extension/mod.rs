//! `fitout extension`: the extensions that an organization can install, and the definitions that authors write.

pub(crate) mod candidates;
mod derive;
mod details;
mod fit;
mod lint;
mod list;
mod new;
pub(crate) mod package;
mod push;
mod search;
mod show;
mod sideload;
mod versions;

use std::path::PathBuf;

use clap::Subcommand;
use fitout_model::{Definition, read_packages};

use crate::Answer;
use crate::connection::Session;
use crate::failure::Failure;
use crate::file_tree;
use crate::output::{Format, Paint};

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
    #[command(flatten)]
    Authoring(Box<Authoring>),
}

/// The commands of authors. They work on files and need no hub.
#[derive(Subcommand)]
pub(crate) enum Authoring {
    /// Write a definition to start from
    New(new::New),
    /// Write the definition of a chart, from what the chart renders
    Derive(derive::Derive),
    /// Check definitions and catalogs for errors
    Lint(lint::Lint),
    /// Package a definition or a catalog as an archive
    Package(package::Package),
    /// Push a definition or a catalog to a registry
    Push(push::Push),
}

/// Runs a command of authors.
pub(crate) async fn author(command: &Authoring, output: Format, paint: Paint) -> Result<Answer, Failure> {
    match command {
        Authoring::New(arguments) => new::run(arguments),
        Authoring::Derive(arguments) => derive::run(arguments, paint),
        Authoring::Lint(arguments) => lint::run(arguments, output, paint),
        Authoring::Package(arguments) => package::run(arguments, output),
        Authoring::Push(arguments) => push::run(arguments, output).await,
    }
}

/// The definitions of catalogs. The linter reports those that cannot be read.
fn offered(catalogs: &[PathBuf]) -> Result<Vec<Definition>, Failure> {
    let mut all = Vec::new();
    for path in catalogs {
        let packages = read_packages(file_tree::read(path)?).packages;
        all.extend(packages.iter().map(|package| package.definition.clone()));
    }
    Ok(all)
}

pub(crate) async fn run(session: &Session, command: &Command) -> Result<Answer, Failure> {
    match command {
        Command::List(list) => list::run(session, list).await,
        Command::Search(search) => search::run(session, search).await,
        Command::Show(show) => show::run(session, show).await,
        Command::Sideload(sideload) => sideload::run(session, sideload).await,
        Command::Authoring(command) => author(command, session.output, session.paint).await,
    }
}
