//! What the comparison of charts is made of.

#![allow(clippy::unwrap_used, dead_code, unreachable_pub, missing_docs, reason = "shared by several test programs")]

use std::time::Duration;

pub mod another_value;
pub mod kinds;
pub mod objects;
pub mod plain_pods;
pub mod theirs;
pub mod webhooks;

/// For an API server to do what it is told.
pub const SOON: Duration = Duration::from_secs(20);
