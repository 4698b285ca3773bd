//! Calls with arguments that mostly fit.

use fitout_go_template::Type;

use super::calls::CALLS;
use super::{Chance, FIELDS};
use crate::world;

const INTS: &[&str] = &["0", "1", "2", "3", "4", "7", "12", "-1", "-2", "-5"];
/// What would have no answer, or not one alone, if it were something else.
const STRICT: &str = "567ABDHIKMORSUVWcghoqsy";
const ZONES: &[&str] =
    &["UTC", "Local", "", "Europe/Berlin", "Asia/Kolkata", "America/New_York", "Australia/Lord_Howe", "No/Where"];
#[rustfmt::skip]
const LAYOUTS: &[&str] = &[
    "2006", "06", "January", "Jan", "01", "1", "Monday", "Mon", "02", "_2", "2", "002", "__2", "15", "03", "3", "04", "4", "05", "5", "PM",
    "pm", "MST", "Z0700", "Z07:00", "-0700", "-07:00", "-07", ".000", ".999999", ",000", "T", " ", "-", ":", "/", "x",
];
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "a", "bc", "D", "EF", "gH", "é", "É", "ß", "ǆ", "1", "日", " ", " ", "\u{a0}", "\u{a0}b", "\u{2028}a", "\\t", "\\n", "-", "_", ".", "'", "\\xff",
];
#[rustfmt::skip]
const SCALARS: &[&str] = &[
    "~", "~", "~", "null", "Null", "NULL", "nULL", "", "true", "True", "yes", "No", "on", "y", "0x1F", "0o17", "017", "0b11", "1e3", "1E+3", ".5", "1_000", "-.inf",
    ".NaN", ".nan", "+1", "-0", "1.", "2001-01-01", "2001-01-01T00:00:00Z", "12:30:45", "'a'", "a b", "[]", "{}", "!!str 1", "!!int '3'", "=", "<<", "é",
];
/// As TOML has them, or almost.
#[rustfmt::skip]
const NUMBERS: &[&str] = &[
    "0", "-0", "+0", "01", "-01", "+01", "00", "1_000", "1__0", "_1", "1_", "0x1F", "-0x1", "0o17", "0b11", "0b2", "1.5", "01.5", "-01.5", "1.", ".5",
    "1e3", "1e+03", "-1E-3", "1_0.0_1", "inf", "+inf", "-nan", "9223372036854775808", "-9223372036854775808", "1e400",
];
/// Patterns that mostly find something, and often nothing at a place.
#[rustfmt::skip]
const EMPTY: &[&str] = &[
    "a*", "b|a*", "(a|b)*", "x?", "[ab]+", "a{0,2}", "\\\\b", "^", "$", "a*?", "(?m)^", ".", "", "(a)(b)?", "b*$", "(?:ab)*", "[^a]*", "a|ab",
];
const UNITS: &[&str] = &["ns", "us", "µs", "ms", "s", "m", "h", "", "d"];
const FLAGS: &[&str] =
    &["", "", "", "+", "-", "#", "0", " ", "5", "-6", "05", ".2", "8.3", "+.1", "*", "[1]", "[2]", "# "];
const VERBS: &[&str] =
    &["v", "v", "s", "d", "q", "x", "X", "t", "T", "f", "g", "e", "c", "U", "b", "o", "O", "z", "%", ""];
/// A certificate and its key in base64.
const CERTIFICATE: &str = include_str!("certificate.txt");

impl Chance {
    /// A call, sometimes with its last argument before it.
    pub(super) fn pipeline(&mut self, depth: usize) -> String {
        if self.one_in(4) {
            return self.operand();
        }
        let mut call = self.call(depth).0;
        while self.one_in(5) {
            call = format!(
                "{call} | {}",
                self.one_of(&[
                    "quote",
                    "toString",
                    "toJson",
                    "default 3",
                    "kindOf",
                    "list",
                    "len",
                    "upper",
                    "trunc 3",
                    "nindent 2",
                    "not",
                    "first",
                    "b64enc",
                    "toYaml"
                ])
            );
        }
        call
    }

    /// A call, and the type of what it gives.
    fn call(&mut self, depth: usize) -> (String, Type) {
        let (name, params) = self.one_of(CALLS);
        let functions = world::functions(&world::World::default());
        let outer = name.split(' ').next().unwrap_or_default();
        // Go's own print texts, count or compare.
        let result = functions.get(outer).map_or(Type::Any, |function| function.signature().result);
        (self.call_of(name, params, depth), result)
    }

    /// A call of a function that has such parameters.
    pub(super) fn call_of(&mut self, name: &str, params: &str, depth: usize) -> String {
        let mut params: Vec<char> = params.chars().collect();
        let repeated = params.iter().position(|param| *param == '*');
        if let Some(at) = repeated {
            params.remove(at);
            let last = at.checked_sub(1).map_or('a', |before| params[before]);
            params.splice(at..at, std::iter::repeat_n(last, self.below(3)));
        }
        if !params.contains(&')') && !params.contains(&'V') {
            match self.below(80) {
                0 => drop(params.pop()),
                // Any number at all could be the length of what Go makes.
                1 => params.push(if name == "seq" { 'c' } else { 'a' }),
                _ => {}
            }
        }
        let mut arguments = Vec::new();
        for param in params {
            match param {
                ' ' => {}
                ')' => arguments.push(")".to_owned()),
                _ => {
                    let argument = self.argument(param, depth.saturating_sub(1));
                    // What is merged into itself has no end.
                    let merged = name.to_ascii_lowercase().contains("merge");
                    arguments.push(if merged { format!("(deepCopy {argument})") } else { argument });
                }
            }
        }
        if self.one_in(6) && arguments.last().is_some_and(|last| last != ")") {
            let last = arguments.pop().unwrap_or_default();
            return [last, "|".to_owned(), name.to_owned()].into_iter().chain(arguments).collect::<Vec<_>>().join(" ");
        }
        std::iter::once(name.to_owned()).chain(arguments).collect::<Vec<_>>().join(" ")
    }

    /// An argument of a kind: anything (`a`), a text (`t`), words (`G`), a key (`j`), what is compared (`k`), an integer, a
    /// count, a number, a half (`5`) and how many places it is rounded to (`6`), a key with a place in an order (`7`), digits,
    /// a list, a full list (`f`), a map, a map with one entry (`O`), a boolean, a version, a range, a version near a range
    /// (`P`, `Q`), a path, an address (`u`), the parts of one (`y`), a pattern (`x`), one that finds something (`X`) in a text
    /// (`z`), base64 (`e`), a date (`D`), a date that is none of its forms (`N`), a date so far off that it does not matter
    /// what the time is (`A`), a zone, a layout, a layout and a date in it (`M`), a duration (`w`, `W`), what is written in
    /// JSON, YAML or TOML, a scalar of YAML (`H`), a number of TOML (`K`), a format (`F`), what is printed in it (`g`), a
    /// function (`V`), what it is given (`o`), an error (`R`).
    pub(super) fn argument(&mut self, kind: char, depth: usize) -> String {
        let strict = STRICT.contains(kind);
        // A list that was made by appending has room behind its end, into which Go lets slices reach.
        if !strict && kind != 'f' && depth > 0 && self.one_in(3) {
            for _ in 0..8 {
                let (call, result) = self.call(depth);
                if fits(result, kind) || self.one_in(200) {
                    return format!("({call})");
                }
            }
        }
        if !strict && self.one_in(60) {
            return self.operand();
        }
        match kind {
            // Longer than what is hashed of a password.
            's' if self.one_in(6) => "(repeat 13 \"passwd\")".to_owned(),
            'j' if !self.one_in(5) => format!("\"{}\"", self.one_of(FIELDS)),
            'G' if !self.one_in(4) => self.pieces(WORDS),
            't' | 's' | 'j' | 'G' => self.text(),
            'k' => self.one_of(&["$.u", "$.u", "$.u", "$.i", "$.i", "3", "-1", "1i", "1i", "$.p"]).to_owned(),
            'H' => format!("\"{}\"", self.one_of(SCALARS)),
            'K' => format!("\"{}\"", self.one_of(NUMBERS)),
            'X' => format!("\"{}\"", self.one_of(EMPTY)),
            'z' => self.pieces(&["a", "a", "b", "ab", "x", "é", " "]),
            'R' => "$.e".to_owned(),
            'V' => "$.call".to_owned(),
            'o' => self
                .one_of(&["3", "-1", "1.5", "\"a\"", "nil", "true", "(list \"a\")", "(list)", "$.p", "$.u"])
                .to_owned(),
            'U' => self.one_of(&["3", "0", "4294967295", "-1", "\"x\"", "1.0"]).to_owned(),
            'i' | 'c' => self.one_of(INTS).to_owned(),
            'I' => "8".to_owned(),
            'n' => self.number(),
            '5' => self
                .one_of(&["0.5", "1.5", "2.5", "-0.5", "-1.5", "1.25", "0.125", "-2.675", "\"2.5\"", "12.45"])
                .to_owned(),
            '7' => format!(
                "\"{}\"",
                self.one_of(&["a", "a1", "a2", "a10", "a-", "a_b", "ab", "aB", "B", "1", "01", "10", "é", "a.b", ""])
            ),
            '6' => self.one_of(&["0", "0", "1", "2"]).to_owned(),
            'd' => self.digits(),
            'f' if self.one_in(8) => "(list)".to_owned(),
            'f' => format!("(list {} {} {})", self.operand(), self.text(), self.number()),
            'l' => self.list(),
            'm' => self.map(),
            'O' => format!("(dict {} {})", self.text(), self.operand()),
            'b' => self.one_of(&["true", "false"]).to_owned(),
            'v' => self.version(),
            'r' => self.range_of_versions(),
            'P' => format!(
                "\"{}.{}{}\"",
                self.one_of(&["1.0", "1.1", "1.2", "0.1", "0.0", "2.0"]),
                self.below(3),
                self.one_of(&["", "", "-a"])
            ),
            'Q' => self.near_range(),
            'p' => self.pieces(&["a", "b.c", ".", "..", "/", "/", "//", "é", "x.y.z", ""]),
            'u' => self.address(),
            'y' => self.address_parts(),
            'x' => self.pieces(&[
                "a",
                "b",
                "(",
                ")",
                "[ab]",
                "+",
                "*",
                "?",
                "|",
                ".",
                "^",
                "$",
                "é",
                "[^a]",
                "x",
                "(?i)",
                "\\\\d",
                "\\\\w",
                "{2}",
                "{1,3}",
                "(?P<n>a)",
                "\\\\b",
                "+?",
                "[[:alpha:]]",
                "\\\\s",
            ]),
            'e' => self.pieces(&["YQ", "==", "=", "MFRA", "ME", "======", "\\n", "YWJj", "Z", "-", "a"]),
            'q' => self.one_of(&["\"long\"", "\"maximum\"", "\"pin\"", "\"none\""]).to_owned(),
            'S' => self.one_of(&["\"\"", "\"aaaa\"", "\"é\"", "\"  \""]).to_owned(),
            'C' => self.one_of(&["(encryptAES \"k\" \"secret\")", "(b64enc \"abc\")", "\"YWJj\"", "\"?\""]).to_owned(),
            'B' => CERTIFICATE.trim().to_owned(),
            'h' => format!("\"{}\"", if self.callable.is_empty() { "none" } else { self.one_of(self.callable) }),
            'E' => self.inner(),
            'J' => "$.json".to_owned(),
            'Y' => "$.yaml".to_owned(),
            'T' => "$.toml".to_owned(),
            'F' => self.format(),
            'g' => self.printable(),
            'A' | 'D' | 'N' | 'Z' | 'L' | 'M' | 'w' | 'W' => self.time(kind),
            _ => self.operand(),
        }
    }

    fn address(&mut self) -> String {
        if self.one_in(3) {
            return self.pieces(&[
                "http", ":", "//", "a", "@", "/", "?", "#", "%41", "%zz", ":80", "[", "]", "::1", "é", " ", "x.y", "&",
                "=",
            ]);
        }
        let parts = [
            &["http://", "https://", "//", "mailto:", "tcp://", ""][..],
            &["", "", "u@", "u:p@", "%41:b c@", ":@"],
            &["host", "x.y", "[::1]", "é.de", "", "10.0.0.1", "a_b"],
            &["", ":80", ":", ":x"],
            &["", "/", "/a/b", "/a b/%2f", "/é", "/../c"],
            &["", "?", "?a=b&c", "?q=%zz"],
            &["", "#", "#f", "#é f"],
        ];
        format!("\"{}\"", parts.map(|part| self.one_of(part)).concat())
    }

    /// What an address is made of, or something like it.
    fn address_parts(&mut self) -> String {
        let mut parts = String::from("(dict");
        for (key, values) in [
            ("scheme", &["\"http\"", "\"\""][..]),
            ("host", &["\"h:80\"", "\"\"", "\"é\""]),
            ("path", &["\"/a b\"", "\"c\"", "\"\""]),
            ("query", &["\"a=b\"", "\"\""]),
            ("fragment", &["\"f é\"", "\"\""]),
            ("userinfo", &["\"u:p\"", "\"u\"", "\"a b@\"", "\"\"", "7"]),
            ("opaque", &["\"o\"", "\"\"", "\"\""]),
        ] {
            if !self.one_in(4) {
                parts = format!("{parts} \"{key}\" {}", self.one_of(values));
            }
        }
        parts + ")"
    }

    fn time(&mut self, kind: char) -> String {
        match kind {
            'A' => self
                .one_of(&["(toDate \"2006\" \"1500\")", "-99999999999", "99999999999", "(int64 -62135596800)"])
                .to_owned(),
            'Z' => format!("\"{}\"", self.one_of(ZONES)),
            'L' => self.pieces(LAYOUTS),
            'M' => {
                let layout = self.pieces(LAYOUTS);
                format!("{layout} (dateInZone {layout} {} \"UTC\")", self.time('D'))
            }
            'w' | 'W' => {
                let parts = (0..=self.below(2)).map(|_| {
                    let whole = self.one_of(&["0", "1", "5", "59", "90", "1000", "86400", "123456789", "1.5", ".25"]);
                    whole.to_owned() + self.one_of(UNITS)
                });
                let text = parts.collect::<String>();
                match self.below(6) {
                    0 => format!("\"-{text}\""),
                    1 if kind == 'w' && self.one_in(2) => self
                        .one_of(&[
                            "$.u",
                            "(float64 \"NaN\")",
                            "1e300",
                            "(mustToDuration \"5s\")",
                            "1.5",
                            "9223372037",
                            "-9223372037",
                        ])
                        .to_owned(),
                    1 if kind == 'w' => self.number(),
                    1 => self.one_of(&["3", "1.5", "nil"]).to_owned(),
                    2 => format!("(int64 {})", self.one_of(&["0", "1", "61", "3600", "1000000000", "-5"])),
                    _ => format!("\"{text}\""),
                }
            }
            _ => match self.below(if kind == 'N' { 4 } else { 6 }) {
                0 | 1 => "now".to_owned(),
                2 => format!(
                    "(toDate \"2006-01-02\" \"{}\")",
                    self.one_of(&["2024-02-29", "1969-12-31", "0001-01-01", "x"])
                ),
                3 => format!("(dateModify {} now)", self.time('W')),
                4 => format!("(int64 {})", self.one_of(&["0", "1711846800", "-1", "951782400"])),
                _ => self.one_of(&["0", "1", "1700000000", "-86401", "(default 5 $.i)"]).to_owned(),
            }
            .replace("now", self.one_of(&["now", "now", "(now)"])),
        }
    }

    fn list(&mut self) -> String {
        match self.below(5) {
            0 => format!("(list {} {} {})", self.operand(), self.operand(), self.operand()),
            1 => format!("(splitList \",\" {})", self.text()),
            2 => format!("(until {})", self.one_of(INTS)),
            3 => format!("(list {} {} {})", self.text(), self.text(), self.number()),
            _ => ".l".to_owned(),
        }
    }

    fn map(&mut self) -> String {
        match self.below(5) {
            0 => format!("(dict \"a\" {} \"b\" {})", self.operand(), self.operand()),
            1 => format!("(dict \"m\" (dict \"a\" {}) \"k\" {})", self.operand(), self.operand()),
            2 => self.one_of(&[".m", ".k", ".z"]).to_owned(),
            3 => self.one_of(&["$", "$.m", "$.k"]).to_owned(),
            _ => format!("(dict {} {})", self.text(), self.operand()),
        }
    }

    /// A text that is put together of these.
    fn pieces(&mut self, pieces: &[&str]) -> String {
        let text: String = (0..self.below(7)).map(|_| self.one_of(pieces)).collect();
        format!("\"{text}\"")
    }

    pub(super) fn text(&mut self) -> String {
        self.pieces(&[
            "a", "b", "A", "BC", "Hello", " ", "  ", "\\n", "\\t", "é", "É", "ß", "日本", "ǆ", "1", "23", "-", "_",
            ",", ".", "$", "%d", "\\xff", "\\\"", "'", "\u{a0}", "İ", "½", "€", "x", "foo bar", "HTTP", "$1", "${1}",
            ":", "@", "\\x00", "\\\\", "\\u2028", "\\ue000", "<", "&",
        ])
    }

    fn digits(&mut self) -> String {
        self.pieces(&["0", "1", "9", "12", "-", "+", "x", ".", "_", "99999999999", "e", "0x"])
    }

    fn number(&mut self) -> String {
        match self.below(6) {
            0 => self.digits(),
            1 | 2 => self.one_of(INTS).to_owned(),
            3 => format!("{}.{}", self.one_of(INTS), self.below(1000)),
            4 => format!("{}e{}", self.one_of(&["1", "2.5", "-3", "1.7976931348623157", "0.1"]), self.one_of(INTS)),
            _ => self.operand(),
        }
    }

    fn version(&mut self) -> String {
        if self.one_in(2) {
            let [major, minor, patch] = [(); 3].map(|()| self.one_of(&["0", "1", "2", "10"]));
            return format!("\"{major}.{minor}.{patch}{}\"", self.one_of(&["", "", "-rc.1", "+b"]));
        }
        let mut version = self.one_of(&["", "", "v"]).to_owned() + self.one_of(&["0", "1", "2", "10", "01", "x"]);
        for _ in 0..self.below(4) {
            version = version + "." + self.one_of(&["0", "1", "2", "10", "x"]);
        }
        let version = version + self.one_of(&["", "", "-rc.1", "-0", "+b", "-a+b", "-01", "-"]);
        format!("\"{version}\"")
    }

    /// A range that versions near 1 are just within or without.
    fn near_range(&mut self) -> String {
        let sign = self.one_of(&["~", "~", "~>", "^", "^", ">", "<", "<=", ">=", "=", "!=", ""]);
        let version =
            self.one_of(&["1", "1", "1.1", "1.0", "1.x", "1.1.1", "1.0.0", "0.1", "0.0.1", "0", "1.1.1-a", "*"]);
        let other = self.one_of(&["", "", "", " || 0.1", ", <2", " - 1.2"]);
        format!("\"{sign}{version}{other}\"")
    }

    fn range_of_versions(&mut self) -> String {
        let mut parts = Vec::new();
        for _ in 0..=self.below(2) {
            let sign = self.one_of(&["", ">=", ">", "^", "~", "<", "<=", "=", "!=", "=>", "~>"]);
            let version = self.version();
            parts.push(format!("{sign}{}", version.trim_matches('"')));
        }
        format!("\"{}\"", parts.join(self.one_of(&[" ", ", ", " || ", " - "])))
    }

    fn format(&mut self) -> String {
        let pieces: Vec<String> = (0..=self.below(3))
            .map(|_| match self.below(4) {
                0 => self.one_of(&["a", " ", "%%", "é", "-"]).to_owned(),
                _ => format!("%{}{}", self.one_of(FLAGS), self.one_of(VERBS)),
            })
            .collect();
        format!("\"{}\"", pieces.concat())
    }

    /// Something that Go does not print from within, which it does with a date where the verb is none for dates.
    fn printable(&mut self) -> String {
        match self.below(5) {
            0 => self.one_of(INTS).to_owned(),
            1 => self.one_of(&["1.5", "-2e10", "0.1", "1e-7", "true", "nil"]).to_owned(),
            2 => self.text(),
            3 => "$.any".to_owned(),
            _ => format!("$.{}", self.one_of(FIELDS)),
        }
    }

    pub(super) fn operand(&mut self) -> String {
        match self.below(14) {
            0..3 => format!(".{}", self.one_of(FIELDS)),
            3 => "$.root".to_owned(),
            4 => self.text(),
            5 => self.one_of(INTS).to_owned(),
            6 => self.one_of(&["true", "false", "nil", "1.5", "\"\"", "(list)", "(dict)"]).to_owned(),
            7 if self.one_in(3) => format!(".{}.{}", self.one_of(FIELDS), self.one_of(FIELDS)),
            8 => "$.any".to_owned(),
            9 | 10 => {
                let at = self.below(self.variables.len());
                self.variables[at].to_owned()
            }
            11 => self.one_of(&[".", ".", "$.u", "$.i"]).to_owned(),
            12 => self.chain(),
            _ => format!("$.{}", self.one_of(FIELDS)),
        }
    }

    /// Fields and methods of what is in brackets, and what is no ordinary operand.
    fn chain(&mut self) -> String {
        match self.below(8) {
            0 => format!("(dict \"a\" {}).{}", self.text(), self.one_of(&["a", "a", "b", "a.b"])),
            1 => self
                .one_of(&[
                    "(now).Year",
                    "(now.UTC.YearDay)",
                    "(now.Add 5)",
                    "(now.none)",
                    "(now.Unix 1)",
                    "(now.wall)",
                    "(now.Date)",
                    "now.ISOWeek",
                ])
                .to_owned(),
            2 => self
                .one_of(&["(semver \"1.2.3-a\").Minor", "(semver \"v2\").Original", "(semver \"1\").none"])
                .to_owned(),
            3 => self.one_of(&["$.p.Left", "($.p.Left)", "$.p.left", "$.p.None", "($.p.Left 1)", "(.a 1)"]).to_owned(),
            4 => self
                .one_of(&["1i", "(1+2i)", "18446744073709551615", "9223372036854775808", "'a'", "0x10", "1_000"])
                .to_owned(),
            5 => self.one_of(&["(nil).x", "(nil.x)", "(hello)", "hello", "now", "(ternary 1 2 \"x\")"]).to_owned(),
            6 => format!("(index $.l {})", self.one_of(&["0", "1", "-1", "$.u", "nil"])),
            _ => format!("(list {}).a", self.one_of(INTS)),
        }
    }
}

/// Whether what a function gives is what an argument should be.
fn fits(result: Type, kind: char) -> bool {
    match kind {
        'a' => true,
        'i' => result == Type::INT,
        'n' => matches!(result, Type::Int(_) | Type::Float(_)),
        'l' => matches!(result, Type::List(_)),
        'm' => result == Type::MAP,
        'b' => result == Type::Bool,
        'N' | 'E' | 'J' | 'Y' | 'T' | 'F' => false,
        _ => result == Type::String,
    }
}
