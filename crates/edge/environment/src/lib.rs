//! The environment of the host: random bytes, the clock, the time zone, private keys, certificates, and charts on disk.

mod certificate;
mod der;
mod error;
mod files;
mod key;
mod pem;
mod rsa_pool;
mod zone;

use std::time::{SystemTime, UNIX_EPOCH};

use fitout_helm_functions::{Certificate, Environment, Request};

pub use certificate::issue;
pub use error::{CertificateError, CreateError, KeyError, LoadError};
pub use files::load;

/// The environment of this host.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostEnvironment;

impl Environment for HostEnvironment {
    fn fill(&self, bytes: &mut [u8]) {
        // Fails only while the operating system has no entropy yet, so retry.
        while getrandom::fill(bytes).is_err() {}
    }

    fn now(&self) -> (i64, u32) {
        // A clock before 1970 counts as 1970.
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        (i64::try_from(since.as_secs()).unwrap_or(i64::MAX), since.subsec_nanos())
    }

    fn zone(&self) -> String {
        zone::local()
    }

    fn private_key(&self, kind: &str) -> Result<String, String> {
        key::generate(kind).map_err(|error| error.to_string())
    }

    fn check_key(&self, pem: &[u8]) -> Result<(), String> {
        key::Key::parse(pem).map(drop).map_err(|error| error.to_string())
    }

    fn check_certificate(&self, pem: &[u8]) -> Result<(), String> {
        certificate::check(pem).map_err(|error| error.to_string())
    }

    fn certificate(&self, request: &Request<'_>) -> Result<Certificate, String> {
        issue(self, request).map_err(|error| error.to_string())
    }
}
