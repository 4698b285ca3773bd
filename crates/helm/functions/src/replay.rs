//! A world without chance.

use std::cell::RefCell;

use sha2::{Digest, Sha256};

use crate::world::{Certificate, Environment, Issuer, Request};

/// A world in which everything happens the same way again, for whoever needs the same answer twice: random bytes are a
/// stream that begins anew, the clock stands at the beginning of 2026, and keys say what was asked for.
#[derive(Debug, Default)]
pub struct Replay {
    stream: RefCell<Stream>,
}

/// SHA-256 of the seed and a counter, both as 8 bytes with the lowest first, block after block.
#[derive(Debug, Default)]
struct Stream {
    seed: u64,
    counter: u64,
    block: [u8; 32],
    /// How much of the block is left.
    left: usize,
}

/// The beginning of 2026.
const NOW: i64 = 1_767_225_600;

impl Replay {
    /// A world whose stream begins elsewhere.
    pub fn new(seed: u64) -> Self {
        Self { stream: RefCell::new(Stream { seed, ..Stream::default() }) }
    }
}

impl Stream {
    fn next(&mut self) -> u8 {
        if self.left == 0 {
            let hash = Sha256::new_with_prefix(self.seed.to_le_bytes());
            self.block = hash.chain_update(self.counter.to_le_bytes()).finalize().into();
            self.counter += 1;
            self.left = self.block.len();
        }
        self.left -= 1;
        self.block[self.block.len() - 1 - self.left]
    }
}

impl Environment for Replay {
    fn fill(&self, bytes: &mut [u8]) {
        let mut stream = self.stream.borrow_mut();
        bytes.fill_with(|| stream.next());
    }

    fn now(&self) -> (i64, u32) {
        (NOW, 0)
    }

    fn zone(&self) -> String {
        "UTC".to_owned()
    }

    fn private_key(&self, kind: &str) -> Result<String, String> {
        Ok(format!("KEY|{kind}\n"))
    }

    fn certificate(&self, request: &Request<'_>) -> Result<Certificate, String> {
        let mut sort = match request.issuer {
            Issuer::Authority => "ca".to_owned(),
            Issuer::Own => "self".to_owned(),
            Issuer::Other(authority) => format!("signed by {}", authority.certificate),
        };
        if let Some(key) = request.key {
            sort = sort + "+" + key;
        }
        let Request { name, days, .. } = request;
        let text = format!("{sort}|{name}|{}|{}|{days}", request.addresses.join(","), request.hosts.join(","));
        Ok(Certificate { certificate: format!("CERT|{text}\n"), key: format!("KEY|{text}\n") })
    }

    fn bcrypt(&self, password: &[u8]) -> Result<String, String> {
        Ok(format!("BCRYPT|{}", String::from_utf8_lossy(password)))
    }
}
