//! `reflect.DeepEqual`.

use std::collections::HashSet;
use std::rc::Rc;

use fitout_go_template::{Fields, Host, Shape, Value};

/// How deeply pairs are compared before it is remembered which ones are being compared: only a value that holds itself
/// is ever nested that deeply.
const TRUSTED: usize = 1000;

/// Whether two values are of the same type and equal in all they hold.
pub(crate) fn deep_equal(one: &Value, other: &Value) -> bool {
    Comparison::default().equal(one, other)
}

/// A comparison on its way. A pair that is met again while it is being compared is taken for equal.
#[derive(Default)]
struct Comparison {
    depth: usize,
    pairs: HashSet<(*const (), *const ())>,
}

impl Comparison {
    fn equal(&mut self, one: &Value, other: &Value) -> bool {
        match (one, other) {
            (Value::Nil, Value::Nil) => true,
            (Value::Bool(one), Value::Bool(other)) => one == other,
            (Value::Int(kind, one), Value::Int(another, other)) => kind == another && one == other,
            (Value::Uint(kind, one), Value::Uint(another, other)) => kind == another && one == other,
            #[expect(clippy::float_cmp, reason = "as Go compares them")]
            (Value::Float(kind, one), Value::Float(another, other)) => kind == another && one == other,
            #[expect(clippy::float_cmp, reason = "as Go compares them")]
            (Value::Complex(real, imaginary), Value::Complex(other, another)) => real == other && imaginary == another,
            (Value::String(one), Value::String(other)) | (Value::Bytes(one), Value::Bytes(other)) => one == other,
            (Value::List(one), Value::List(other)) => {
                if one.kind() != other.kind() || one.is_nil() != other.is_nil() || one.len() != other.len() {
                    return false;
                }
                Rc::ptr_eq(one, other)
                    || self.within(Rc::as_ptr(one).cast(), Rc::as_ptr(other).cast(), |comparison| {
                        one.items().iter().zip(other.items()).all(|(one, other)| comparison.equal(one, other))
                    })
            }
            (Value::Map(one), Value::Map(other)) => {
                if one.kind() != other.kind() || one.is_nil() != other.is_nil() || one.len() != other.len() {
                    return false;
                }
                Rc::ptr_eq(one, other)
                    || self.within(Rc::as_ptr(one).cast(), Rc::as_ptr(other).cast(), |comparison| {
                        one.entries().iter().all(|(key, value)| {
                            other.get_value(key).is_some_and(|another| comparison.equal(value, &another))
                        })
                    })
            }
            (Value::Host(one), Value::Host(other)) => self.equal_hosts(&**one, &**other),
            _ => false,
        }
    }

    fn equal_hosts(&mut self, one: &dyn Host, other: &dyn Host) -> bool {
        if one.type_name() != other.type_name() {
            return false;
        }
        let mut equal_fields = |one: Fields, other: Fields| {
            one.len() == other.len() && one.iter().zip(&other).all(|(one, other)| self.equal(&one.1, &other.1))
        };
        match (one.shape(), other.shape()) {
            (Shape::Like(one), Shape::Like(other)) => self.equal(&one, &other),
            (Shape::Struct(one), Shape::Struct(other)) => equal_fields(one, other),
            (Shape::Pointer(fields), Shape::Pointer(others)) => {
                std::ptr::addr_eq(std::ptr::from_ref(one), std::ptr::from_ref(other)) || equal_fields(fields, others)
            }
            _ => false,
        }
    }

    /// Compares what two values hold.
    fn within(&mut self, one: *const (), other: *const (), compare: impl FnOnce(&mut Self) -> bool) -> bool {
        let remembered = self.depth >= TRUSTED;
        if remembered && !self.pairs.insert((one, other)) {
            return true;
        }
        self.depth += 1;
        let equal = crate::stack::enough(|| compare(self));
        self.depth -= 1;
        if remembered {
            self.pairs.remove(&(one, other));
        }
        equal
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_hold_themselves_are_compared() {
        let holding = || {
            let map = Value::map([("a", Value::int(1))]);
            if let Value::Map(inner) = &map {
                inner.insert("self".into(), map.clone());
            }
            map
        };
        assert!(deep_equal(&holding(), &holding()));
    }

    #[test]
    fn the_same_list_is_equal_even_with_what_is_not_equal_to_itself() {
        let list = Value::list([Value::float(f64::NAN)]);
        assert!(deep_equal(&list, &list.clone()));
        assert!(!deep_equal(&list, &Value::list([Value::float(f64::NAN)])));
    }
}
