//! Comparisons.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::rc::Rc;

use crate::error::Error;
use crate::host::Shape;
use crate::node::Builtin;
use crate::operand::Operand;
use crate::print::reflected;
use crate::value::Value;

/// The truth of a comparison: of the first with any of the others for `eq`, of two for all else.
pub(super) fn compare(builtin: Builtin, operands: &[Operand]) -> Result<bool, Error> {
    let [first, others @ ..] = operands else { return Ok(false) };
    let first = &first.value;
    match (builtin, others) {
        (Builtin::Eq, _) => equal(first, others.iter().map(|other| &other.value)),
        (Builtin::Ne, _) => Ok(!equal(first, others.iter().map(|other| &other.value))?),
        (Builtin::Lt, [other, ..]) => less(first, &other.value),
        (Builtin::Le, [other, ..]) => less_or_equal(first, &other.value),
        (Builtin::Gt, [other, ..]) => Ok(!less_or_equal(first, &other.value)?),
        (_, [other, ..]) => Ok(!less(first, &other.value)?),
        (_, []) => Ok(false),
    }
}

fn less_or_equal(one: &Value, other: &Value) -> Result<bool, Error> {
    Ok(less(one, other)? || equal(one, [other])?)
}

/// The kinds that can be compared with their like.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bool,
    Complex,
    Int,
    Float,
    String,
    Uint,
}

fn basic(value: &Value) -> Option<Kind> {
    Some(match value {
        Value::Bool(_) => Kind::Bool,
        Value::Complex(..) => Kind::Complex,
        Value::Int(..) => Kind::Int,
        Value::Float(..) => Kind::Float,
        Value::String(_) => Kind::String,
        Value::Uint(..) => Kind::Uint,
        _ => return None,
    })
}

fn incompatible(one: &Value, other: &Value) -> Error {
    let (one, other) = (one.type_name(), other.type_name());
    Error::new(format!("incompatible types for comparison: {one} and {other}"))
}

/// The order of an integer with a sign and one without.
fn order_mixed(signed: i64, unsigned: u64) -> Ordering {
    u64::try_from(signed).map_or(Ordering::Less, |signed| signed.cmp(&unsigned))
}

fn equal<'v>(first: &Value, others: impl IntoIterator<Item = &'v Value>) -> Result<bool, Error> {
    let bare = bare(first);
    let mut compared = false;
    for other in others {
        compared = true;
        let truth = match (&*bare, &*self::bare(other)) {
            (Value::Bool(one), Value::Bool(other)) => one == other,
            (Value::Int(_, one), Value::Int(_, other)) => one == other,
            (Value::Uint(_, one), Value::Uint(_, other)) => one == other,
            (Value::Int(_, one), Value::Uint(_, other)) | (Value::Uint(_, other), Value::Int(_, one)) => {
                order_mixed(*one, *other).is_eq()
            }
            #[expect(clippy::float_cmp, reason = "as Go compares them")]
            (Value::Float(_, one), Value::Float(_, other)) => one == other,
            #[expect(clippy::float_cmp, reason = "as Go compares them")]
            (Value::Complex(one, i), Value::Complex(other, j)) => one == other && i == j,
            (Value::String(one), Value::String(other)) => one == other,
            (one, two) if basic(one).is_none() && basic(two).is_none() => equal_objects(first, other)?,
            (Value::Nil, _) | (_, Value::Nil) => false,
            _ => return Err(incompatible(first, other)),
        };
        if truth {
            return Ok(true);
        }
    }
    if compared { Ok(false) } else { Err(Error::new("missing argument for comparison")) }
}

/// What a value is made of.
fn bare(value: &Value) -> Cow<'_, Value> {
    if let Value::Host(_) = value { Cow::Owned(value.underlying()) } else { Cow::Borrowed(value) }
}

/// Whether two values that are of no basic kind are the same.
fn equal_objects(one: &Value, other: &Value) -> Result<bool, Error> {
    let (rank, another) = (rank(one), rank(other));
    if rank != another && rank != Rank::Nil && another != Rank::Nil {
        let (shown, kind) = (reflected(one, 's'), one.type_name());
        let (other, other_kind) = (reflected(other, 'v'), other.type_name());
        return Err(Error::new(format!("non-comparable types {shown}: {kind}, {other_kind}: {other}")));
    }
    if one.is_nil() || other.is_nil() {
        return Ok(one.is_nil() == other.is_nil());
    }
    match (one, other) {
        (Value::Host(one), Value::Host(same)) if rank == Rank::Pointer => Ok(Rc::ptr_eq(one, same)),
        (Value::Host(one), Value::Host(same)) if rank == Rank::Struct => match (one.shape(), same.shape()) {
            (Shape::Struct(fields), Shape::Struct(others)) if one.type_name() == same.type_name() => fields
                .iter()
                .zip(&others)
                .try_fold(true, |same, ((_, field), (_, other))| Ok(same && equal(field, [other])?)),
            _ => Ok(false),
        },
        _ => {
            let (shown, kind) = (reflected(other, 's'), other.type_name());
            Err(Error::new(format!("non-comparable type {shown}: {kind}")))
        }
    }
}

/// Go's kinds, as far as they are not basic.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rank {
    Nil,
    List,
    Map,
    Func,
    Struct,
    Pointer,
}

fn rank(value: &Value) -> Rank {
    match value {
        Value::Bytes(_) | Value::List(_) => Rank::List,
        Value::Map(_) => Rank::Map,
        Value::Func(_) => Rank::Func,
        Value::Host(host) => match host.shape() {
            Shape::Struct(_) => Rank::Struct,
            Shape::Pointer(_) => Rank::Pointer,
            Shape::Like(value) => rank(&value),
        },
        _ => Rank::Nil,
    }
}

fn less(one: &Value, other: &Value) -> Result<bool, Error> {
    let (bare, other_bare) = (bare(one), bare(other));
    let invalid = || Error::new("invalid type for comparison");
    basic(&bare).ok_or_else(invalid)?;
    basic(&other_bare).ok_or_else(invalid)?;
    Ok(match (&*bare, &*other_bare) {
        (Value::Int(_, one), Value::Int(_, other)) => one < other,
        (Value::Uint(_, one), Value::Uint(_, other)) => one < other,
        (Value::Int(_, one), Value::Uint(_, other)) => order_mixed(*one, *other).is_lt(),
        (Value::Uint(_, one), Value::Int(_, other)) => order_mixed(*other, *one).is_gt(),
        (Value::Float(_, one), Value::Float(_, other)) => one < other,
        (Value::String(one), Value::String(other)) => one < other,
        (Value::Bool(_), Value::Bool(_)) | (Value::Complex(..), Value::Complex(..)) => return Err(invalid()),
        _ => return Err(incompatible(one, other)),
    })
}
