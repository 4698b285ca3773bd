//! Slices.

use std::cell::OnceCell;
use std::rc::Rc;

use crate::kind::Type;
use crate::map::Map;
use crate::value::Value;

/// A slice. All that templates call to change one in place is sorting, which can only happen once.
#[derive(Debug)]
pub struct List {
    kind: Type,
    items: Vec<Value>,
    nil: bool,
    sorted: OnceCell<Vec<Value>>,
}

impl List {
    /// A slice of this type with these items, which have to be of the type's element.
    pub fn of(kind: Type, items: Vec<Value>) -> Self {
        Self { kind, items, nil: false, sorted: OnceCell::new() }
    }

    /// The nil of a slice's type: empty, but not equal to an empty one.
    pub fn nil(kind: Type) -> Self {
        Self { kind, items: Vec::new(), nil: true, sorted: OnceCell::new() }
    }

    /// The type of the slice itself.
    pub fn kind(&self) -> Type {
        self.kind
    }

    /// The type of its items.
    pub fn item_kind(&self) -> Type {
        if let Type::List(item) = self.kind { *item } else { Type::Any }
    }

    /// Whether it is the nil of its type.
    pub fn is_nil(&self) -> bool {
        self.nil
    }

    /// The items.
    pub fn items(&self) -> &[Value] {
        self.sorted.get().unwrap_or(&self.items)
    }

    /// Puts the sorted items in the place of the others, for all who hold the list.
    pub fn sort(&self, sorted: impl FnOnce(&[Value]) -> Vec<Value>) {
        self.sorted.get_or_init(|| sorted(&self.items));
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

impl Drop for List {
    fn drop(&mut self) {
        unravel(std::mem::take(&mut self.items));
    }
}

/// Drops values without recursion, however deeply they are nested.
pub(crate) fn unravel(mut values: Vec<Value>) {
    if !values.iter().any(|value| matches!(value, Value::List(_) | Value::Map(_))) {
        return;
    }
    while let Some(value) = values.pop() {
        match value {
            Value::List(list) => {
                if let Ok(mut list) = Rc::try_unwrap(list) {
                    values.append(&mut list.items);
                }
            }
            Value::Map(map) => values.extend(Rc::try_unwrap(map).map(Map::into_values).unwrap_or_default()),
            _ => {}
        }
    }
}
