//! Errors, with the messages of Go, sprig and Helm where these have one.

use std::io;
use std::path::PathBuf;

use fitout_helm_chart as chart;

/// The reason why a chart cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The path does not exist.
    #[error("path {0:?} not found")]
    NotFound(PathBuf),
    /// A file or directory cannot be read.
    #[error("read {}: {error}", .path.display())]
    Read {
        /// The file or directory.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// A file of the chart cannot be read.
    #[error("error reading {}: {error}", .path.display())]
    ChartFile {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// A symbolic link cannot be resolved.
    #[error("error evaluating symlink {}: {error}", .path.display())]
    Symlink {
        /// The link.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// A file is neither a regular file nor a directory.
    #[error("cannot load irregular file {} as it has file mode type bits set", .0.display())]
    Irregular(PathBuf),
    /// The files are not a valid chart.
    #[error("{0}")]
    Chart(chart::Error),
}

/// The reason why a private key cannot be generated, parsed or used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The kind of key does not exist.
    #[error("unsupported key type {0}")]
    UnknownKind(String),
    /// Key generation failed.
    #[error("key generation failed")]
    Generate,
    /// Generating an RSA key for a certificate failed.
    #[error("error generating rsa key: key generation failed")]
    GenerateRsa,
    /// Generating DSA parameters failed.
    #[error("failed to generate dsa params: {0}")]
    DsaParameters(String),
    /// Generating a DSA key failed.
    #[error("{0}")]
    GenerateDsa(String),
    /// The text has no PEM block.
    #[error("no PEM data in input")]
    NoPem,
    /// The key is malformed.
    #[error("{0}: x509: failed to parse private key")]
    Malformed(&'static str),
    /// The PEM block is an unknown kind of private key.
    #[error("invalid private key type {0}")]
    UnknownLabel(String),
    /// The PEM block is no private key.
    #[error("no private key data in PEM block of type {0}")]
    NotAKey(String),
    /// The key cannot be encoded.
    #[error("error pem-encoding key: the key cannot be encoded")]
    Encode,
    /// A DSA key has no public key in a certificate.
    #[error("x509: unsupported public key type: *dsa.PublicKey")]
    DsaPublicKey,
    /// A DSA key does not sign certificates.
    #[error("x509: certificate private key does not implement crypto.Signer")]
    DsaSigner,
    /// Signing failed.
    #[error("x509: the key cannot sign")]
    Sign,
}

/// The reason why a certificate cannot be issued or parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CertificateError {
    /// The key of the request is invalid.
    #[error("parsing private key: {0}")]
    ParseKey(KeyError),
    /// A new key cannot be generated or encoded.
    #[error("{0}")]
    Key(KeyError),
    /// The text has no PEM block.
    #[error("unable to decode certificate")]
    NoPem,
    /// The certificate is malformed; the field is the variable in sprig's message.
    #[error("error parsing certificate: {0}: x509: malformed certificate")]
    Malformed(&'static str),
    /// The key of the authority is invalid.
    #[error("error parsing private key: {0}")]
    ParseAuthorityKey(KeyError),
    /// Creating the certificate failed.
    #[error("error creating certificate: {0}")]
    Create(CreateError),
}

/// The reason why a certificate cannot be created.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CreateError {
    /// The key is of a kind that certificates do not support.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The authority's key is not that of its certificate.
    #[error("x509: provided PrivateKey doesn't match parent's PublicKey")]
    KeyMismatch,
    /// The validity is out of range.
    #[error("asn1: structure error: cannot represent time as GeneralizedTime")]
    Time,
    /// A host name is not ASCII.
    #[error("x509: {0:?} cannot be encoded as an IA5String")]
    Host(String),
    /// An IP address is invalid.
    #[error("error parsing ip: {0}")]
    Address(String),
}
