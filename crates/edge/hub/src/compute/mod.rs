//! The answers of the aggregated API: plans and values, computed on request and never stored.

mod convert;
pub(crate) mod layers;
pub(crate) mod plans;
pub(crate) mod values;
