//! The TLS configuration: trusted authorities and client certificate.

use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};

use crate::{AccessError, Identity};

const AUTHORITY: &str = "certificate authority";
const CERTIFICATE: &str = "client certificate";
const KEY: &str = "client key";

/// A configuration that trusts the system's authorities and this one, and presents this client certificate.
pub(crate) fn config(authority: Option<&str>, identity: Option<&Identity>) -> Result<ClientConfig, AccessError> {
    let mut roots = system_roots();
    if let Some(pem) = authority {
        for certificate in certificates(pem, AUTHORITY)? {
            roots.add(certificate).map_err(|error| AccessError::Rejected { part: AUTHORITY, error })?;
        }
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(AccessError::Tls)?.with_root_certificates(roots);
    let Some(identity) = identity else { return Ok(builder.with_no_client_auth()) };
    let chain = certificates(&identity.certificate, CERTIFICATE)?;
    let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes());
    let key = key.map_err(|_| AccessError::NotPem { part: KEY })?;
    builder.with_client_auth_cert(chain, key).map_err(|error| AccessError::Rejected { part: CERTIFICATE, error })
}

/// The authorities of the operating system; where it has none, as in an empty image, those of browsers.
fn system_roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    roots
}

fn certificates(pem: &str, part: &'static str) -> Result<Vec<CertificateDer<'static>>, AccessError> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect();
    all.ok().filter(|all| !all.is_empty()).ok_or(AccessError::NotPem { part })
}
