//! Pushes charts and catalogs to an OCI registry.

use std::collections::BTreeMap;

use fitout_model::Digest;
use reqwest::header::{CONTENT_TYPE, LOCATION};
use reqwest::{Method, Url};
use serde::Deserialize;

use super::pull::tag;
use super::session::{MAX_JSON, content_digest};
use super::{Scope, Session};
use crate::address::{RegistryPath, redirect};
use crate::chart_config::{ChartConfig, go_json};
use crate::http::{Http, Response, check_redirect};
use crate::manifest::{
    CATALOG_CONFIG_TYPE, CATALOG_TYPE, CHART_CONFIG_TYPE, CHART_TYPES, Descriptor, MANIFEST_TYPE, NewManifest,
    PROVENANCE_TYPE,
};
use crate::{Access, Cause, RedirectError};

/// A chart to push.
#[derive(Clone, Copy, Debug)]
pub struct ChartPush<'a> {
    /// The address below which the chart gets its repository: `oci://…` or `oci+http://…`.
    pub repository: &'a str,
    /// The archive, as `helm package` writes it.
    pub archive: &'a [u8],
    /// The provenance file.
    pub provenance: Option<&'a [u8]>,
    /// The time at which the archive was written, as in RFC 3339. Helm uses the modification time of the file, in the
    /// local time zone. With the same time, the manifest has the digest that it gets from `helm push`.
    pub created: &'a str,
}

/// A catalog to push.
#[derive(Clone, Copy, Debug)]
pub struct CatalogPush<'a> {
    /// The address with the tag: `oci://host/path:tag`.
    pub address: &'a str,
    /// The archive of definitions: a gzipped tar.
    pub archive: &'a [u8],
    /// Annotations of the manifest, such as `org.opencontainers.image.created`.
    pub annotations: &'a BTreeMap<String, String>,
}

/// The result of a push.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pushed {
    /// The repository in the registry.
    pub name: String,
    /// The tag.
    pub tag: String,
    /// The digest of the manifest.
    pub manifest: Digest,
    /// The digest of the archive.
    pub archive: Digest,
    /// The number of bytes that were uploaded. The registry already has all other blobs.
    pub uploaded: u64,
}

/// A blob with its descriptor.
type Blob<'a> = (Descriptor, &'a [u8]);

/// Pushes a chart as `helm push` does.
pub(crate) async fn chart(
    http: &Http,
    path: &RegistryPath,
    push: &ChartPush<'_>,
    access: &Access,
) -> Result<Pushed, Cause> {
    let chart = ChartConfig::read(push.archive, push.created).map_err(Cause::InvalidArchive)?;
    let (name, _) = path.chart(&chart.name).map_err(Cause::Address)?;
    let session = Session::new(http, &path.base, name, access, Scope::Push)?;
    let archive = Descriptor::of(CHART_TYPES[0], push.archive);
    let mut layers = vec![(archive.clone(), push.archive)];
    layers.extend(push.provenance.map(|file| (Descriptor::of(PROVENANCE_TYPE, file), file)));
    // In the order of Helm.
    layers.sort_by(|(one, _), (other, _)| one.digest.cmp(&other.digest));
    let config = (Descriptor::of(CHART_CONFIG_TYPE, &chart.config), chart.config.as_slice());
    let artifact = Artifact { config, layers, media_type: None, annotations: chart.annotations };
    artifact.push(&session, tag(&chart.version), archive.digest).await
}

/// Pushes a catalog.
pub(crate) async fn catalog(
    http: &Http,
    path: &RegistryPath,
    push: &CatalogPush<'_>,
    access: &Access,
) -> Result<Pushed, Cause> {
    let (name, tag) = path.artifact().map_err(Cause::Address)?;
    if tag.contains(':') {
        return Err(Cause::Address(crate::AddressError::NoTag));
    }
    let session = Session::new(http, &path.base, name, access, Scope::Push)?;
    let archive = Descriptor::of(CATALOG_TYPE, push.archive);
    let artifact = Artifact {
        config: (Descriptor::of(CATALOG_CONFIG_TYPE, b"{}"), b"{}"),
        layers: vec![(archive.clone(), push.archive)],
        media_type: Some(MANIFEST_TYPE),
        annotations: push.annotations.clone(),
    };
    artifact.push(&session, tag, archive.digest).await
}

/// The blobs and the manifest to push.
struct Artifact<'a> {
    config: Blob<'a>,
    layers: Vec<Blob<'a>>,
    media_type: Option<&'static str>,
    annotations: BTreeMap<String, String>,
}

impl Artifact<'_> {
    /// Uploads the blobs that the registry does not have, then the manifest.
    async fn push(self, session: &Session<'_>, tag: String, archive: String) -> Result<Pushed, Cause> {
        let mut uploaded = 0;
        for (descriptor, content) in std::iter::once(&self.config).chain(&self.layers) {
            if !has_blob(session, descriptor).await? {
                upload(session, descriptor, content).await?;
                uploaded += descriptor.size;
            }
        }
        let manifest = NewManifest {
            schema_version: 2,
            media_type: self.media_type,
            config: self.config.0,
            layers: self.layers.into_iter().map(|(descriptor, _)| descriptor).collect(),
            annotations: self.annotations,
        };
        let text = go_json(&manifest).map_err(Cause::InvalidArchive)?;
        let manifest = Digest::of(&text);
        let url = session.url(&format!("manifests/{tag}"));
        let headers = [(CONTENT_TYPE, MANIFEST_TYPE.to_owned())];
        let response = session.send(Method::PUT, url, &headers, Some(&text)).await?;
        let response = expect(response, 201).await?;
        match content_digest(&response).filter(|stated| stated != manifest.as_str()) {
            Some(stated) => Err(Cause::DigestMismatch { what: response.what().to_owned(), stated, found: manifest }),
            None => Ok(Pushed { name: session.name.clone(), tag, manifest, archive: Digest::from(archive), uploaded }),
        }
    }
}

/// Whether the registry has a blob.
async fn has_blob(session: &Session<'_>, descriptor: &Descriptor) -> Result<bool, Cause> {
    let url = session.url(&format!("blobs/{}", descriptor.digest));
    let response = session.send(Method::HEAD, url, &[], None).await?;
    match response.status() {
        200 => Ok(true),
        404 => Ok(false),
        _ => Err(failure(response).await),
    }
}

/// Uploads a blob in one request, after one that begins the upload.
async fn upload(session: &Session<'_>, descriptor: &Descriptor, content: &[u8]) -> Result<(), Cause> {
    let begin = session.url("blobs/uploads/");
    let response = expect(session.send(Method::POST, begin.clone(), &[], Some(&[])).await?, 202).await?;
    let what = response.what().to_owned();
    let location = response.header(&LOCATION).next().and_then(|location| redirect(&begin, location));
    let location = location.ok_or(RedirectError::InvalidUrl).and_then(|location| check_redirect(&begin, location));
    let mut url: Url = location.map_err(|reason| Cause::Redirected { what, reason })?;
    url.query_pairs_mut().append_pair("digest", &descriptor.digest);
    let headers = [(CONTENT_TYPE, "application/octet-stream".to_owned())];
    expect(session.send(Method::PUT, url, &headers, Some(content)).await?, 201).await.map(drop)
}

/// Returns a response with this status, else an error.
async fn expect(response: Response, status: u16) -> Result<Response, Cause> {
    if response.status() == status { Ok(response) } else { Err(failure(response).await) }
}

/// The cause of a failed write.
async fn failure(response: Response) -> Cause {
    #[derive(Deserialize)]
    struct Errors {
        errors: Vec<Detail>,
    }
    #[derive(Deserialize)]
    struct Detail {
        code: String,
    }
    let (what, status, with_credentials) = (response.what().to_owned(), response.status(), response.with_credentials);
    match status {
        401 | 403 if response.from_home => return Cause::PushRefused { what, status, with_credentials },
        304 | 401 | 403 | 408 | 429 | 500.. => {
            let unexpected = Cause::Unexpected { what, status };
            return response.error_for_status().err().unwrap_or(unexpected);
        }
        _ => {}
    }
    // Only the code is shown: a message may have credentials in it.
    let text = response.bytes(MAX_JSON).await.unwrap_or_default();
    let code = serde_json::from_slice::<Errors>(&text).ok().and_then(|errors| errors.errors.into_iter().next());
    let is_code = |code: &String| {
        (1..64).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
    };
    Cause::PushFailed { what, status, code: code.map(|detail| detail.code).filter(is_code) }
}
