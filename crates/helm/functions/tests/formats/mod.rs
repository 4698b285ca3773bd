//! Values and texts made up by chance, from what is known to be difficult for formats.

use serde_json::{Map, Value as Json, json};

#[path = "../../../../go/yaml/tests/chance/mod.rs"]
mod yaml;

/// A source of chance: the same number makes the same things.
pub(crate) struct Chance {
    state: u64,
    yaml: yaml::Chance,
}

/// Bytes that are no UTF-8, in hexadecimal.
const RAW: &[&str] = &["ff", "61ff62", "e282", "eda080", "c080", "f09f8e", "61e28262", ""];

/// Pieces of which JSON is made.
#[rustfmt::skip]
const JSON: &[&str] = &[
    "{", "}", "[", "]", ",", ":", "\"", "\"a\"", "\"b\":", "1", "-", "0", "-0", "1.5", "1e3", "1e", "1.", "01", "1e400", "-1E+2",
    "true", "tru", "false", "null", "nul", " ", "\n", "\t", "\\", "\\u00e9", "\\ud83d\\ude00", "\\ud83d", "\\x", "\\n", "é",
    "'", "\u{1}", "a", "{\"a\":1}", "[1,2]", "{}", "[]", "\"a\\u0041\\ud800\\u0041\"", "\"<&>\"", "18446744073709551616", "\u{7f}",
];

/// Pieces of which TOML is made.
#[rustfmt::skip]
const TOML: &[&str] = &[
    "a", "b", "a.b", "\"c d\"", "'e'", "''", " = ", "=", "1", "-1", "+1", "0", "01", "1_000", "1__0", "_1", "1_", "0x1F", "0o17", "0b11",
    "0xg", "1.5", "1.", ".5", "1e3", "1e+3", "1.e3", "-0.0", "inf", "-inf", "+nan", "true", "false", "tru", "\"x\"", "\"\\n\"", "\"\\x41\"",
    "\"\\u00e9\"", "\"\\U0001F389\"", "\"\\e\"", "\"\\z\"", "\"", "'", "'''", "\"\"\"", "\"\"\"\na\\\n  b\"\"\"", "'''\nx'''", "\n", "\r\n", "\r",
    "[", "]", "[[", "]]", "{", "}", ",", ", ", "#", "# c", "\t", " ", "[a]\n", "[a.b]\n", "[[a]]\n", "[[a.b]]\n", "{a = 1}", "{ a = 1, b = 2 }",
    "[1, 2]", "[1, \"a\"]", "[\n1,\n]", "1979-05-27T07:32:00Z", "1979-05-27 07:32:00+01:00", "1979-05-27T07:32:00.999", "1979-05-27",
    "07:32:00", "07:32", "1979-13-27", "é", "\u{0}", "\u{7f}", "a = 1\n", "b = \"x\"\n", "c.d = 2\n", "c = {}\n", "x = [{a = 1}, {b = 2}]\n",
    "[x]\n", "[x.y]\n", "9223372036854775807", "9223372036854775808", "1e400", "\u{feff}", ".", "-", "~", "@", "*", "'''a''''", "\"\"\"\"\"\"",
];

#[rustfmt::skip]
const DURATIONS: &[&str] = &[
    "1h2m3s", "2.5", "-1.5h", "", " 5s ", "1e3", "abc", "1", "100ms", "1us", "1µs", "9223372036", "9223372037", "1e300", "nan", "inf", "-90m",
    "0.1", "1d", "0x10", "1_0", "+5m", "-", ".5s", "3ns", "2562047h47m16.854775807s", "2562048h",
];

impl Chance {
    pub(crate) fn new(number: u64) -> Self {
        let state = number.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(0xA0B1_C2D3_E4F5_0617);
        Self { state, yaml: yaml::Chance::new(number) }
    }

    fn below(&mut self, limit: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from(self.state >> 11).unwrap_or(0) % limit
    }

    fn one_of<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    /// A value, in which `$` says what JSON cannot.
    pub(crate) fn value(&mut self, depth: usize) -> Json {
        let plain = self.yaml.value(depth);
        self.tag(plain)
    }

    /// An object of which a configuration could be made.
    pub(crate) fn table(&mut self) -> Json {
        loop {
            let value = self.value(4);
            if value.is_object() {
                return value;
            }
        }
    }

    fn tag(&mut self, value: Json) -> Json {
        let chance = self.below(40);
        match value {
            Json::Number(number) if number.is_i64() && chance < 20 => {
                let tag = self.one_of(&["$int64", "$float64", "$float32", "$uint64", "$int8"]);
                let small = number.as_i64().unwrap_or(0);
                let whole = match tag {
                    "$uint64" => small.unsigned_abs().to_string(),
                    "$int8" => (small % 128).to_string(),
                    _ => small.to_string(),
                };
                json!({ tag: whole })
            }
            Json::Number(number) if chance < 20 => match number.as_f64() {
                Some(float) if float.abs() < 1e30 => json!({"$float32": float.to_string()}),
                _ => Json::Number(number),
            },
            Json::String(_) if chance == 0 => json!({"$raw": self.one_of(RAW)}),
            Json::String(text) if chance == 1 => json!({"$bytes": hex(text.as_bytes())}),
            Json::Null if chance < 8 => json!({"$nil": self.one_of(&["strings", "list", "map", "stringmap"])}),
            Json::Null if chance == 8 => json!({"$float64": self.one_of(&["NaN", "+Inf", "-Inf"])}),
            Json::Array(items) if chance == 0 => json!({"$ints": (0..items.len()).collect::<Vec<_>>()}),
            Json::Array(items) if chance < 4 => {
                json!({"$strings": items.iter().map(|item| item.as_str().unwrap_or("x")).collect::<Vec<_>>()})
            }
            Json::Array(items) if chance < 6 && items.iter().all(Json::is_array) => {
                json!({"$lists": items.into_iter().map(|item| self.untagged(item)).collect::<Vec<_>>()})
            }
            Json::Array(items) => items.into_iter().map(|item| self.tag(item)).collect(),
            Json::Object(object) => self.tag_object(object, chance),
            other => other,
        }
    }

    /// A list whose items have tags, but not the list itself.
    fn untagged(&mut self, list: Json) -> Json {
        match list {
            Json::Array(items) => items.into_iter().map(|item| self.tag(item)).collect(),
            other => other,
        }
    }

    fn tag_object(&mut self, object: Map<String, Json>, chance: usize) -> Json {
        if chance < 2 {
            let pairs: Vec<_> =
                object.into_values().zip([9, 10, 100, -1, 0]).map(|(value, key)| (key, value)).collect();
            let pairs: Vec<_> = pairs.into_iter().map(|(key, value)| json!([key, self.tag(value)])).collect();
            return json!({ "$intmap": pairs });
        }
        if chance == 2 {
            let pairs: Vec<_> = object.into_iter().map(|(key, value)| json!([key, self.tag(value)])).collect();
            return json!({ "$anymap": pairs });
        }
        if chance < 6 {
            let strings = object.into_iter().map(|(key, value)| (key, Json::from(value.as_str().unwrap_or("x"))));
            return json!({ "$stringmap": strings.collect::<Map<_, _>>() });
        }
        let single = object.len() == 1;
        let tagged = object.into_iter().filter(|(key, _)| !(single && key.starts_with('$')));
        Json::Object(tagged.map(|(key, value)| (key, self.tag(value))).collect())
    }

    /// A text that may be YAML.
    pub(crate) fn yaml(&mut self) -> Json {
        match self.below(4) {
            0 => json!({"$raw": hex(self.yaml.text().as_bytes()) + self.one_of(RAW)}),
            1 => {
                let written = fitout_go_yaml::to_yaml(&self.yaml.value(3));
                Json::from(self.yaml.damage(&written))
            }
            2 => Json::from(fitout_go_yaml::to_yaml(&self.yaml.value(4))),
            _ => Json::from(self.yaml.text()),
        }
    }

    /// A text that may be YAML, as far as it is there: it ends within a character.
    pub(crate) fn cut_yaml(&mut self) -> Json {
        let text = match self.below(2) {
            0 => fitout_go_yaml::to_yaml(&self.yaml.value(3)),
            _ => self.yaml.text(),
        };
        let at = text.floor_char_boundary(self.below(text.len() + 1));
        json!({"$raw": hex(&text.as_bytes()[..at]) + self.one_of(&["c3", "e2", "e282", "f09f8e"])})
    }

    /// A text that may be JSON.
    pub(crate) fn json(&mut self) -> Json {
        match self.below(4) {
            0 => json!({"$raw": hex(self.yaml.value(2).to_string().as_bytes()) + self.one_of(RAW)}),
            1 => {
                let mut text = self.yaml.value(3).to_string();
                let at = self.below(text.len() + 1);
                if text.is_char_boundary(at) {
                    text.insert_str(at, self.one_of(JSON));
                }
                Json::from(text)
            }
            2 => Json::from(self.yaml.value(4).to_string()),
            _ => Json::from((0..=self.below(8)).map(|_| self.one_of(JSON)).collect::<String>()),
        }
    }

    /// A text that may be TOML.
    pub(crate) fn toml(&mut self) -> Json {
        let mut text = String::new();
        for _ in 0..=self.below(5) {
            match self.below(4) {
                0 => text.extend((0..=self.below(4)).map(|_| self.one_of(TOML))),
                1 => text = text + "[" + self.one_of(&["a", "b", "a.b", "x", "x.y", "[a]", "[x]", "[a.b]"]) + "]",
                _ => text = text + self.one_of(&["a", "b", "c.d", "\"k\"", "x.y", "d"]) + " = " + self.one_of(TOML),
            }
            text += self.one_of(&["\n", "\n", "\n", "\n", "", " # c\n"]);
        }
        Json::from(text)
    }

    /// A duration in one of the forms that there are.
    pub(crate) fn duration(&mut self) -> Json {
        match self.below(3) {
            0 => self.value(1),
            _ => Json::from(self.one_of(DURATIONS)),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(nibble.into(), 16).unwrap_or_default();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}
