//! `fitout catalog remove`.

use clap::Args;
use fitout_api::Catalog;
use kube::api::{DeleteParams, Preconditions};
use kube::{Api, ResourceExt};

use super::{find, instances_from};
use crate::Answer;
use crate::commands::instance::install::CatalogScope;
use crate::connection::Session;
use crate::failure::{Failure, refused};

#[derive(Args)]
pub(crate) struct Remove {
    /// The name of the catalog
    name: String,
    /// The scope of the catalog, where a shared and an own one have the same name
    #[arg(long, value_enum)]
    scope: Option<CatalogScope>,
    /// Show what would be deleted, and delete nothing
    #[arg(long)]
    dry_run: bool,
}

pub(crate) async fn run(session: &Session, remove: &Remove) -> Result<Answer, Failure> {
    let name = &remove.name;
    let catalog = find(session, name, remove.scope).await?;
    let namespace = catalog.namespace().unwrap_or_default();
    let stay = instances_from(session, &catalog).await?;
    let api: Api<Catalog> = Api::namespaced(session.client.clone(), &namespace);
    let preconditions = Some(Preconditions { uid: catalog.uid(), resource_version: None });
    let params = DeleteParams { dry_run: remove.dry_run, preconditions, ..DeleteParams::default() };
    let doing = format!("delete Catalog {namespace}/{name}");
    api.delete(name, &params).await.map_err(|error| refused(&doing, &error))?;
    let stay = match stay.as_slice() {
        [] => String::new(),
        names => format!("; these instances stay installed, at their versions: {}", names.join(", ")),
    };
    if remove.dry_run {
        eprintln!("dry run: nothing was deleted");
        return Ok(session.output.object(&catalog, || format!("would {doing}{stay}\n"))?.into());
    }
    Ok(session.output.object(&catalog, || format!("removed catalog {name}{stay}\n"))?.into())
}
