//! What only a machine has: random bytes, the clock, the zone, and keys and certificates made of them.

mod files;

pub use files::load;
