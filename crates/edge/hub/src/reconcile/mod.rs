//! The reconciliation of one instance: observe, decide, act, report.

pub(crate) mod change_queues;
pub(crate) mod convert;
mod effects;
mod observe;
pub(crate) mod progress;
mod records;
mod render;
pub(crate) mod retry;
pub(crate) mod status;
pub(crate) mod worker;
