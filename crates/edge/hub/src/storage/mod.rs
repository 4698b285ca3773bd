//! What the hub writes to its own API server, and when.

pub(crate) mod api_writes;
pub(crate) mod deferred_writes;
pub(crate) mod kubeconfigs;
pub(crate) mod write_ahead_log;
