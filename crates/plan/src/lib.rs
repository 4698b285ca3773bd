//! What is applied, in which order, after which waits, and why.

mod artifact;
mod content;
mod diff;
mod drift;
mod holds;
mod lines;
mod mask;
mod order;
mod outlook;
mod phase;
mod prepare;
mod transform;

pub use artifact::{Artifact, Planned, PlannedHook};
pub use content::{Content, KeptHook};
pub use diff::{Difference, diff};
pub use drift::{Ignore, Ignored};
pub use fitout_engines::{Lookup, World};
pub use holds::{MANAGER, holds};
pub use lines::{Line, Mark, lines};
pub use mask::{HIDDEN, Mask};
pub use order::{install_order, install_rank};
pub use outlook::{Act, Change, Obstacle, Plan, Write};
pub use phase::{Gate, Phase, phase};
pub use prepare::{Chosen, Prepared, Rendering, Request, Unprepared, kept, resolve};
pub use transform::{KEEP, MANAGED_BY, Owner, RELEASE_NAME, RELEASE_NAMESPACE, transform};
