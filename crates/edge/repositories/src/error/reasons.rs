//! Reasons of errors.

use fitout_helm_ranges as ranges;

/// The reason why a repository's address is invalid; the message continues "the repository address".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// The scheme is missing or not supported.
    #[error("has no supported scheme; begin it with https://, http://, oci:// or oci+http://")]
    Scheme,
    /// The address is not a URL.
    #[error("is not a URL: {0}; correct it")]
    Url(<reqwest::Url as std::str::FromStr>::Err),
    /// The address cannot have paths below it.
    #[error("cannot have an index.yaml below it; correct it")]
    NoBase,
    /// The address is that of a registry.
    #[error("is that of a registry, which has no index; list its charts instead")]
    NoIndex,
    /// The address is not that of a registry.
    #[error("is not that of a registry; begin it with oci://")]
    NoRegistry,
    /// The address of an artifact has neither a tag nor a digest.
    #[error("has no tag; add one, such as :1.0.0, or the digest of the manifest as @sha256:…")]
    NoTag,
    /// The address contains credentials.
    #[error("contains a user or a password; give them as credentials of the repository")]
    Credentials,
    /// The path and the chart are no valid name in a registry.
    #[error(
        "and the chart make the name {0:?}, which is invalid in a registry; use lower case, and give the version \
         separately"
    )]
    Name(String),
    /// The digest of the manifest is invalid.
    #[error("has a digest that is not a SHA-256; write it as sha256:…")]
    Digest,
}

/// The reason why credentials or certificates cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AccessError {
    /// A part is not PEM. The parser's message is left out, because it might contain part of a key.
    #[error("the {part} is not PEM")]
    NotPem {
        /// The authority, the client certificate or the client key.
        part: &'static str,
    },
    /// TLS rejects a part.
    #[error("the {part} is invalid: {error}")]
    Rejected {
        /// The authority or the client certificate.
        part: &'static str,
        /// The error of the TLS library.
        error: rustls::Error,
    },
    /// The TLS configuration cannot be built.
    #[error("{0}")]
    Tls(rustls::Error),
    /// The HTTP client cannot be built.
    #[error("{0}")]
    Client(String),
    /// Docker's configuration is not JSON.
    #[error("the Docker config is not JSON")]
    DockerJson,
    /// Docker's configuration has an identity token.
    #[error("the Docker config has an identity token for {0}, which is not supported; give a user and a password")]
    IdentityToken(String),
    /// Docker's configuration has an invalid `auth`.
    #[error("the Docker config has an auth for {0} that is not user:password in base64")]
    DockerAuth(String),
}

/// The reason why a redirect is not followed; the message continues "is redirected".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RedirectError {
    /// The target is not HTTP.
    #[error("to a URL that is not HTTP")]
    NotHttp,
    /// The target has no TLS, unlike the source.
    #[error("from https to http")]
    Downgrade,
    /// The target is not a URL.
    #[error("to an invalid URL")]
    InvalidUrl,
    /// Too many redirects.
    #[error("more than {0} times")]
    TooMany(usize),
}

/// The reason why a response is malformed.
#[derive(Debug, thiserror::Error)]
pub enum ResponseError {
    /// The index cannot be parsed.
    #[error("{0}")]
    Index(IndexError),
    /// The task that parses the index failed.
    #[error("{0}")]
    Task(tokio::task::JoinError),
    /// A URL in the index is neither HTTP nor a registry's.
    #[error("its URL {0:?} is not supported")]
    Url(String),
    /// A registry's URL in the index has no version as its tag.
    #[error("its URL {0:?} has no version")]
    UrlWithoutVersion(String),
    /// A digest in the index is invalid.
    #[error("the digest {digest:?} of version {version} is not a SHA-256")]
    Digest {
        /// The version.
        version: String,
        /// The digest in the index.
        digest: String,
    },
    /// The list of tags has too many pages.
    #[error("it has more than {0} pages")]
    TooManyPages(usize),
    /// The version of a chart is invalid.
    #[error("its version {version:?} is invalid: {error}")]
    Version {
        /// The version.
        version: String,
        /// The reason.
        error: ranges::Error,
    },
    /// Not the expected JSON. The text is left out, because it may contain a token.
    #[error("it is not the expected JSON, at line {0}")]
    Json(usize),
    /// The registry's challenge has no valid URL of a token server.
    #[error("it names no valid token server")]
    TokenServer,
    /// A registry with TLS names a token server without TLS.
    #[error("it requires a token from a server without TLS")]
    InsecureTokenServer,
    /// The token server returned no token.
    #[error("it has no token")]
    NoToken,
    /// An error of the HTTP client.
    #[error("{0}")]
    Http(String),
}

/// The reason why an index cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IndexError {
    /// Invalid gzip.
    #[error("{0}")]
    Gzip(String),
    /// Invalid YAML.
    #[error("{}", .0.to_string().replace("\n  ", " "))]
    Yaml(fitout_go_yaml::Error),
    /// Not UTF-8.
    #[error("it is not UTF-8")]
    NotUtf8,
    /// The text ends within a value.
    #[error("it ends in the middle of a value")]
    Incomplete,
    /// Not a mapping.
    #[error("it is not a mapping")]
    NotAMapping,
    /// `apiVersion` is missing.
    #[error("it has no apiVersion")]
    NoApiVersion,
    /// `entries` is not a mapping.
    #[error("its entries are not a mapping")]
    Entries,
    /// A chart is listed twice.
    #[error("it lists the chart {0} twice")]
    DuplicateChart(String),
    /// The charts have too many versions.
    #[error("its charts have more than {0} versions")]
    TooManyVersions(usize),
    /// The versions of a chart are not a list.
    #[error("the versions of {0} are not a list")]
    Versions(String),
}

/// The reason why content is not a chart.
#[derive(Debug, thiserror::Error)]
pub enum ChartError {
    /// The manifest is not an OCI image manifest.
    #[error("its manifest is invalid: {0}")]
    Manifest(serde_json::Error),
    /// The manifest's config is not Helm's.
    #[error("its manifest is not a chart's")]
    Config,
    /// The manifest has no layer with a chart archive.
    #[error("its manifest has no archive")]
    NoArchive,
    /// A digest in the manifest is invalid.
    #[error("its manifest has the digest {0:?}, which is not a SHA-256")]
    Digest(String),
    /// The config of the manifest is not that of a valid chart.
    #[error("its metadata has no valid name, version, type, maintainers or dependencies")]
    Metadata,
    /// The chart is another one than the name and the tag say.
    #[error("it is the chart {0}")]
    Other(String),
    /// The archive is not gzipped.
    #[error("it is not a gzip archive")]
    NotGzip,
}

/// The reason why an artifact is not a catalog.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// The manifest is not an OCI image manifest.
    #[error("its manifest is invalid: {0}")]
    Manifest(serde_json::Error),
    /// The manifest has no layer with definitions.
    #[error("its manifest has no layer of the type application/vnd.fitout.catalog.v1.tar+gzip")]
    NoLayer,
    /// The digest of the layer is invalid.
    #[error("its manifest has the digest {0:?}, which is not a SHA-256")]
    Digest(String),
}
