//! Writes to the hub's own API server.

pub(crate) mod api_writes;
pub(crate) mod deferred_writes;
pub(crate) mod kubeconfigs;
pub(crate) mod write_ahead_log;
