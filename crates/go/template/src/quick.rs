//! A hash for names.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A table by names. Whoever writes templates could choose some that collide, and gains no more by it than by declaring as
/// many variables: these are looked for one after the other, as in Go.
pub(crate) type Table<K, V> = HashMap<K, V, BuildHasherDefault<Quick>>;

/// FNV-1a.
#[derive(Debug)]
pub(crate) struct Quick(u64);

impl Default for Quick {
    fn default() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }
}

impl Hasher for Quick {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x100_0000_01B3);
        }
    }

    // The length of what is hashed tells nothing that its bytes do not.
    fn write_usize(&mut self, _: usize) {}

    fn finish(&self) -> u64 {
        self.0
    }
}
