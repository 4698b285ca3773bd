//! Order, waits and reasons of what is applied.

mod order;
mod phase;
mod transform;

pub use order::{install_order, install_rank};
pub use phase::{Gate, Phase, phase};
pub use transform::{MANAGED_BY, Owner, RELEASE_NAME, RELEASE_NAMESPACE, transform};
