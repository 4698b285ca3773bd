//! Fetches a chart from an OCI registry.
//!
//! A pull takes a request for the manifest and one for the archive, and before them one for a token if the registry
//! requires it.

use fitout_helm_ranges::Version;
use fitout_model::Digest;
use serde::Deserialize;

use super::session::{MAX_JSON, json};
use super::{Scope, Session};
use crate::address::{Address, RegistryPath, sha256};
use crate::choice::choose;
use crate::expected::Expected;
use crate::http::Http;
use crate::manifest::Manifest;
use crate::{Access, Cause, Fetched, ResponseError, Wanted};

/// Fetches a chart.
pub(crate) async fn fetch(
    http: &Http,
    path: &RegistryPath,
    wanted: &Wanted<'_>,
    access: &Access,
) -> Result<Fetched, Cause> {
    let (name, pinned) = path.chart(wanted.chart).map_err(Cause::Address)?;
    let session = Session::new(http, &path.base, name, access, Scope::Pull)?;
    let requested = wanted.version.filter(|version| !version.is_empty());
    if let Some(digest) = pinned {
        let manifest = manifest(&session, &digest).await?;
        let version = version(&session, &manifest, requested).await?;
        return archive(&session, &manifest, &Expected::new(&version, None, wanted.digest)?).await;
    }
    let version = match requested {
        // As in Helm, a version is the tag; tags are listed for a range only.
        Some(version) if Version::parse(version).is_ok() => version.to_owned(),
        _ => choose(versions(session.tags().await?), requested)?,
    };
    let manifest = manifest(&session, &tag(&version)).await?;
    archive(&session, &manifest, &Expected::new(&version, None, wanted.digest)?).await
}

/// Fetches the archive of a URL `oci://host/path:tag` in an index.
pub(crate) async fn fetch_url(
    http: &Http,
    reference: &str,
    expected: &Expected<'_>,
    access: &Access,
) -> Result<Fetched, Cause> {
    let malformed = || Cause::Malformed {
        what: "the index".to_owned(),
        reason: ResponseError::UrlWithoutVersion(reference.to_owned()),
    };
    let (address, version) = reference.rsplit_once(':').ok_or_else(malformed)?;
    let Address::Registry(path) = Address::parse(address).map_err(Cause::Address)? else { return Err(malformed()) };
    if Version::parse(version).is_err() {
        return Err(malformed());
    }
    let (name, _) = path.chart("").map_err(Cause::Address)?;
    let session = Session::new(http, &path.base, name, access, Scope::Pull)?;
    let manifest = manifest(&session, &tag(version)).await?;
    archive(&session, &manifest, expected).await
}

/// The tag of a version, with `_` for `+`, which tags cannot contain.
pub(super) fn tag(version: &str) -> String {
    version.replace('+', "_")
}

/// The tags that are versions, with the texts of the versions.
pub(super) fn versions(tags: Vec<String>) -> Vec<(Version, String)> {
    let versions = tags.into_iter().map(|tag| tag.replace('_', "+"));
    versions.filter_map(|version| Some((Version::parse_strict(&version).ok()?, version))).collect()
}

async fn manifest(session: &Session<'_>, reference: &str) -> Result<Manifest, Cause> {
    let (what, _, text) = session.manifest(reference).await?;
    Manifest::parse(&text).map_err(|reason| Cause::NotAChart { what, reason })
}

/// Reads the version of a chart that is pinned by digest, and fails if it does not match the requested one.
async fn version(session: &Session<'_>, manifest: &Manifest, requested: Option<&str>) -> Result<String, Cause> {
    #[derive(Deserialize)]
    struct Metadata {
        version: String,
    }
    let (what, text) = session.blob(&manifest.config, MAX_JSON).await?;
    let Metadata { version } = json(&what, &text)?;
    match Version::parse(&version) {
        Ok(parsed) if requested.is_some() => choose(vec![(parsed, version)], requested),
        Ok(_) => Ok(version),
        Err(error) => Err(Cause::Malformed { what, reason: ResponseError::Version { version, error } }),
    }
}

async fn archive(session: &Session<'_>, manifest: &Manifest, expected: &Expected<'_>) -> Result<Fetched, Cause> {
    expected.check_digest(sha256(&manifest.archive.digest).map(Digest::from).as_ref())?;
    let (what, archive) = session.blob(&manifest.archive, session.limits().archive).await?;
    expected.verify(&what, archive)
}
