//! What the comparison of charts is made of.

#![allow(clippy::unwrap_used, unreachable_pub, missing_docs, reason = "a test")]

pub mod another_value;
pub mod objects;
pub mod plain_pods;
