//! Functions on secrets: sums, random texts, passwords, keys and certificates.

mod certificate;
mod cipher;
mod password;
mod random;
mod sum;

use std::rc::Rc;

use crate::Environment;
use crate::declare::Declare;

pub(crate) fn add(declare: &mut Declare<'_>, world: &Rc<dyn Environment>) {
    sum::add(declare);
    random::add(declare, world);
    password::add(declare, world);
    cipher::add(declare, world);
    certificate::add(declare, world);
}
