//! Templates made up by chance: control flow, variables and pipelines of calls to every function, over values of all kinds.
//!
//! What could not be compared is left out: what depends on Go's order of maps, keys of different types in one map, what asks
//! the machine's clock, what has no end.

mod arguments;
pub(crate) mod calls;
mod templates;
mod values;

use crate::formats;
use crate::rows::Question;
use crate::world::World;
use calls::{ALONE, CALLS};

/// A source of chance: the same number makes the same things.
pub(crate) struct Chance {
    number: u64,
    state: u64,
    /// The variables that are in scope.
    variables: Vec<&'static str>,
    /// How many loops there are around what is being made.
    loops: usize,
    /// The templates that may be called from here: those that come later, so that there is an end.
    callable: &'static [&'static str],
}

const FIELDS: &[&str] = &["a", "b", "c", "l", "m", "n", "s", "t", "z", "k"];
const ZONES: &[&str] = &["", "", "", "UTC", "Europe/Berlin", "Asia/Kolkata", "America/New_York", "Pacific/Apia"];
const MOMENTS: &[i64] =
    &[0, 1_700_000_000_123_456_789, 1_711_846_800_000_000_000, -86_400_000_000_001, 951_782_400_000_000_000];

#[rustfmt::skip]
const FUNCTIONS: &[&str] = &[
    r#"{"$func":"add"}"#, r#"{"$func":"sum"}"#, r#"{"$func":"upper"}"#, r#"{"$func":"join"}"#, r#"{"$func":"fail"}"#, r#"{"$func":"null"}"#,
    r#"{"$func":"half"}"#, r#"{"$func":"tiny"}"#, r#"{"$func":"strs"}"#, r#"{"$func":"left"}"#, "null",
];

impl Chance {
    pub(crate) fn new(number: u64) -> Self {
        let state = number.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(0xD1B5_4A32_D192_ED03);
        Self { number, state, variables: vec!["$"], loops: 0, callable: &[] }
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

    /// The functions that a question begins with: numbers in a row have them all.
    pub(crate) fn leading(number: u64) -> (&'static str, &'static str) {
        let (round, turn) = (number / CALLS.len() as u64, usize::try_from(number % CALLS.len() as u64).unwrap_or(0));
        if round % 4 == 0 && turn < ALONE.len() { ALONE[turn] } else { CALLS[turn] }
    }

    /// A question about a template that is mostly one, which begins with the call whose turn it is.
    pub(crate) fn question(&mut self) -> Question {
        let others = [("one", &["two"][..]), ("two", &[])].map(|(name, callable)| {
            self.callable = callable;
            self.variables = vec!["$"];
            (name.to_owned(), self.body(1))
        });
        self.callable = &["one", "two", "one", "two", "one", "two", "none"];
        self.variables = vec!["$"];
        let (name, params) = Self::leading(self.number);
        let call = self.call_of(name, params, 3);
        let mut text = self.shown(&call) + ";";
        if self.one_in(2) && !ALONE.contains(&(name, params)) {
            text += &self.body(3);
        }
        if self.one_in(3000) {
            text += "{{define \"d\"}}{{template \"d\"}}{{end}}{{template \"d\"}}";
        } else if self.one_in(8) {
            self.callable = &[];
            self.variables = vec!["$"];
            let (name, body) = (self.one_of(&["d", "one"]), self.body(1));
            text = format!("{text}{{{{define \"{name}\"}}}}{body}{{{{end}}}}");
        }
        let data = self.data(&text);
        // Go's library for TOML asks for the local zone only once, when the oracle starts.
        let zone = if data.get("toml").is_some() { "" } else { self.one_of(ZONES) };
        // Helm says for itself how strict `tpl` is, and it is not in the oracle.
        let tpl = text.contains("tpl ") || others.iter().any(|(_, other)| other.contains("tpl "));
        let strict = !tpl && self.one_in(12);
        let world = World { seed: self.number % 1000, zone: zone.to_owned(), now: self.one_of(MOMENTS), strict };
        Question { text, others: others.to_vec(), data, world }
    }

    /// What a template is given: fields, and the texts that it asks for.
    fn data(&mut self, text: &str) -> serde_json::Value {
        let mut data = self.object(3);
        data["root"] = self.value(1);
        let mut formats = formats::Chance::new(self.number);
        for (field, value) in [
            (
                "u",
                self.one_of(&[
                    r#"{"$uint8":200}"#,
                    r#"{"$uint64":"3"}"#,
                    r#"{"$uint":0}"#,
                    r#"{"$uint64":"18446744073709551615"}"#,
                ]),
            ),
            ("i", self.one_of(&[r#"{"$int32":5}"#, r#"{"$int32":-86401}"#])),
            ("p", r#"{"$host":"pair"}"#),
            ("e", r#"{"$host":"problem"}"#),
            ("o", self.one_of(&[r#"{"$anymap":[["a",1],["b",null]]}"#, r#"{"$anymap":[[null,2],[1,"x"]]}"#])),
            ("call", self.one_of(FUNCTIONS)),
        ] {
            if text.contains(&format!("$.{field}")) {
                data[field] = serde_json::from_str(value).unwrap_or_default();
            }
        }
        for (field, make) in [
            ("json", formats::Chance::json as fn(&mut formats::Chance) -> serde_json::Value),
            ("yaml", formats::Chance::yaml),
            ("toml", formats::Chance::toml),
            ("any", |formats| formats.value(3)),
        ] {
            if text.contains(&format!("$.{field}")) {
                data[field] = make(&mut formats);
            }
        }
        data
    }
}
