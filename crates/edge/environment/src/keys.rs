//! RSA keys, which take long to make: as many are looked for at once as there are processors, and whoever asks next gets
//! what was found meanwhile. How long one takes is chance, so even the first comes sooner.

use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::{available_parallelism, spawn};

use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::RsaKeyPair;

/// Keys of the size that certificates have.
static KEYS: Keys =
    Keys { state: Mutex::new(State { spare: Vec::new(), sought: 0, failed: false }), found: Condvar::new() };

struct Keys {
    state: Mutex<State>,
    found: Condvar,
}

struct State {
    spare: Vec<RsaKeyPair>,
    /// How many are being looked for.
    sought: usize,
    failed: bool,
}

/// A key of 2048 bits that nobody has yet; none where the machine cannot make any.
pub(crate) fn rsa() -> Option<RsaKeyPair> {
    let most = available_parallelism().map_or(1, usize::from);
    let mut state = KEYS.state.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        if let Some(key) = state.spare.pop() {
            return Some(key);
        }
        if std::mem::take(&mut state.failed) {
            return None;
        }
        while state.sought < most {
            state.sought += 1;
            spawn(|| KEYS.seek());
        }
        state = KEYS.found.wait(state).unwrap_or_else(PoisonError::into_inner);
    }
}

impl Keys {
    fn seek(&self) {
        let made = RsaKeyPair::generate(KeySize::Rsa2048);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.sought -= 1;
        state.failed = made.is_err();
        state.spare.extend(made);
        self.found.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use aws_lc_rs::signature::KeyPair;

    use super::*;

    #[test]
    fn nobody_gets_the_key_of_another() {
        let askers: Vec<_> = (0..3).map(|_| spawn(|| [rsa(), rsa()])).collect();
        let keys = askers.into_iter().flat_map(|asker| asker.join().unwrap());
        let public: BTreeSet<Vec<u8>> = keys.map(|key| key.unwrap().public_key().as_ref().to_vec()).collect();
        assert_eq!(public.len(), 6);
    }
}
