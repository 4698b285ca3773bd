//! The commands: `fitout NOUN VERB` is `NOUN/VERB.rs`. Those of an instance need no noun: `fitout install` is
//! `instance/install.rs`.

mod catalog;
pub(crate) mod chart;
mod cluster;
mod copy_program;
mod extension;
mod hub;
pub(crate) mod instance;

use clap::{CommandFactory, Subcommand};
use kube::api::ListParams;
use serde::Serialize;
use serde_json::json;

use crate::arguments::{Arguments, Plan, ShowValues};
use crate::connection::{OrganizationResource, Session};
use crate::failure::Failure;
use crate::output::{Format, Paint};
use crate::tables::Layout;
use crate::{Answer, connection, plans, values};
use instance::{adopt, history, install, list, reassert, rollback, status, takeover, test, uninstall, upgrade};

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Install an extension on a cluster
    Install(install::Install),
    /// Change the version or the values of an instance
    Upgrade(upgrade::Upgrade),
    /// Roll an instance back to an earlier revision
    Rollback(rollback::Rollback),
    /// Uninstall an instance from its cluster
    Uninstall(uninstall::Uninstall),
    /// Keep a release revision that another client made, such as `helm upgrade`
    Adopt(takeover::Takeover),
    /// Install the desired state over a release revision that another client made
    Reassert(takeover::Takeover),
    /// Run the tests of the installed release, as `helm test` does
    Test(test::Test),
    /// Show what the hub would do for an instance, object by object, and why
    Plan(Plan),
    /// Show the values of an instance, and which layer sets each of them
    Values(ShowValues),
    /// List the instances
    List(list::List),
    /// Show the status of an instance
    Status(status::Status),
    /// List the revisions of an instance
    History(history::History),
    /// Add, list, show, sync and remove catalogs
    Catalog {
        #[command(subcommand)]
        command: catalog::Command,
    },
    /// List, search, show and sideload extensions, and write their definitions
    Extension {
        #[command(subcommand)]
        command: extension::Command,
    },
    /// Register, list, show and remove clusters
    Cluster {
        #[command(subcommand)]
        command: cluster::Command,
    },
    /// Render, show, lint, package and make charts, without a hub
    Chart {
        #[command(subcommand)]
        command: chart::Command,
    },
    /// Run the hub
    Hub(hub::Hub),
    /// Copy this program into a directory, for a container of an image without it
    #[command(hide = true)]
    CopyProgram(copy_program::CopyProgram),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the version
    Version,
}

/// Runs the command of the command line.
pub(crate) async fn run(arguments: Arguments, paint: Paint, layout: Layout) -> Result<Answer, Failure> {
    let Arguments { command, organization, output, .. } = arguments;
    let session = || Session::open(organization.as_deref(), output, paint, layout);
    match command {
        Command::Hub(hub) => {
            Ok(Answer { text: String::new(), code: Box::pin(hub::run(connection::config().await?, &hub)).await })
        }
        Command::Install(install) => install::run(&session().await?, &install).await,
        Command::Upgrade(upgrade) => upgrade::run(&session().await?, &upgrade).await,
        Command::Rollback(rollback) => rollback::run(&session().await?, &rollback).await,
        Command::Uninstall(uninstall) => uninstall::run(&session().await?, &uninstall).await,
        Command::Adopt(takeover) => adopt::run(&session().await?, &takeover).await,
        Command::Reassert(takeover) => reassert::run(&session().await?, &takeover).await,
        Command::Test(test) => test::run(&session().await?, &test).await,
        Command::Plan(plan) => plans::run(&session().await?, &plan).await,
        Command::Values(show) => values::run(&session().await?, &show).await,
        Command::List(list) => list::run(&session().await?, &list).await,
        Command::Status(status) => status::run(&session().await?, &status).await,
        Command::History(history) => history::run(&session().await?, &history).await,
        Command::Catalog { command } => catalog::run(&session().await?, &command).await,
        Command::Extension { command: extension::Command::Authoring(command) } => {
            extension::author(&command, output, paint).await
        }
        Command::Extension { command } => extension::run(&session().await?, &command).await,
        Command::Cluster { command } => cluster::run(&session().await?, command).await,
        Command::Chart { command: chart::Command::Push(push) } => chart::push::run(&push, output, paint).await,
        Command::Chart { command } => chart::run(&command, output, paint, layout),
        Command::CopyProgram(copy) => copy_program::run(&copy),
        Command::Completions { shell } => Ok(completions(shell).into()),
        Command::Version => Ok(version(output).into()),
    }
}

fn completions(shell: clap_complete::Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "fitout", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

fn version(output: Format) -> String {
    let version = env!("CARGO_PKG_VERSION");
    if output.is_table() { format!("fitout {version}\n") } else { output.value(&json!({ "fitout": version })) }
}

/// Prints a list; an empty table is only a message on the standard error.
fn list_objects<K: Serialize>(
    session: &Session,
    objects: &[K],
    empty: &str,
    table: impl FnOnce() -> String,
) -> Result<Answer, Failure> {
    if objects.is_empty() && session.output.is_table() {
        eprintln!("{empty}");
        return Ok(String::new().into());
    }
    Ok(session.output.list(objects, table)?.into())
}

/// The objects that every organization may use, then the organization's own, each sorted by name.
async fn shared_and_own<K: OrganizationResource>(session: &Session) -> Result<Vec<K>, Failure> {
    let mut all = session.all(session.shared::<K>(), &ListParams::default()).await?;
    all.extend(session.all(session.own::<K>(), &ListParams::default()).await?);
    Ok(all)
}
