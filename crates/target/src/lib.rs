//! One target cluster: what it serves, what is on it, and the writes that effects ask for.
//!
//! A [`Target`] owns the client of a cluster. [`Sightings`] is what is known of its objects: watches fill it, and so do
//! the answers to our own writes, so that nobody has to read what was just written.

mod cause;
mod connect;
mod contact;
mod facts;
mod follow;
mod guard;
mod namespaces;
mod records;
mod refusal;
mod register;
mod sightings;
mod watching;
mod write;

pub use connect::{Disconnected, connect, guarded};
pub use contact::Contact;
pub use facts::{Facts, Nodes};
pub use guard::{Call, Fence, Fenced, Guard};
pub use records::Record;
pub use refusal::Refusal;
pub use register::Hearing;
pub use sightings::{Claim, Interest, Owner, Sighting, Sightings};
pub use write::{AbortOnDrop, Target};
