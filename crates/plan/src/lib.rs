//! What is applied, in which order, after which waits, and why.

mod artifact;
mod holds;
mod order;
mod phase;
mod prepare;
mod transform;

pub use artifact::{Artifact, Planned};
pub use holds::{MANAGER, holds};
pub use order::{install_order, install_rank};
pub use phase::{Gate, Phase, phase};
pub use prepare::{Prepared, Request, Unprepared, kept, prepare};
pub use transform::{MANAGED_BY, Owner, RELEASE_NAME, RELEASE_NAMESPACE, transform};
