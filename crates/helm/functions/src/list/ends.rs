//! The ends of lists.

use fitout_go_template::{Error, Type, Value};

use super::{LIST, both, items, none};
use crate::declare::Declare;

pub(super) fn add(declare: &mut Declare<'_>) {
    const PAIR: &[Type] = &[Type::Any, Type::Any];
    const ONE: &[Type] = &[Type::Any];
    both(declare, [&["append", "push"], &["mustAppend", "mustPush"]], PAIR, LIST, |a| {
        let items = items(&a[0], "Cannot push on type")?;
        Ok(Value::list(items.iter().chain([&a[1]]).cloned()))
    });
    both(declare, [&["prepend"], &["mustPrepend"]], PAIR, LIST, |a| {
        let items = items(&a[0], "Cannot prepend on type")?;
        Ok(Value::list([&a[1]].into_iter().chain(items.iter()).cloned()))
    });
    both(declare, [&["first"], &["mustFirst"]], ONE, Type::Any, |a| {
        Ok(items(&a[0], "Cannot find first on type")?.first().cloned().unwrap_or_default())
    });
    both(declare, [&["last"], &["mustLast"]], ONE, Type::Any, |a| {
        Ok(items(&a[0], "Cannot find last on type")?.last().cloned().unwrap_or_default())
    });
    both(declare, [&["rest"], &["mustRest"]], ONE, LIST, |a| {
        rest_of(items(&a[0], "Cannot find rest on type")?.split_first().map(|(_, rest)| rest))
    });
    both(declare, [&["initial"], &["mustInitial"]], ONE, LIST, |a| {
        rest_of(items(&a[0], "Cannot find initial on type")?.split_last().map(|(_, rest)| rest))
    });
}

/// What is left; nothing is left of nothing.
#[expect(clippy::unnecessary_wraps, reason = "it is the last thing that functions do")]
fn rest_of(rest: Option<&[Value]>) -> Result<Value, Error> {
    Ok(rest.map_or_else(none, |rest| Value::list(rest.iter().cloned())))
}
