//! `fitout extension push`.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use clap::Args;
use fitout_repositories::{CatalogPush, Sources};

use super::package;
use crate::Answer;
use crate::failure::Failure;
use crate::output::Format;
use crate::registry_access::{CREATED, RegistryArgs, pushed};

#[derive(Args)]
pub(crate) struct Push {
    /// The archive of `fitout extension package`, or the directory of a definition or a catalog
    path: PathBuf,
    /// The address with the tag: `oci://HOST/PATH:TAG`, or `oci+http://…` without TLS
    address: String,
    #[command(flatten)]
    access: RegistryArgs,
}

pub(crate) async fn run(push: &Push, output: Format) -> Result<Answer, Failure> {
    let Push { path, address, access } = push;
    let access = access.access()?;
    let archive = if path.is_dir() {
        package::build(path)?.1
    } else {
        fs::read(path).map_err(|error| Failure::new(format!("cannot read {}: {error}", path.display())))?
    };
    let annotations = BTreeMap::from([("org.opencontainers.image.created".to_owned(), CREATED.to_owned())]);
    let catalog = CatalogPush { address, archive: &archive, annotations: &annotations };
    let done = Sources::default().push_catalog(&catalog, &access).await;
    let done = done.map_err(|error| Failure::new(format!("cannot push {}: {error}", path.display())))?;
    Ok(pushed(&[done], output).into())
}
