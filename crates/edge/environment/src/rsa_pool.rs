//! A pool of RSA keys, which take long to generate: one thread a processor generates keys, and later callers get the
//! spare ones. The time for a key is random, so even the first one is ready sooner.

use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::{available_parallelism, spawn};

use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::RsaKeyPair;

/// Keys of 2048 bits, the size in certificates.
static POOL: Pool =
    Pool { state: Mutex::new(State { spare: Vec::new(), pending: 0, failed: false }), changed: Condvar::new() };

struct Pool {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    spare: Vec<RsaKeyPair>,
    /// The number of threads that generate a key.
    pending: usize,
    failed: bool,
}

/// Takes an unused key of 2048 bits; none if key generation fails.
pub(crate) fn take() -> Option<RsaKeyPair> {
    let max_pending = available_parallelism().map_or(1, usize::from);
    let mut state = POOL.state.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        if let Some(key) = state.spare.pop() {
            return Some(key);
        }
        if std::mem::take(&mut state.failed) {
            return None;
        }
        while state.pending < max_pending {
            state.pending += 1;
            spawn(|| POOL.generate());
        }
        state = POOL.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
    }
}

impl Pool {
    fn generate(&self) {
        let key = RsaKeyPair::generate(KeySize::Rsa2048);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.pending -= 1;
        state.failed = key.is_err();
        state.spare.extend(key);
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use aws_lc_rs::signature::KeyPair;

    use super::*;

    #[test]
    fn each_key_is_used_once() {
        let threads: Vec<_> = (0..3).map(|_| spawn(|| [take(), take()])).collect();
        let keys = threads.into_iter().flat_map(|thread| thread.join().unwrap());
        let public: BTreeSet<Vec<u8>> = keys.map(|key| key.unwrap().public_key().as_ref().to_vec()).collect();
        assert_eq!(public.len(), 6);
    }
}
