//! Renders an extension into an artifact, compares it with live objects, and describes the plan of a change.

mod artifact;
mod content;
mod crds;
mod diff;
mod drift;
mod field_managers;
mod immutable_fields;
mod mask;
mod matches_live;
mod model;
mod order;
mod phase;
mod provenance;
mod render;
mod transform;

pub use artifact::{Artifact, Planned, PlannedHook};
pub use content::{Content, KeptHook};
pub use crds::{CrdRisk, RiskKind, crd_risks};
pub use diff::{Difference, diff};
pub use drift::{Ignore, Ignored};
pub use field_managers::{has_update_manager, migrate_update_managers};
pub use fitout_engines::{Environment, Layer, Lookup};
pub use fitout_model::HIDDEN;
pub use immutable_fields::immutable_fields;
pub use mask::Mask;
pub use matches_live::{MANAGER, matches_live};
pub use model::{Act, Change, Obstacle, Plan, Write};
pub use order::{install_order, install_rank};
pub use phase::{Gate, Phase, phase};
pub use provenance::{Provenance, Sourced};
pub use render::{
    Archive, Offer, RenderError, RenderProgress, RenderedRelease, Request, Resolution, ResolvedPackage, adopted,
    from_stored_content, resolve,
};
pub use transform::{KEEP, MANAGED_BY, Owner, RELEASE_NAME, RELEASE_NAMESPACE, transform};
