//! The requests to an API server, read from its audit log.

use std::fmt;
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::Value;

/// The audit log of a cluster from a point in time on.
#[derive(Clone, Debug)]
pub struct AuditLog {
    /// One file for each API server, and the bytes of it that are skipped.
    files: Vec<(PathBuf, u64)>,
}

/// One request with its response.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Call {
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`.
    pub verb: String,
    /// The path and the query.
    #[serde(rename = "requestURI")]
    pub uri: String,
    /// The user.
    pub user: User,
    /// The user agent.
    #[serde(default)]
    pub user_agent: String,
    /// The object, unless the request is about none.
    pub object_ref: Option<ObjectRef>,
    /// The response.
    #[serde(default)]
    pub response_status: ResponseStatus,
    /// The body, for writes of clients.
    pub request_object: Option<Value>,
    /// The time of the response, as the API server writes it: ordered as text.
    pub stage_timestamp: String,
}

/// The user of a request.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct User {
    /// The user's name.
    #[serde(default)]
    pub username: String,
    /// The user's groups.
    #[serde(default)]
    pub groups: Vec<String>,
}

/// The object a request names.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ObjectRef {
    /// The API group; empty for the core group.
    pub api_group: String,
    /// The version in the group.
    pub api_version: String,
    /// The resource, such as `deployments`.
    pub resource: String,
    /// The subresource, such as `status`.
    pub subresource: String,
    /// The namespace; empty for an object without one.
    pub namespace: String,
    /// The name; empty for a collection, and where the server generates the name.
    pub name: String,
}

/// The response.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ResponseStatus {
    /// The HTTP status code.
    pub code: u16,
    /// The reason of a failure.
    pub message: String,
}

impl AuditLog {
    pub(crate) fn new(files: Vec<PathBuf>) -> Self {
        Self { files: files.into_iter().map(|file| (file, 0)).collect() }
    }

    /// The same log from now on.
    pub fn from_now(&self) -> Result<Self> {
        let now = |(file, passed): &(PathBuf, u64)| Ok((file.clone(), passed + read(file, *passed)?.len() as u64));
        Ok(Self { files: self.files.iter().map(now).collect::<Result<_>>()? })
    }

    /// All calls in the order of their responses. A call whose response a client has received is included.
    pub fn calls(&self) -> Result<Calls> {
        let mut calls = Vec::new();
        for (file, passed) in &self.files {
            for line in read(file, *passed)?.lines() {
                calls.push(serde_json::from_str(line).with_context(|| format!("read the audit log: {line}"))?);
            }
        }
        calls.sort_by(|a: &Call, b: &Call| a.stage_timestamp.cmp(&b.stage_timestamp));
        Ok(Calls(calls))
    }
}

/// The lines after the skipped part, without a last line that is still being written.
fn read(path: &Path, passed: u64) -> Result<String> {
    let mut text = String::new();
    match File::open(path) {
        Ok(mut file) => {
            file.seek(SeekFrom::Start(passed))?;
            file.read_to_string(&mut text).with_context(|| format!("read {}", path.display()))?;
        }
        // No request yet.
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error).with_context(|| format!("read {}", path.display())),
    }
    text.truncate(text.rfind('\n').map_or(0, |end| end + 1));
    Ok(text)
}

/// A selection of calls.
#[derive(Clone, Debug)]
pub struct Calls(Vec<Call>);

impl Calls {
    /// Selects the calls of this user.
    #[must_use]
    pub fn by(self, user: &str) -> Self {
        self.only(|call| call.user.username == user)
    }

    /// Selects the writes.
    #[must_use]
    pub fn writes(self) -> Self {
        self.only(Call::is_write)
    }

    /// Selects the calls that failed.
    #[must_use]
    pub fn failed(self) -> Self {
        self.only(|call| call.response_status.code >= 400)
    }

    /// Selects the calls about this resource.
    #[must_use]
    pub fn of(self, resource: &str) -> Self {
        self.only(|call| call.is_of(resource))
    }

    /// Selects the calls for which this is true.
    #[must_use]
    pub fn only(mut self, keep: impl Fn(&Call) -> bool) -> Self {
        self.0.retain(keep);
        self
    }

    /// Each call as `VERB RESOURCE[/SUBRESOURCE] [NAMESPACE/]NAME`.
    pub fn summary(&self) -> Vec<String> {
        self.0.iter().map(Call::summary).collect()
    }

    /// The calls.
    pub fn as_slice(&self) -> &[Call] {
        &self.0
    }

    /// Asserts that no call is selected, and lists the calls otherwise.
    ///
    /// # Panics
    /// Where a call is selected.
    #[track_caller]
    pub fn assert_none(&self, what: &str) {
        assert!(self.0.is_empty(), "{what}, but there were {}:\n{self}", self.0.len());
    }
}

impl Call {
    /// Whether it is a write.
    pub fn is_write(&self) -> bool {
        matches!(self.verb.as_str(), "create" | "update" | "patch" | "delete" | "deletecollection")
    }

    /// Whether it is about an object of this resource.
    pub fn is_of(&self, resource: &str) -> bool {
        self.object_ref.as_ref().is_some_and(|object| object.resource == resource)
    }

    fn summary(&self) -> String {
        let Some(object) = &self.object_ref else { return format!("{} {}", self.verb, self.uri) };
        let mut text = format!("{} {}", self.verb, object.resource);
        if !object.subresource.is_empty() {
            text = format!("{text}/{}", object.subresource);
        }
        match (object.namespace.as_str(), object.name.as_str()) {
            ("", "") => text,
            ("", name) => format!("{text} {name}"),
            (namespace, "") => format!("{text} {namespace}/"),
            // The log has a namespace as an object in itself.
            (_, name) if object.resource == "namespaces" => format!("{text} {name}"),
            (namespace, name) => format!("{text} {namespace}/{name}"),
        }
    }
}

impl fmt::Display for Calls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for call in &self.0 {
            let ResponseStatus { code, message } = &call.response_status;
            writeln!(f, "  {code} {} (by {}) {message}", call.summary(), call.user.username)?;
        }
        Ok(())
    }
}
