//! The worker of one instance: observe, decide, act, report.

mod effects;
mod observe;
pub(crate) mod progress;
mod render;
pub(crate) mod retry;
pub(crate) mod state;
pub(crate) mod status;
pub(crate) mod worker;
