//! Fetches a catalog from an OCI registry.

use fitout_model::Digest;

use super::{Scope, Session};
use crate::address::RegistryPath;
use crate::http::Http;
use crate::manifest::catalog_layer;
use crate::{Access, Answer, Cause, Downloaded, Validators};

/// Fetches the layer with the definitions, unless the tag is still at the same manifest.
pub(crate) async fn download(
    http: &Http,
    path: &RegistryPath,
    validators: Option<&Validators>,
    limit: u64,
    access: &Access,
) -> Result<Answer<Downloaded>, Cause> {
    let (name, reference) = path.artifact().map_err(Cause::Address)?;
    let session = Session::new(http, &path.base, name, access, Scope::Pull)?;
    let (what, digest, text) = session.manifest(&reference).await?;
    let etag = Some(digest.to_string());
    if validators.is_some_and(|validators| validators.etag == etag) {
        return Ok(Answer::Unchanged);
    }
    let layer = catalog_layer(&text).map_err(|reason| Cause::NotACatalog { what, reason })?;
    let (_, content) = session.blob(&layer, limit).await?;
    let revision = Digest::from(layer.digest);
    Ok(Answer::Changed(Downloaded { content, revision, validators: Validators { etag, last_modified: None } }))
}
