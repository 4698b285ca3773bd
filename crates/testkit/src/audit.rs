//! What an API server was asked, read back from its audit log.

use std::fmt;
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::Value;

/// The audit log of a cluster, from a point in time on.
#[derive(Clone, Debug)]
pub struct AuditLog {
    /// One file for each API server, and how far it has been passed over.
    files: Vec<(PathBuf, u64)>,
}

/// One answered request.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Call {
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`.
    pub verb: String,
    /// The path and the query.
    #[serde(rename = "requestURI")]
    pub uri: String,
    /// Who asked.
    pub user: User,
    /// With which program.
    #[serde(default)]
    pub user_agent: String,
    /// What it was about, unless it was about no object.
    pub object_ref: Option<ObjectRef>,
    /// What came of it.
    #[serde(default)]
    pub response_status: ResponseStatus,
    /// What was sent, for writes of clients.
    pub request_object: Option<Value>,
    /// When the answer was given, as the API server writes it: in order as text.
    pub stage_timestamp: String,
}

/// Who asked, and as whom.
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
    /// The kind in the plural.
    pub resource: String,
    /// The part of the object, such as `status`.
    pub subresource: String,
    /// The namespace; empty for what has none.
    pub namespace: String,
    /// The name; empty for a collection, and where the server makes the name.
    pub name: String,
}

/// The answer.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ResponseStatus {
    /// The HTTP status code.
    pub code: u16,
    /// Why not.
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

    /// All calls, in the order in which they were answered. A call that a client has its answer to is there.
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

/// What comes after the part that was passed over. Whole lines only: the last one may still be on its way.
fn read(path: &Path, passed: u64) -> Result<String> {
    let mut text = String::new();
    match File::open(path) {
        Ok(mut file) => {
            file.seek(SeekFrom::Start(passed))?;
            file.read_to_string(&mut text).with_context(|| format!("read {}", path.display()))?;
        }
        // Nothing has been asked yet.
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error).with_context(|| format!("read {}", path.display())),
    }
    text.truncate(text.rfind('\n').map_or(0, |end| end + 1));
    Ok(text)
}

/// Some of the calls.
#[derive(Clone, Debug)]
pub struct Calls(Vec<Call>);

impl Calls {
    /// Those that this user made.
    #[must_use]
    pub fn by(self, user: &str) -> Self {
        self.only(|call| call.user.username == user)
    }

    /// Those that change something.
    #[must_use]
    pub fn writes(self) -> Self {
        self.only(Call::is_write)
    }

    /// Those that were refused or went wrong.
    #[must_use]
    pub fn failed(self) -> Self {
        self.only(|call| call.response_status.code >= 400)
    }

    /// Those about this kind, in the plural.
    #[must_use]
    pub fn of(self, resource: &str) -> Self {
        self.only(|call| call.is_of(resource))
    }

    /// Those for which this is true.
    #[must_use]
    pub fn only(mut self, keep: impl Fn(&Call) -> bool) -> Self {
        self.0.retain(keep);
        self
    }

    /// Each as `VERB RESOURCE[/PART] [NAMESPACE/]NAME`, to be compared with what was expected.
    pub fn summary(&self) -> Vec<String> {
        self.0.iter().map(Call::summary).collect()
    }

    /// All of them.
    pub fn as_slice(&self) -> &[Call] {
        &self.0
    }

    /// Panics with a list of them unless there are none.
    ///
    /// # Panics
    /// When there is one.
    #[track_caller]
    pub fn assert_none(&self, what: &str) {
        assert!(self.0.is_empty(), "{what}, but there were {}:\n{self}", self.0.len());
    }
}

impl Call {
    /// Whether it changes something.
    pub fn is_write(&self) -> bool {
        matches!(self.verb.as_str(), "create" | "update" | "patch" | "delete" | "deletecollection")
    }

    /// Whether it is about an object of this kind.
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
            // A namespace is recorded as being in itself.
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
