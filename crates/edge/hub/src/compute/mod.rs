//! The answers of the aggregated API: plans, values and extensions, computed on request and never stored.

mod convert;
pub(crate) mod extensions;
pub(crate) mod layers;
pub(crate) mod plans;
pub(crate) mod values;
