//! `fitout extension list`.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use clap::Args;
use fitout_api::{BUILTIN, Catalog, Extension};
use kube::ResourceExt;

use crate::Answer;
use crate::commands::{list_objects, shared_and_own};
use crate::connection::Session;
use crate::failure::Failure;
use crate::tables;

#[derive(Args)]
pub(crate) struct List {
    /// Only the extensions of the platform's own catalogs
    #[arg(long)]
    builtin: bool,
    /// Only the extensions of this catalog
    #[arg(long, value_name = "NAME")]
    catalog: Option<String>,
}

pub(crate) async fn run(session: &Session, list: &List) -> Result<Answer, Failure> {
    let mut extensions = in_order(session).await?;
    extensions.retain(|extension| {
        let is_builtin = extension.labels().contains_key(BUILTIN);
        (is_builtin || !list.builtin) && list.catalog.as_ref().is_none_or(|catalog| extension.spec.catalog == *catalog)
    });
    let table = || tables::extensions(&extensions, session.layout, session.paint, session.now);
    list_objects(session, &extensions, "no catalog offers such an extension", table)
}

/// All extensions that the organization can install, by name; those of catalogs with a higher priority come first.
pub(super) async fn in_order(session: &Session) -> Result<Vec<Extension>, Failure> {
    let catalogs = shared_and_own::<Catalog>(session).await?;
    let key = |namespace: Option<String>, name: String| (namespace.unwrap_or_default(), name);
    let priorities: BTreeMap<(String, String), i32> =
        catalogs.iter().map(|catalog| (key(catalog.namespace(), catalog.name_any()), catalog.spec.priority)).collect();
    let mut extensions = shared_and_own::<Extension>(session).await?;
    extensions.sort_by_cached_key(|extension| {
        let catalog = key(extension.namespace(), extension.spec.catalog.clone());
        let priority = priorities.get(&catalog).copied().unwrap_or_default();
        (extension.spec.extension.clone(), Reverse(priority), catalog)
    });
    Ok(extensions)
}
