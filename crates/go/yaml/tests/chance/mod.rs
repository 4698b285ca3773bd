//! Values and texts made up by chance, from what is known to be difficult.

use serde_json::{Map, Value};

/// A source of chance: the same number makes the same things.
pub(crate) struct Chance(u64);

/// Strings that are something else when they are not quoted, or that quoting has to be careful with.
#[rustfmt::skip]
const STRINGS: &[&str] = &[
    "", " ", "a", "name", "yes", "No", "on", "y", "true", "null", "~", "Null", "1", "-1", "+1", "0", "00", "017",
    "0o17", "0x1F", "0b11", "1_000", "_1", "1e3", "1.5", ".5", "5.", ".inf", "-.Inf", ".nan", "1:30", "1:30:60",
    "190:20:30.15", "2001-01-01", "2001-1-1", "2001-13-01", "2001-12-14T21:59:43Z", "2001-12-14 21:59:43", "12e",
    "0x", "089", "-", "- a", "-a", "--", "---", "--- a", "...", ".", "?", "? a", "?a", ":", ": a", ":a", "a:", "a: b",
    "a:b", "a #b", "a#b", "#a", "#", "[a]", "a]", "{a}", "{{ a }}", "a, b", ",", "&a", "*a", "!a", "!!str a", "|",
    ">", "%a", "@a", "`a`", "'a'", "it's", "\"a\"", "a\"b", "\\", "a\\nb", "=", "<<", "<", "a b", "a  b", " a", "a ",
    "a\n", "\n", "\n\n", "a\n\n", "\na", " \n", "\n ", "a\nb", "a\n b", "a \nb", " a\nb", "a\nb ", "a\nb\n", "a\n\nb",
    "a\n\n\nb\n\n", "  a\n b\n", "a\tb", "\t", "a\n\tb", "a\rb", "a\r\nb", "é", "日本", "日本: 語", "\u{a0}", "a\u{a0}b",
    "\u{2028}", "a\u{2028}b", "a\u{2028}\nb", " \u{2029}b", "\u{85}", "a\u{85}b", "a \u{85} b", "a\u{85}\u{85}b",
    "\u{feff}", "\u{feff}a b", "a\u{feff}b", "🎉", "a 🎉", "\u{0}", "\u{7}\u{8}\u{b}\u{c}\u{1b}", "\u{1}x",
    "<a href=\"x\">&amp;</a>", "10Gi", "100m", "10.0.0.1", "http://a/b?c=d#e", "key=value", "$(A)", "${a}", "%d%%",
    "0.0.0.0/0", "*.example.com", "*", "app.kubernetes.io/name", "0777", "1.20", "1e6", "12345678901234567890",
    "123456789012345678901234567890", "0b-1", "+.5", "._1", ".1_0", "9223372036854775808", "-9223372036854775809",
];

/// Pieces of which texts are made.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    "a", "b: ", "c:\n", "- ", "-\n", "\n", "\n", "\n  ", "\n    ", "  ", " ", "\t", ": ", ":", "? ", "?", "[", "]",
    "{", "}", ", ", ",", "# c\n", "#", "\"", "'", "\\", "\\n", "\\x41", "\\u00e9", "|", "|\n", "|-\n  ", "|+\n  ",
    "|2\n   ", ">\n  ", ">-\n  ", "&x ", "*x", "*x ", "!!str ", "!!int ", "!!float ", "!!null ", "!!binary ", "!t ",
    "! ", "<<: ", "---\n", "--- ", "...\n", "%YAML 1.1\n", "@", "`", "%", "yes", "~", "1", "0x1F", "1.5", "é",
    "\u{85}", "\u{2028}", "\r\n", "a\u{feff}", "d: e\n", "- f\n", "\n- g", "\nh: i\n", "\"j\": ", "'k'", "\"l\"",
    "{m: n}", "[o, p]", "a: 1\n", "aGk=", "2001-01-01", "=", "<", ">", "&", "*", "!", "-", "--",
];

impl Chance {
    pub(crate) fn new(number: u64) -> Self {
        Self(number.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(0xD1B5_4A32_D192_ED03))
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap_or(0) % limit
    }

    fn one_of<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    /// Any value, so deep at most.
    pub(crate) fn value(&mut self, depth: usize) -> Value {
        match self.below(if depth == 0 { 8 } else { 14 }) {
            0 => Value::Null,
            1 => Value::Bool(self.below(2) == 0),
            2 | 3 => self.number(),
            4..8 => Value::String(self.string()),
            8..11 => (0..self.below(4)).map(|_| self.value(depth - 1)).collect(),
            _ => Value::Object(self.object(depth - 1)),
        }
    }

    fn object(&mut self, depth: usize) -> Map<String, Value> {
        // Keys with digits have no strict order, and Go leaves it to chance: there is at most one of them.
        let mut object = Map::new();
        for number in 0..self.below(5) {
            let key = self.string();
            if number == 0 || !key.contains(|c: char| c.is_numeric()) {
                object.insert(key, self.value(depth));
            }
        }
        object
    }

    fn number(&mut self) -> Value {
        let whole = self.0.cast_signed() >> self.below(64);
        match self.below(5) {
            0 => whole.into(),
            1 => self.0.into(),
            2 => Value::from(f64::from_bits(self.0)),
            3 => Value::from(f64::from(i32::try_from(whole % 1_000_000).unwrap_or(0)) / 1000.0),
            _ => Value::from(
                [0.0, -0.0, 1.0, 1e6, 1e15, 1e20, 1e21, 1e22, 1e-7, 0.1, 123_456_789.5, 1e300][self.below(12)],
            ),
        }
    }

    fn string(&mut self) -> String {
        match self.below(8) {
            0..5 => self.one_of(STRINGS).to_owned(),
            // Long enough to be folded, and sometimes too long for a simple key.
            5 => (0..self.below(40))
                .map(|_| ["word", "a", " ", "  ", " ", "longer-word", ": ", "'"][self.below(8)])
                .collect(),
            6 => (0..self.below(4)).map(|_| self.one_of(STRINGS)).collect(),
            _ => (0..self.below(12)).filter_map(|_| (' '..='~').nth(self.below(95))).collect(),
        }
    }

    /// A text that may be YAML.
    pub(crate) fn text(&mut self) -> String {
        (0..=self.below(12)).map(|_| self.one_of(PIECES)).collect()
    }

    /// A text with a few of its characters lost or replaced.
    pub(crate) fn damage(&mut self, text: &str) -> String {
        let mut chars: Vec<String> = text.chars().map(String::from).collect();
        for _ in 0..=self.below(3) {
            let at = self.below(chars.len() + 1);
            match self.below(3) {
                0 if at < chars.len() => drop(chars.remove(at)),
                1 if at < chars.len() => self.one_of(PIECES).clone_into(&mut chars[at]),
                _ => chars.insert(at, self.one_of(PIECES).to_owned()),
            }
        }
        chars.concat()
    }
}
