//! What a machine has and a function has not.

use base64::Engine;
use base64::alphabet::BCRYPT;
use base64::engine::{GeneralPurpose, general_purpose::NO_PAD};

/// Where random bytes, the time and keys come from.
pub trait Environment {
    /// Fills a buffer with random bytes.
    fn fill(&self, bytes: &mut [u8]);

    /// The time: seconds since 1970 and nanoseconds beyond them.
    fn now(&self) -> (i64, u32);

    /// The name of the local zone in the tz database, such as `Europe/Berlin`.
    fn zone(&self) -> String;

    /// A new private key as PEM, of a kind that sprig has: `rsa` (or nothing), `dsa`, `ecdsa`, `ed25519`.
    fn private_key(&self, _kind: &str) -> Result<String, String> {
        Err(NO_KEYS.to_owned())
    }

    /// That a text has a private key in PEM; if not, why, in Go's words.
    fn check_key(&self, _pem: &[u8]) -> Result<(), String> {
        Ok(())
    }

    /// That bytes are a certificate in PEM; if not, why, in Go's words.
    fn check_certificate(&self, _pem: &[u8]) -> Result<(), String> {
        Ok(())
    }

    /// A new certificate.
    fn certificate(&self, _request: &Request<'_>) -> Result<Certificate, String> {
        Err(NO_KEYS.to_owned())
    }

    /// The hash of a password by which it is known again, of at most 72 bytes.
    fn bcrypt(&self, password: &[u8]) -> Result<String, String> {
        if password.len() > 72 {
            return Err("bcrypt: password length exceeds 72 bytes".to_owned());
        }
        let mut salt = [0; 16];
        self.fill(&mut salt);
        let mut ended = [password, &[0]].concat();
        ended.truncate(72);
        let hash = bcrypt::bcrypt(COST, salt, &ended);
        let text = GeneralPurpose::new(&BCRYPT, NO_PAD);
        // The last byte of the hash has never been written.
        Ok(format!("$2a${COST}${}{}", text.encode(salt), text.encode(&hash[..23])))
    }
}

const NO_KEYS: &str = "there are no keys in this world";

/// How often bcrypt repeats itself, as a power of two: what Go does unless it is told otherwise.
const COST: u32 = 10;

/// A certificate to be made.
#[derive(Clone, Copy, Debug)]
pub struct Request<'r> {
    /// Whose it is to be.
    pub name: &'r str,
    /// The IP addresses and the names of hosts that it holds for.
    pub addresses: &'r [String],
    /// See `addresses`.
    pub hosts: &'r [String],
    /// For how long it is valid.
    pub days: i64,
    /// Who vouches for it.
    pub issuer: Issuer<'r>,
    /// Its private key as PEM, unless a new one is to be made.
    pub key: Option<&'r str>,
}

/// Who vouches for a certificate.
#[derive(Clone, Copy, Debug)]
pub enum Issuer<'r> {
    /// Itself: it is an authority.
    Authority,
    /// Itself.
    Own,
    /// An authority.
    Other(&'r Certificate),
}

/// A certificate and its private key, both as PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// The certificate.
    pub certificate: String,
    /// The key.
    pub key: String,
}
