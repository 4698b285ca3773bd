//! `fitout cluster`: the clusters that an organization has registered with the hub.

mod add;
mod kubeconfig;
mod list;
mod remove;
mod show;

use clap::Subcommand;
use fitout_api::Cluster;

use crate::Answer;
use crate::connection::Session;
use crate::failure::Failure;

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Register a cluster with the hub
    Add(add::Add),
    /// List the clusters
    List,
    /// Show a cluster
    Show(show::Show),
    /// Remove a cluster from the hub; the cluster itself is not changed
    Remove(remove::Remove),
}

pub(crate) async fn run(session: &Session, command: Command) -> Result<Answer, Failure> {
    match command {
        Command::Add(add) => add::run(session, &add).await,
        Command::List => list::run(session).await,
        Command::Show(show) => show::run(session, &show).await,
        Command::Remove(remove) => remove::run(session, &remove).await,
    }
}

async fn find(session: &Session, name: &str) -> Result<Cluster, Failure> {
    session.named("cluster", name, "fitout cluster list").await
}

/// The name of the secret with the kubeconfig of a cluster that was registered with `fitout cluster add`.
fn secret_name(cluster: &str) -> String {
    format!("{cluster}-kubeconfig")
}
