//! Values made up by chance, as JSON with tags.

use serde_json::{Map, Value as Json, json};

use super::Chance;

impl Chance {
    /// Any value, so deep at most. Mostly it has fields.
    pub(super) fn value(&mut self, depth: usize) -> Json {
        if depth > 1 && !self.one_in(8) {
            return self.object(depth);
        }
        match self.below(if depth == 0 { 16 } else { 22 }) {
            0 => Json::Null,
            1 => Json::Bool(self.one_in(2)),
            2..4 => json!(self.below(6)),
            4 => json!(self.one_of(&[-1.5, 0.5, 2.25, 1e6, 1e21, 1e-7])),
            5..8 => json!(self.one_of(&["", "a", "k", "x y", "é中", "<&\"'>", "a\nb", "3", "%d"])),
            8 => self.one_of_json(&[json!({"$int64": 3}), json!({"$uint8": 200}), json!({"$float64": "2"})]),
            9 => self.one_of_json(&[json!({"$float64": "NaN"}), json!({"$float32": "0.1"}), json!({"$int8": -3})]),
            10 => self.one_of_json(&[json!({"$raw": "61ff"}), json!({"$bytes": "6162"}), json!({"$bytes": ""})]),
            11 => {
                self.one_of_json(&[json!({"$strings": ["a", "b"]}), json!({"$ints": [1, 2]}), json!({"$strings": []})])
            }
            12 => json!({"$nil": self.one_of(&["list", "strings", "map", "stringmap"])}),
            13 => self
                .one_of_json(&[json!({"$stringmap": {"a": "x", "k": "y"}}), json!({"$intmap": [[1, "o"], [0, null]]})]),
            14 => json!({"$lists": [[1], []]}),
            15 => json!({"$host": self.one_of(&["pair", "names", "files", "level", "word", "span"])}),
            16..19 => (0..self.below(4)).map(|_| self.value(depth - 1)).collect(),
            _ => self.object(depth),
        }
    }

    fn one_of_json(&mut self, from: &[Json]) -> Json {
        from[self.below(from.len())].clone()
    }

    fn object(&mut self, depth: usize) -> Json {
        let mut object = Map::new();
        for key in ["a", "b", "c", "l", "m", "n", "s", "t", "z", "k"] {
            let there = if depth > 2 { !self.one_in(3) } else { self.one_in(4) };
            if there {
                object.insert(key.to_owned(), self.value(depth.saturating_sub(1)));
            }
        }
        Json::Object(object)
    }
}
