//! Functions on any value.

pub(crate) mod copy;
mod empty;
pub(crate) mod equal;
mod kind;
mod shown;

use fitout_go_template::{Error, Type, Value};

pub(crate) use empty::is_empty;
pub(crate) use kind::{kind_of, kind_of_type};
pub(crate) use shown::{shown, strings, texts};

use crate::argument::text;
use crate::declare::Declare;

pub(crate) fn add(declare: &mut Declare<'_>) {
    defaults(declare);
    reflection(declare);
    declare.panicking(&["toString"], &[Type::Any], Type::String, |a| Ok(Value::String(shown(&a[0])?)));
    declare.panicking(&["toStrings"], &[Type::Any], Type::STRINGS, |a| strings(&a[0]));
    declare.plain(&["deepEqual"], &[Type::Any, Type::Any], Type::Bool, |a| equal::deep_equal(&a[0], &a[1]).into());
    declare.panicking(&["deepCopy"], &[Type::Any], Type::Any, |a| copy::deep_copy(&a[0]));
    declare.fallible(&["mustDeepCopy"], &[Type::Any], Type::Any, |a| copy::deep_copy(&a[0]));
    declare
        .fallible(&["fail"], &[Type::String], Type::String, |a| Err(Error::new(String::from_utf8_lossy(text(&a[0])))));
}

fn defaults(declare: &mut Declare<'_>) {
    declare.variadic(&["default"], &[Type::Any, Type::Any], Type::Any, |a| {
        let given = a.get(1).filter(|given| !is_empty(given));
        Ok(given.unwrap_or(&a[0]).clone())
    });
    declare.plain(&["empty"], &[Type::Any], Type::Bool, |a| is_empty(&a[0]).into());
    declare.variadic(&["coalesce"], &[Type::Any], Type::Any, |a| {
        Ok(a.iter().find(|value| !is_empty(value)).cloned().unwrap_or_default())
    });
    declare.variadic(&["all"], &[Type::Any], Type::Bool, |a| Ok((!a.iter().any(is_empty)).into()));
    declare.variadic(&["any"], &[Type::Any], Type::Bool, |a| Ok((!a.iter().all(is_empty)).into()));
    declare.plain(&["ternary"], &[Type::Any, Type::Any, Type::Bool], Type::Any, |a| {
        if a[2].is_true() { a[0].clone() } else { a[1].clone() }
    });
}

fn reflection(declare: &mut Declare<'_>) {
    declare.plain(&["typeOf"], &[Type::Any], Type::String, |a| Value::string(a[0].type_name().as_ref()));
    declare.plain(&["typeIs"], &[Type::String, Type::Any], Type::Bool, |a| {
        (text(&a[0]) == a[1].type_name().as_bytes()).into()
    });
    declare.plain(&["typeIsLike"], &[Type::String, Type::Any], Type::Bool, |a| {
        let (wanted, name) = (text(&a[0]), a[1].type_name());
        (wanted == name.as_bytes() || name.strip_prefix('*').map(str::as_bytes) == Some(wanted)).into()
    });
    declare.plain(&["kindOf"], &[Type::Any], Type::String, |a| kind_of(&a[0]).into());
    declare.plain(&["kindIs"], &[Type::String, Type::Any], Type::Bool, |a| {
        (text(&a[0]) == kind_of(&a[1]).as_bytes()).into()
    });
}
