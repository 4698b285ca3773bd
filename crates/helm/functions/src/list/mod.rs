//! Functions on lists.

mod ends;
mod members;
mod parts;
mod sequence;

use std::rc::Rc;

use fitout_go_template::{Error, List, Type, Value};

use crate::argument::{Items, nil_dereference};
use crate::declare::Declare;
use crate::value::kind_of;

const LIST: Type = Type::LIST;

pub(crate) fn add(declare: &mut Declare<'_>) {
    declare.variadic(&["list", "tuple"], &[Type::Any], LIST, |a| Ok(Value::list(a.iter().cloned())));
    ends::add(declare);
    members::add(declare);
    parts::add(declare);
    sequence::add(declare);
}

/// The items of an argument, which has to be a list for what is to be done: `Cannot …`.
fn items(value: &Value, what: &str) -> Result<Items, Error> {
    Items::of(value).ok_or_else(|| match value {
        Value::Nil => nil_dereference(),
        other => Error::new(format!("{what} {}", kind_of(other))),
    })
}

/// A nil `[]interface {}`.
fn none() -> Value {
    Value::List(Rc::new(List::nil(LIST)))
}

/// Declares a function, and the one whose failure Go tells apart, which templates cannot.
fn both(
    declare: &mut Declare<'_>,
    names: [&[&str]; 2],
    params: &[Type],
    result: Type,
    body: impl Fn(&[Value]) -> Result<Value, Error> + Copy + 'static,
) {
    let [plain, must] = names;
    declare.panicking(plain, params, result, body);
    declare.fallible(must, params, result, body);
}
