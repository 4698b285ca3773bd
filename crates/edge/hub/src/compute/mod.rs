//! What the aggregated API answers: plans and values, computed and never stored.

pub(crate) mod layers;
pub(crate) mod plans;
pub(crate) mod values;
