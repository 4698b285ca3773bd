//! Finds the catalog that offers an extension.

use fitout_api::{Catalog, Extension, Scope, conditions};
use kube::api::ListParams;
use kube::{Api, ResourceExt};

use crate::commands::instance::install::Install;
use crate::connection::Session;
use crate::failure::{Failure, unknown};
use crate::wait::wait_until_seen;

/// The scope of the catalog that offers the extension. Waits once for a catalog that the hub has not read yet.
pub(crate) async fn scope(session: &Session, install: &Install) -> Result<Scope, Failure> {
    let mut waited = false;
    loop {
        let own = session.all(session.own::<Extension>(), &ListParams::default()).await?;
        let shared = session.all(session.shared::<Extension>(), &ListParams::default()).await?;
        if let Some(scope) = offered(session, install, &own, &shared)? {
            return Ok(scope);
        }
        let mut catalogs = session.all(session.own::<Catalog>(), &ListParams::default()).await?;
        catalogs.extend(session.all(session.shared::<Catalog>(), &ListParams::default()).await?);
        let unread = catalogs.iter().find(|catalog| catalog.name_any() == install.catalog && !is_read(catalog));
        match unread {
            Some(unread) if !waited => {
                let api = Api::namespaced(session.client.clone(), &unread.namespace().unwrap_or_default());
                wait_until_seen(api, &install.catalog, "read catalog", is_read).await;
            }
            _ => return Err(not_offered(install, &[own, shared].concat(), &catalogs)),
        }
        waited = true;
    }
}

fn offered(
    session: &Session,
    install: &Install,
    own: &[Extension],
    shared: &[Extension],
) -> Result<Option<Scope>, Failure> {
    let name = Extension::name_of(&install.catalog, &install.extension);
    let offers = |extensions: &[Extension]| extensions.iter().any(|extension| extension.name_any() == name);
    let requested: Option<Scope> = install.scope.map(Into::into);
    match (offers(own), offers(shared), requested) {
        (true, true, None) => Err(Failure::new(format!(
            "extension {} is offered by two catalogs named {}: a shared one and one of organization {}",
            install.extension, install.catalog, session.organization
        ))
        .hint("choose with --scope shared or --scope organization")),
        (true, _, None | Some(Scope::Organization)) => Ok(Some(Scope::Organization)),
        (_, true, None | Some(Scope::Shared)) => Ok(Some(Scope::Shared)),
        _ => Ok(None),
    }
}

/// Whether the hub has read the current generation of a catalog.
fn is_read(catalog: &Catalog) -> bool {
    let seen = catalog.status.as_ref().and_then(|status| status.observed_generation);
    seen.is_some() && seen >= catalog.metadata.generation
}

fn not_offered(install: &Install, offered: &[Extension], catalogs: &[Catalog]) -> Failure {
    let all = || offered.iter().map(|extension| &extension.spec);
    if let Some(other) = all().find(|spec| spec.extension == install.extension && spec.catalog != install.catalog) {
        let sentence = format!("extension {} not found in catalog {}", install.extension, install.catalog);
        return Failure::new(sentence).hint(format!("catalog {0} has it: add --catalog {0}", other.catalog));
    }
    let Some(catalog) = catalogs.iter().find(|catalog| catalog.name_any() == install.catalog) else {
        let names: Vec<_> = catalogs.iter().map(ResourceExt::name_any).collect();
        return unknown(
            "catalog",
            &install.catalog,
            "the hub",
            names.iter().map(String::as_str),
            "fitout catalog list",
        );
    };
    let names = all().filter(|spec| spec.catalog == install.catalog).map(|spec| spec.extension.as_str());
    let failure = unknown(
        "extension",
        &install.extension,
        &format!("catalog {}", install.catalog),
        names,
        "fitout extension list",
    );
    // The extension may be one that the hub could not read.
    let ready = catalog.status.as_ref().and_then(|status| conditions::find(&status.conditions, conditions::READY));
    match (ready.filter(|ready| ready.status == "False"), failure.hint.clone()) {
        (Some(ready), Some(hint)) => {
            failure.hint(format!("{hint}; the hub could not read all of that catalog: {}", ready.message))
        }
        _ => failure,
    }
}
