//! Functions on patterns.

use crate::declare::Declare;

pub(crate) fn add(_declare: &mut Declare<'_>) {}
