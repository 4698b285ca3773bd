//! Downloads an archive of definitions.

use fitout_model::Digest;
use reqwest::{Method, Url};

use crate::http::{Http, Request};
use crate::{Access, Answer, Cause, Validators};

/// A downloaded archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Downloaded {
    /// The archive.
    pub content: Vec<u8>,
    /// The digest of the archive.
    pub revision: Digest,
    /// The validators of the next request.
    pub validators: Validators,
}

/// Downloads an archive over HTTP, unless the validators say that it has not changed.
pub(crate) async fn download(
    http: &Http,
    url: Url,
    validators: Option<&Validators>,
    limit: u64,
    access: &Access,
) -> Result<Answer<Downloaded>, Cause> {
    let conditions = validators.map(Validators::conditions).unwrap_or_default();
    let (home, credential) = (url.clone(), access.credential());
    let (method, home, credential, headers) = (Method::GET, &home, &credential, conditions.as_slice());
    let response = http.send(Request { method, url, home, access, credential, headers, body: None }).await?;
    if response.status() == 304 && !conditions.is_empty() {
        return Ok(Answer::Unchanged);
    }
    let response = response.error_for_status()?;
    let validators = Validators::of(&response);
    let content = response.bytes(limit).await?;
    Ok(Answer::Changed(Downloaded { revision: Digest::of(&content), content, validators }))
}
