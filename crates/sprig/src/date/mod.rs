//! Functions on date.

mod duration;
mod quote;

use std::rc::Rc;

use crate::World;
use crate::declare::Declare;

#[allow(unused_imports, reason = "for the functions on durations")]
pub(crate) use duration::{DURATION, Duration, HOUR, MICROSECOND, MILLISECOND, MINUTE, SECOND};

pub(crate) fn add(_declare: &mut Declare<'_>, _world: &Rc<dyn World>) {}
