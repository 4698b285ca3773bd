//! What can be wrong with a record.

/// Why a record cannot be read, written or found.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The outer wrapping is not what Helm writes.
    #[error("the record is not base64: {0}")]
    NotBase64(#[from] base64::DecodeError),

    /// It says that it is compressed and is not, or is cut off.
    #[error("the record cannot be unpacked: {0}")]
    NotGzip(#[source] std::io::Error),

    /// It is small and grows without measure, which no record of Helm's does.
    #[error("the record unpacks to more than {limit} bytes, so it was not written by Helm")]
    Swollen {
        /// As far as unpacking went.
        limit: u64,
    },

    /// The content is not a release.
    #[error("the record does not hold a release: {0}")]
    NotARelease(#[source] serde_json::Error),

    /// A release that has no form as JSON, such as a date after the year 9999.
    #[error("the record of release {namespace}/{name} cannot be written: {source}")]
    Unwritable {
        /// The release's namespace.
        namespace: String,
        /// The release's name.
        name: String,
        /// What stands in the way.
        source: serde_json::Error,
    },

    /// Kubernetes would refuse the Secret.
    #[error(
        "revision {revision} of release {namespace}/{name} takes {size} bytes as a record, and a Secret holds at most \
         {limit}: split the chart, or take large files out of it"
    )]
    TooLarge {
        /// The release's namespace.
        namespace: String,
        /// The release's name.
        name: String,
        /// The revision that was to be written.
        revision: u64,
        /// What the Secret would hold.
        size: usize,
        /// What it may hold.
        limit: usize,
    },

    /// The Secret has no place for a record.
    #[error("Secret {secret} holds no release record: {missing} is missing")]
    NotARecord {
        /// Its namespace and name.
        secret: String,
        /// The field that was looked for.
        missing: &'static str,
    },

    /// The Secret holds a record that cannot be read.
    #[error("read the release record in Secret {secret}: {source}")]
    Unreadable {
        /// Its namespace and name.
        secret: String,
        /// What is wrong with the record.
        source: Box<Error>,
    },

    /// A rollback to a revision of which there is no record.
    #[error("there is no record of revision {revision}{}", choice(.known))]
    NoSuchRevision {
        /// The revision that was asked for.
        revision: u64,
        /// The revisions on record, oldest first.
        known: Vec<u64>,
    },
}

fn choice(revisions: &[u64]) -> String {
    if revisions.is_empty() {
        return ": the release has none".to_owned();
    }
    let list: Vec<_> = revisions.iter().map(u64::to_string).collect();
    format!(": choose one of {}", list.join(", "))
}
