//! What everything else speaks of: definitions, objects, values, digests.

mod apis;
mod definition;
mod digest;
pub mod free_form;
mod nearest;
mod object;
mod problem;
pub mod rules;
mod values;

pub use apis::{Apis, Scope};
pub use definition::{
    AccessRule, Conflict, Definition, Dependency, Engine, Helm, InternetAccess, Lifecycle, Link, Manifests, Olm, Reach,
    Requirements, Role, Runtime, Webhook, WebhookKind, WebhookRule, parse_definition,
};
pub use digest::{Digest, hex};
pub use free_form::FreeForm;
pub use nearest::nearest;
pub use object::{Gvk, ObjectId};
pub use problem::Problem;
pub use values::coalesce;
