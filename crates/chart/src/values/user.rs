//! What a user asks for: files and flags, in the order in which Helm looks at them.

/// Where a user's values come from.
#[derive(Clone, Debug)]
pub enum Source {}
