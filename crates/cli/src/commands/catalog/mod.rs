//! `fitout catalog`: the catalogs that an organization can install from.

mod add;
mod list;
mod remove;
mod show;
mod sync;
mod wait;

use clap::Subcommand;
use fitout_api::{Catalog, CatalogStatus, Scope, conditions};
use kube::ResourceExt;
use kube::api::ListParams;

use crate::Answer;
use crate::commands::instance::install::CatalogScope;
use crate::commands::shared_and_own;
use crate::connection::{SHARED, Session};
use crate::failure::{Failure, refused, unknown};

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Add a catalog
    Add(Box<add::Add>),
    /// List the catalogs that the organization can install from
    List,
    /// Show a catalog: its sources, what it offers and its problems
    Show(show::Show),
    /// Read the sources of a catalog now
    Sync(sync::Sync),
    /// Remove a catalog; what was installed from it stays
    Remove(remove::Remove),
}

pub(crate) async fn run(session: &Session, command: &Command) -> Result<Answer, Failure> {
    match command {
        Command::Add(add) => add::run(session, add).await,
        Command::List => list::run(session).await,
        Command::Show(show) => show::run(session, show).await,
        Command::Sync(sync) => sync::run(session, sync).await,
        Command::Remove(remove) => remove::run(session, remove).await,
    }
}

/// Finds a catalog by name, of the organization or shared.
async fn find(session: &Session, name: &str, scope: Option<CatalogScope>) -> Result<Catalog, Failure> {
    let mut found = vec![];
    for (api, of) in [(session.own::<Catalog>(), Scope::Organization), (session.shared::<Catalog>(), Scope::Shared)] {
        if scope.is_some_and(|scope| Scope::from(scope) != of) {
            continue;
        }
        let doing = format!("read Catalog {}/{name}", api.namespace().unwrap_or_default());
        found.extend(api.get_opt(name).await.map_err(|error| refused(&doing, &error))?);
    }
    match found.len() {
        0 => {
            let catalogs = shared_and_own::<Catalog>(session).await?;
            let names: Vec<String> = catalogs.iter().map(ResourceExt::name_any).collect();
            Err(unknown("catalog", name, "the hub", names.iter().map(String::as_str), "fitout catalog list"))
        }
        1 => Ok(found.swap_remove(0)),
        _ => Err(Failure::new(format!(
            "there are two catalogs named {name}: a shared one and one of organization {}",
            session.organization
        ))
        .hint("choose with --scope shared or --scope organization")),
    }
}

/// The namespace of catalogs of a scope.
fn namespace_of(session: &Session, scope: Scope) -> String {
    match scope {
        Scope::Shared => SHARED.to_owned(),
        Scope::Organization => session.namespace.clone(),
    }
}

/// Whether the hub has read the current generation of a catalog.
fn is_read(catalog: &Catalog) -> bool {
    let observed = catalog.status.as_ref().and_then(|status| status.observed_generation);
    observed.is_some() && observed >= catalog.metadata.generation
}

/// The result of a sync: a line for people, or the reason why the catalog could not be read.
fn result(session: &Session, catalog: &Catalog, done: &str) -> Result<Answer, Failure> {
    let name = catalog.name_any();
    let status = catalog.status.clone().unwrap_or_default();
    let ready = conditions::find(&status.conditions, conditions::READY);
    if let Some(ready) = ready.filter(|ready| ready.status == "False") {
        return Err(Failure::new(format!("catalog {name}: {}", ready.message))
            .hint(format!("the hub retries by itself; `fitout catalog show {name}` shows the state of each source")));
    }
    let text = || format!("{done} catalog {name}: {}\n", counts(&status));
    Ok(session.output.object(catalog, text)?.into())
}

/// The number of extensions and versions, in words.
fn counts(status: &CatalogStatus) -> String {
    let count = |number: Option<u32>, noun: &str| match number.unwrap_or_default() {
        1 => format!("1 {noun}"),
        number => format!("{number} {noun}s"),
    };
    format!("{}, {}", count(status.extensions, "extension"), count(status.versions, "version"))
}

/// The instances of the organization that come from a catalog.
async fn instances_from(session: &Session, catalog: &Catalog) -> Result<Vec<String>, Failure> {
    let all = session.all(session.own::<fitout_api::ExtensionInstance>(), &ListParams::default()).await?;
    let scope = if catalog.namespace().as_deref() == Some(SHARED) { Scope::Shared } else { Scope::Organization };
    let from = all.iter().filter(|instance| {
        let extension = &instance.spec.extension;
        extension.catalog == catalog.name_any() && extension.scope == scope
    });
    Ok(from.map(ResourceExt::name_any).collect())
}
