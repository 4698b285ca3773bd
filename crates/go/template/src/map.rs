//! Maps.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::rc::Rc;

use crate::function::Function;
use crate::kind::Type;
use crate::list::unravel;
use crate::value::Value;

/// Up to here it is faster to go through all entries: keys that differ mostly differ in length.
const FEW: usize = 8;

/// A map. It is shared: who changes it changes it for all who hold it.
///
/// Entries are kept in the order in which Go prints and ranges over them.
#[derive(Debug)]
pub struct Map {
    kind: Type,
    named: Option<&'static Named>,
    /// Where this is the same map under another type, that one has the entries.
    same: Option<Rc<Map>>,
    nil: bool,
    entries: RefCell<Vec<(Value, Value)>>,
}

/// A type with a name that is a map underneath, such as `common.Values`: it can be used wherever one without a name can.
#[derive(Debug)]
pub struct Named {
    /// The name.
    pub name: &'static str,
    /// The names of its methods, which come before keys.
    pub methods: &'static [&'static str],
    /// A method of such a map, with its receiver bound.
    pub method: fn(&Rc<Map>, &[u8]) -> Option<Rc<Function>>,
}

impl Map {
    /// A map of this type. Of two equal keys the later one counts.
    pub fn of(kind: Type, entries: impl IntoIterator<Item = (Value, Value)>) -> Self {
        let mut entries: Vec<_> = entries.into_iter().collect();
        entries.sort_by(|(one, _), (other, _)| order(one, other));
        entries.dedup_by(|later, earlier| {
            let same = order(&later.0, &earlier.0).is_eq();
            if same {
                std::mem::swap(later, earlier);
            }
            same
        });
        Self { kind, named: None, same: None, nil: false, entries: RefCell::new(entries) }
    }

    /// The same map, but of a type with a name: what is put into one is in both.
    pub fn under(named: &'static Named, map: Rc<Self>) -> Self {
        let same = map.same.clone().unwrap_or(map);
        Self { kind: same.kind, named: Some(named), nil: same.nil, same: Some(same), entries: RefCell::default() }
    }

    /// The same map without the name of its type.
    pub fn unnamed(self: &Rc<Self>) -> Rc<Self> {
        Rc::clone(self.same.as_ref().unwrap_or(self))
    }

    fn cell(&self) -> &RefCell<Vec<(Value, Value)>> {
        self.same.as_ref().map_or(&self.entries, |same| &same.entries)
    }

    /// The nil of a map's type: empty, and nothing can be put into it.
    pub fn nil(kind: Type) -> Self {
        Self { kind, named: None, same: None, nil: true, entries: RefCell::default() }
    }

    /// The type of the map itself.
    pub fn kind(&self) -> Type {
        self.kind
    }

    /// The name of its type and what methods it has, if it has one.
    pub fn named(&self) -> Option<&'static Named> {
        self.named
    }

    /// Whether its type has a method of this name.
    pub(crate) fn has_method(&self, name: &[u8]) -> bool {
        self.named.is_some_and(|named| named.methods.iter().any(|method| method.as_bytes() == name))
    }

    /// The type of its keys.
    pub fn key_kind(&self) -> Type {
        if let Type::Map(key, _) = self.kind { *key } else { Type::Any }
    }

    /// The type of its values.
    pub fn value_kind(&self) -> Type {
        if let Type::Map(_, value) = self.kind { *value } else { Type::Any }
    }

    /// Whether it is the nil of its type.
    pub fn is_nil(&self) -> bool {
        self.nil
    }

    pub(crate) fn has_string_keys(&self) -> bool {
        matches!(self.kind, Type::Map(Type::String, _))
    }

    /// Whether its values are of the type `interface {}`.
    pub(crate) fn holds_any(&self) -> bool {
        matches!(self.kind, Type::Map(_, Type::Any))
    }

    /// The value of a key that is a string.
    pub fn get(&self, key: &[u8]) -> Option<Value> {
        self.look(key, Value::clone)
    }

    /// What is made of the value of a key that is a string, without a clone of it.
    pub fn look<R>(&self, key: &[u8], at: impl FnOnce(&Value) -> R) -> Option<R> {
        let entries = self.cell().borrow();
        let place = if entries.len() <= FEW {
            entries.iter().position(|(candidate, _)| matches!(candidate, Value::String(text) if **text == *key))?
        } else {
            entries.binary_search_by(|(candidate, _)| order_text(candidate, key)).ok()?
        };
        Some(at(&entries[place].1))
    }

    /// The value of any key.
    pub fn get_value(&self, key: &Value) -> Option<Value> {
        let entries = self.cell().borrow();
        let at = entries.binary_search_by(|(candidate, _)| order(candidate, key)).ok()?;
        Some(entries[at].1.clone())
    }

    /// Puts a value under a key, in the place of the one that was there.
    pub fn insert(&self, key: Value, value: Value) {
        let mut entries = self.cell().borrow_mut();
        let replaced = match entries.binary_search_by(|(candidate, _)| order(candidate, &key)) {
            Ok(at) => std::mem::replace(&mut entries[at].1, value),
            Err(at) => {
                entries.insert(at, (key, value));
                return;
            }
        };
        // What was there may hold this very map.
        drop(entries);
        drop(replaced);
    }

    /// Takes a key out.
    pub fn remove(&self, key: &Value) {
        let mut entries = self.cell().borrow_mut();
        let removed =
            entries.binary_search_by(|(candidate, _)| order(candidate, key)).map(|at| entries.remove(at)).ok();
        drop(entries);
        drop(removed);
    }

    /// The entries as they are now, in order.
    pub fn entries(&self) -> Vec<(Value, Value)> {
        self.cell().borrow().clone()
    }

    /// Shows the entries as they are now, in order, without a copy of them. Nothing may be put into the map meanwhile.
    pub fn show<R>(&self, to: impl FnOnce(&[(Value, Value)]) -> R) -> R {
        to(&self.cell().borrow())
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.cell().borrow().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.cell().borrow().is_empty()
    }

    pub(crate) fn into_values(self) -> Vec<Value> {
        self.entries.take().into_iter().map(|(_, value)| value).collect()
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        let entries = self.entries.take();
        if entries.iter().any(|(_, value)| matches!(value, Value::List(_) | Value::Map(_))) {
            unravel(entries.into_iter().map(|(_, value)| value).collect());
        }
    }
}

/// The order of Go's `internal/fmtsort`. Between types Go goes by where they lie in memory; we by their place here.
fn order(one: &Value, other: &Value) -> Ordering {
    match (one, other) {
        (Value::String(one), Value::String(other)) => one.cmp(other),
        (Value::Bool(one), Value::Bool(other)) => one.cmp(other),
        (Value::Int(kind, one), Value::Int(another, other)) => kind.cmp(another).then(one.cmp(other)),
        (Value::Uint(kind, one), Value::Uint(another, other)) => kind.cmp(another).then(one.cmp(other)),
        (Value::Float(kind, one), Value::Float(another, other)) => kind.cmp(another).then(order_floats(*one, *other)),
        (Value::Complex(one, i), Value::Complex(other, j)) => order_floats(*one, *other).then(order_floats(*i, *j)),
        _ => rank(one).cmp(&rank(other)),
    }
}

fn order_text(one: &Value, text: &[u8]) -> Ordering {
    match one {
        Value::String(one) => (**one).cmp(text),
        other => rank(other).cmp(&rank_of_strings()),
    }
}

/// A NaN is less than all else.
fn order_floats(one: f64, other: f64) -> Ordering {
    one.partial_cmp(&other).unwrap_or_else(|| other.is_nan().cmp(&one.is_nan()))
}

fn rank(value: &Value) -> u8 {
    match value {
        Value::Nil => 0,
        Value::Bool(_) => 1,
        Value::Int(..) => 2,
        Value::Uint(..) => 3,
        Value::Float(..) => 4,
        Value::Complex(..) => 5,
        Value::String(_) => rank_of_strings(),
        Value::Bytes(_) | Value::List(_) | Value::Map(_) | Value::Func(_) => 7,
        Value::Host(_) => 8,
    }
}

fn rank_of_strings() -> u8 {
    6
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;

    #[test]
    fn the_later_of_two_equal_keys_counts() {
        let map = Map::of(Type::MAP, [("a".into(), Value::int(1)), ("b".into(), Value::Nil), ("a".into(), "x".into())]);
        assert_eq!(map.len(), 2);
        assert!(matches!(map.get(b"a"), Some(Value::String(text)) if *text == *b"x"));
    }

    #[test]
    fn what_is_nested_deeply_is_dropped_on_a_small_stack() {
        let dropped = std::thread::Builder::new().stack_size(128 << 10).spawn(|| {
            let mut value = Value::Nil;
            for level in 0..300_000 {
                value = if level % 2 == 0 { Value::list([value]) } else { Value::map([("a", value)]) };
            }
            drop(value);
        });
        dropped.unwrap().join().unwrap();
    }

    #[test]
    fn a_map_is_shared() {
        let map = Rc::new(Map::of(Type::MAP, []));
        let value = Value::Map(Rc::clone(&map));
        map.insert("a".into(), Value::Bool(true));
        assert!(value.is_true());
        map.remove(&"a".into());
        assert!(!value.is_true());
    }
}
