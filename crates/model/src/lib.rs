//! What everything else speaks of: definitions, objects, values, digests.

mod apis;
mod capability;
mod definition;
mod digest;
mod nearest;
mod object;
mod package;
mod values;

pub use apis::{Apis, Scope};
pub use capability::{capabilities, platform};
pub use definition::{Definition, Manifests, Problem, parse_definition};
pub use digest::Digest;
pub use nearest::nearest;
pub use object::{Gvk, ObjectId};
pub use package::{Package, Packages, read_packages};
pub use values::coalesce;
