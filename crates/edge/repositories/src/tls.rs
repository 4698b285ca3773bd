//! Whom we believe, and as whom we come.

use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};

use crate::{Cause, Identity};

/// TLS that believes the machine's authorities and these, and shows this certificate.
pub(crate) fn config(authority: Option<&str>, identity: Option<&Identity>) -> Result<ClientConfig, Cause> {
    let mut roots = machine();
    if let Some(pem) = authority {
        for certificate in certificates(pem, "authority")? {
            roots.add(certificate).map_err(|error| wrong("authority", &error.to_string()))?;
        }
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| Cause::Access(error.to_string()))?.with_root_certificates(roots);
    let Some(own) = identity else { return Ok(builder.with_no_client_auth()) };
    let chain = certificates(&own.certificate, "client certificate")?;
    // What is wrong with a key is not repeated: it might be part of the key.
    let key =
        PrivateKeyDer::from_pem_slice(own.key.as_bytes()).map_err(|_| wrong("client key", "it is no PEM of a key"))?;
    builder.with_client_auth_cert(chain, key).map_err(|error| wrong("client certificate", &error.to_string()))
}

/// The authorities that the machine believes; where it has none, as in an empty image, those that browsers believe.
fn machine() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    roots
}

fn certificates(pem: &str, what: &str) -> Result<Vec<CertificateDer<'static>>, Cause> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect();
    all.ok().filter(|all| !all.is_empty()).ok_or_else(|| wrong(what, "it is no PEM of a certificate"))
}

fn wrong(what: &str, why: &str) -> Cause {
    Cause::Access(format!("the {what}: {why}"))
}
