//! Types that all other crates share: definitions, object identities, values and digests.

mod apis;
mod archive;
mod capability;
mod changelog;
pub mod conditions;
mod cycles;
mod definition;
mod digest;
pub mod free_form;
mod nearest;
mod object;
mod package;
mod problem;
pub mod reasons;
mod resource_version;
pub mod rules;
mod states;
mod values;
mod version_state;

pub use apis::{Apis, Scope, defined_kinds};
pub use archive::{ArchiveError, ArchiveLimits, FileMap, pack_files, unpack_files};
pub use capability::{UNDETECTABLE_CAPABILITIES, capabilities, platform, unmet_capability};
pub use changelog::changelog_sections;
pub use cycles::cycles;
pub use definition::{
    AccessRule, Conflict, Definition, Dependency, Engine, Helm, InternetAccess, Lifecycle, Link, Manifests, Olm, Reach,
    Requirements, Role, Runtime, Webhook, WebhookKind, WebhookRule, parse_definition,
};
pub use digest::{Digest, hex};
pub use free_form::FreeForm;
pub use nearest::nearest;
pub use object::{Gvk, ObjectId};
pub use package::{PACKAGE_LIMITS, Package, Packages, check_package_size, read_packages};
pub use problem::Problem;
pub use resource_version::ResourceVersion;
pub use states::{STATES, States, StatesProblem};
pub use values::{HIDDEN, coalesce, contains, overlay};
pub use version_state::{VersionState, VersionStateRule};
