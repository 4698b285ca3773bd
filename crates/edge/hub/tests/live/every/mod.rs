//! What the comparison of charts is made of.

#![allow(clippy::unwrap_used, dead_code, unreachable_pub, missing_docs, reason = "shared by several test programs")]

pub mod another_value;
pub mod kinds;
pub mod objects;
pub mod plain_pods;
pub mod theirs;
pub mod webhooks;
