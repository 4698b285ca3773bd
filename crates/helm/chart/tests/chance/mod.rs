//! Flags, values and charts made up by chance.

mod charts;
mod flags;
mod schemas;

use serde_json::{Map as Object, Value as Json, json};

/// A source of chance: the same number makes the same things.
pub(crate) struct Chance {
    state: u64,
}

const KEYS: &[&str] = &["a", "b", "c", "global", "sub", "one", "two", "tags", "enabled", "exports", "data", "leaf"];

impl Chance {
    pub(crate) fn new(number: u64) -> Self {
        Self { state: number.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(0xD1B5_4A32_D192_ED03) }
    }

    fn below(&mut self, limit: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from(self.state >> 11).unwrap_or(0) % limit
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn one_of<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// A table of values, nulls among them.
    pub(crate) fn table(&mut self, depth: usize) -> Json {
        let mut object = Object::new();
        for _ in 0..self.below(5) {
            let key = self.one_of(KEYS);
            let value = self.value(depth);
            object.insert(key.to_owned(), value);
        }
        Json::Object(object)
    }

    fn value(&mut self, depth: usize) -> Json {
        if depth == 0 || self.one_in(3) {
            return match self.below(9) {
                0 | 1 => Json::Null,
                2 => json!(true),
                3 => json!(false),
                4 => json!("x"),
                5 => json!(""),
                6 => json!(7),
                7 => json!(1.5),
                _ => json!(["l", null, {"m": null}]),
            };
        }
        if self.one_in(12) { json!([self.table(depth - 1)]) } else { self.table(depth - 1) }
    }
}
