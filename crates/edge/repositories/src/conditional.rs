//! Conditional requests: a resource is sent again only if it has changed.

use reqwest::header::{ETAG, HeaderName, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED};
use serde::{Deserialize, Serialize};

use crate::http::Response;

/// The version of a resource, as a conditional request states it. Empty if the server states none, which makes the next
/// request unconditional.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Validators {
    /// The `ETag`, or the digest of the manifest for a resource in a registry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// `Last-Modified`, as the server writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
}

/// The answer to a conditional request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer<T> {
    /// The resource is the one that the validators identify.
    Unchanged,
    /// The resource has changed, or the request had no validators.
    Changed(T),
}

impl Validators {
    /// The validators that a response states.
    pub(crate) fn of(response: &Response) -> Self {
        let value = |name: &HeaderName| response.header(name).next().map(str::to_owned);
        Self { etag: value(&ETAG), last_modified: value(&LAST_MODIFIED) }
    }

    /// The headers of a conditional request: the `ETag` where there is one, as it is exact.
    pub(crate) fn conditions(&self) -> Vec<(HeaderName, String)> {
        let etag = self.etag.clone().map(|tag| (IF_NONE_MATCH, tag));
        let date = || self.last_modified.clone().map(|date| (IF_MODIFIED_SINCE, date));
        etag.or_else(date).into_iter().collect()
    }
}
