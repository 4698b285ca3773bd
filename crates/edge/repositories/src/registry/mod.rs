//! OCI registries: pulling charts and catalogs, listing charts, and pushing.

pub(crate) mod artifact;
pub(crate) mod list;
pub(crate) mod pull;
pub(crate) mod push;
mod session;

use session::{Scope, Session};
