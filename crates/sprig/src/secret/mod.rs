//! Functions on secrets: sums, random texts, passwords, keys and certificates.

mod certificate;
mod cipher;
mod password;
mod random;
mod sum;

use std::rc::Rc;

use fitout_gotmpl::{Text, Value};

use crate::World;
use crate::declare::Declare;

pub(crate) fn add(declare: &mut Declare<'_>, world: &Rc<dyn World>) {
    sum::add(declare);
    random::add(declare, world);
    password::add(declare, world);
    cipher::add(declare, world);
    certificate::add(declare, world);
}

fn text(value: &Value) -> Text {
    match value {
        Value::String(text) => text.clone(),
        _ => Text::from(""),
    }
}

fn int(value: &Value) -> i64 {
    match value {
        Value::Int(_, number) => *number,
        _ => 0,
    }
}
