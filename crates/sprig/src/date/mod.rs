//! Functions on date.

use std::rc::Rc;

use crate::World;
use crate::declare::Declare;

pub(crate) fn add(_declare: &mut Declare<'_>, _world: &Rc<dyn World>) {}
