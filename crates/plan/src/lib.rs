//! What is applied, in which order, after which waits, and why.

mod artifact;
mod content;
mod crds;
mod diff;
mod drift;
mod fixed;
mod holds;
mod lines;
mod managers;
mod mask;
mod order;
mod outlook;
mod phase;
mod prepare;
mod provenance;
mod transform;

pub use artifact::{Artifact, Planned, PlannedHook};
pub use content::{Content, KeptHook};
pub use crds::{Danger, Harm, dangers};
pub use diff::{Difference, diff};
pub use drift::{Ignore, Ignored};
pub use fitout_engines::{Layer, Lookup, World};
pub use fixed::fixed;
pub use holds::{MANAGER, holds};
pub use lines::{Line, Mark, lines};
pub use managers::{applied_instead, was_updated};
pub use mask::{HIDDEN, Mask};
pub use order::{install_order, install_rank};
pub use outlook::{Act, Change, Obstacle, Plan, Write};
pub use phase::{Gate, Phase, phase};
pub use prepare::{Archive, Chosen, Prepared, Rendering, Request, Unprepared, adopted, kept, resolve};
pub use provenance::{Provenance, Sourced};
pub use transform::{KEEP, MANAGED_BY, Owner, RELEASE_NAME, RELEASE_NAMESPACE, transform};
