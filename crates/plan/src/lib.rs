//! What is applied, in which order, after which waits, and why.

mod artifact;
mod crds;
mod diff;
mod fixed;
mod holds;
mod lines;
mod mask;
mod order;
mod outlook;
mod phase;
mod prepare;
mod transform;

pub use artifact::{Artifact, Planned};
pub use crds::{Danger, Harm, dangers};
pub use diff::{Difference, diff};
pub use fixed::fixed;
pub use holds::{MANAGER, holds};
pub use lines::{Line, Mark, lines};
pub use mask::{HIDDEN, Mask};
pub use order::{install_order, install_rank};
pub use outlook::{Act, Change, Obstacle, Plan, Write};
pub use phase::{Gate, Phase, phase};
pub use prepare::{Prepared, Request, Unprepared, kept, prepare};
pub use transform::{MANAGED_BY, Owner, RELEASE_NAME, RELEASE_NAMESPACE, transform};
