//! Go's own functions.

mod compare;
mod escape;
mod index;

use smallvec::SmallVec;

use crate::error::Error;
use crate::exec::{assignable, wrapped, wrapped_unsigned};
use crate::kind::Type;
use crate::node::Builtin;
use crate::operand::Operand;
use crate::print;
use crate::set::Context;
use crate::text::Text;
use crate::value::Value;

/// How many arguments a function takes at least, and whether it takes more.
pub(crate) fn arity(builtin: Builtin) -> (usize, bool) {
    match builtin {
        Builtin::Html | Builtin::Js | Builtin::UrlQuery | Builtin::Print | Builtin::Println => (0, true),
        Builtin::And
        | Builtin::Or
        | Builtin::Call
        | Builtin::Index
        | Builtin::Slice
        | Builtin::Printf
        | Builtin::Eq => (1, true),
        Builtin::Len | Builtin::Not => (1, false),
        Builtin::Ge | Builtin::Gt | Builtin::Le | Builtin::Lt | Builtin::Ne => (2, false),
    }
}

/// The arguments of a call: few enough to be kept on the stack.
pub(crate) type Operands = SmallVec<[Operand; 8]>;

fn values(operands: &[Operand]) -> SmallVec<[Value; 8]> {
    operands.iter().map(|operand| operand.value.clone()).collect()
}

/// What a function makes of its arguments, of which there are enough.
pub(crate) fn apply(builtin: Builtin, operands: &[Operand]) -> Result<Operand, Error> {
    let text = |text: Result<Text, print::TooDeep>| Ok(Operand::plain(Value::String(text?)));
    match builtin {
        Builtin::Index => index::index(operands),
        Builtin::Slice => index::slice(operands).map(Operand::plain),
        Builtin::Len => index::len(&operands[0]).map(Operand::plain),
        Builtin::Not => Ok(Operand::plain(Value::Bool(!operands[0].value.is_true()))),
        Builtin::Eq | Builtin::Ne | Builtin::Lt | Builtin::Le | Builtin::Gt | Builtin::Ge => {
            compare::compare(builtin, operands).map(|truth| Operand::plain(Value::Bool(truth)))
        }
        Builtin::Print => text(print::printed(|buffer| print::print(buffer, operands))),
        Builtin::Println => text(print::printed(|buffer| print::println(buffer, operands))),
        Builtin::Printf => {
            let [Operand { value: Value::String(format), .. }, arguments @ ..] = operands else {
                return Ok(Operand::NONE);
            };
            text(print::printed(|buffer| print::printf(buffer, format, arguments)))
        }
        Builtin::Html => text(escape::printed(&values(operands)).map(|text| escape::html(&text))),
        Builtin::Js => text(escape::printed(&values(operands)).map(|text| escape::js(&text))),
        Builtin::UrlQuery => text(escape::printed(&values(operands)).map(|text| escape::url_query(&text))),
        // These are not functions of values: the executor has them.
        Builtin::And | Builtin::Or | Builtin::Call => Ok(Operand::NONE),
    }
}

/// What Go calls a function that came through the pipe.
pub(crate) fn callee_name(value: &Value) -> String {
    match value {
        Value::String(text) => text.to_str().into_owned(),
        Value::Nil => "<invalid Value>".to_owned(),
        other => format!("<{} Value>", other.type_name()),
    }
}

/// `call`: the first argument is the function.
pub(crate) fn call(context: &Context<'_>, name: &str, operands: &[Operand]) -> Result<Operand, Error> {
    let (function, given) = match operands {
        [] => return Ok(Operand::NONE),
        [function, given @ ..] => (&function.value, given),
    };
    let function = match function {
        Value::Nil => return Err(Error::new("call of nil")),
        Value::Func(function) => function,
        other => return Err(Error::new(format!("non-function {name} of type {}", other.type_name()))),
    };
    let signature = function.signature();
    let (wanted, got) = (signature.params.len() - usize::from(signature.variadic), given.len());
    if signature.variadic && got < wanted {
        return Err(Error::new(format!("wrong number of args for {name}: got {got} want at least {wanted}")));
    }
    if !signature.variadic && got != wanted {
        return Err(Error::new(format!("wrong number of args for {name}: got {got} want {wanted}")));
    }
    let mut values = Vec::with_capacity(got);
    for (place, operand) in given.iter().enumerate() {
        let kind = signature.params[place.min(signature.params.len() - 1)];
        let value = prepare(&operand.value, kind).map_err(|reason| Error::new(format!("arg {place}: {reason}")))?;
        values.push(value);
    }
    let result = function.call(context, &values)?;
    Ok(Operand::boxed(result, signature.result == Type::Any))
}

/// A value as one of a type. Integers are converted.
fn prepare(value: &Value, kind: Type) -> Result<Value, String> {
    if let Value::Nil = value {
        let nil = kind.can_be_nil().then(|| Value::zero(kind));
        return nil.ok_or_else(|| format!("value is nil; should be of type {kind}"));
    }
    if let Some(value) = assignable(value, kind) {
        return Ok(value);
    }
    let converted = match (value.underlying(), kind) {
        (Value::Int(_, int), Type::Int(signed)) => Some(Value::Int(signed, wrapped(signed, int))),
        (Value::Int(_, int), Type::Uint(unsigned)) => {
            Some(Value::Uint(unsigned, wrapped_unsigned(unsigned, int.cast_unsigned())))
        }
        (Value::Uint(_, uint), Type::Int(signed)) => Some(Value::Int(signed, wrapped(signed, uint.cast_signed()))),
        (Value::Uint(_, uint), Type::Uint(unsigned)) => Some(Value::Uint(unsigned, wrapped_unsigned(unsigned, uint))),
        _ => None,
    };
    converted.ok_or_else(|| format!("value has type {}; should be {kind}", value.type_name()))
}
