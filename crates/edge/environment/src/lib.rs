//! What only a machine has: random bytes, the clock, the zone, keys and certificates made of them, and charts on its disk.

mod certificate;
mod der;
mod files;
mod key;
mod keys;
mod pem;
mod zone;

use std::time::{SystemTime, UNIX_EPOCH};

use fitout_helm_functions::{Certificate, Environment, Request};

pub use certificate::issue;
pub use files::load;

/// This machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostEnvironment;

impl Environment for HostEnvironment {
    fn fill(&self, bytes: &mut [u8]) {
        // It fails only where the machine cannot give any randomness yet: there is nothing to do but to ask again.
        while getrandom::fill(bytes).is_err() {}
    }

    fn now(&self) -> (i64, u32) {
        // A clock before 1970 stands at its beginning.
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        (i64::try_from(since.as_secs()).unwrap_or(i64::MAX), since.subsec_nanos())
    }

    fn zone(&self) -> String {
        zone::local()
    }

    fn private_key(&self, kind: &str) -> Result<String, String> {
        key::make(kind)
    }

    fn check_key(&self, pem: &[u8]) -> Result<(), String> {
        key::Key::read(pem).map(drop)
    }

    fn check_certificate(&self, pem: &[u8]) -> Result<(), String> {
        certificate::check(pem)
    }

    fn certificate(&self, request: &Request<'_>) -> Result<Certificate, String> {
        issue(self, request)
    }
}
