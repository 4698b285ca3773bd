//! Calls of functions made up by chance.
//!
//! What could not be compared is left out: what depends on Go's order of maps, and keys of different types in one map.

mod values;

use fitout_gotmpl::Type;

use crate::rows::Question;
use crate::world;

/// A source of chance: the same number makes the same things.
pub(crate) struct Chance {
    state: u64,
}

/// Each function with what its arguments should be, by letters: anything, a text, an integer, a count, a number, digits, a
/// list, a full list, a map, a boolean, a version, a range, a path, an address, a pattern (`x`), base64 (`e`). The last
/// one may come again where a `*` is.
const CALLS: &[(&str, &str)] = &[
    ("abbrev", "it"),
    ("abbrevboth", "iit"),
    ("add", "n*"),
    ("add1", "n"),
    ("add1f", "n"),
    ("addf", "n*"),
    ("all", "a*"),
    ("any", "a*"),
    ("append", "la"),
    ("atoi", "d"),
    ("b32dec", "e"),
    ("b32enc", "t"),
    ("b64dec", "e"),
    ("b64enc", "t"),
    ("base", "p"),
    ("biggest", "nn*"),
    ("camelcase", "t"),
    ("cat", "a*"),
    ("ceil", "n"),
    ("chunk", "il"),
    ("clean", "p"),
    ("coalesce", "a*"),
    ("compact", "l"),
    ("concat", "l*"),
    ("contains", "tt"),
    ("deepCopy", "a"),
    ("deepEqual", "aa"),
    ("default", "aa"),
    ("dict", "tata"),
    ("dict", "a*"),
    ("dig", "tam"),
    ("dig", "ttam"),
    ("dir", "p"),
    ("div", "nn"),
    ("divf", "nn*"),
    ("empty", "a"),
    ("ext", "p"),
    ("first", "l"),
    ("float64", "n"),
    ("floor", "n"),
    ("get", "mt"),
    ("has", "al"),
    ("hasKey", "mt"),
    ("hasPrefix", "tt"),
    ("hasSuffix", "tt"),
    ("indent", "ct"),
    ("initial", "l"),
    ("initials", "t"),
    ("int", "n"),
    ("int64", "n"),
    ("isAbs", "p"),
    ("join", "tl"),
    ("kebabcase", "t"),
    ("kindIs", "ta"),
    ("kindOf", "a"),
    ("last", "l"),
    ("list", "a*"),
    ("lower", "t"),
    ("max", "nn*"),
    ("maxf", "nn*"),
    ("merge", "mm*"),
    ("mergeOverwrite", "mm*"),
    ("min", "nn*"),
    ("minf", "nn*"),
    ("mod", "nn"),
    ("mul", "nn*"),
    ("mulf", "nn*"),
    ("mustFirst", "l"),
    ("mustHas", "al"),
    ("mustMerge", "mm*"),
    ("mustMergeOverwrite", "mm*"),
    ("mustSlice", "fii"),
    ("mustUniq", "l"),
    ("nindent", "ct"),
    ("nospace", "t"),
    ("omit", "mt*"),
    ("pick", "mt*"),
    ("pluck", "tm*"),
    ("plural", "tti"),
    ("prepend", "la"),
    ("quote", "a*"),
    ("regexFind", "xt"),
    ("regexFindAll", "xti"),
    ("regexMatch", "xt"),
    ("regexReplaceAll", "xtt"),
    ("regexReplaceAllLiteral", "xtt"),
    ("regexSplit", "xti"),
    ("repeat", "ct"),
    ("replace", "ttt"),
    ("rest", "l"),
    ("reverse", "l"),
    ("round", "ni"),
    ("round", "nin"),
    ("toString (semver", "v)"),
    ("semverCompare", "rv"),
    ("seq", "c*"),
    ("slice", "fi"),
    ("slice", "fii"),
    ("snakecase", "t"),
    ("sortAlpha", "l"),
    ("split", "tt"),
    ("splitList", "tt"),
    ("splitn", "tit"),
    ("squote", "a*"),
    ("sub", "nn"),
    ("subf", "nn*"),
    ("substr", "iit"),
    ("swapcase", "t"),
    ("ternary", "aab"),
    ("title", "t"),
    ("toDecimal", "n"),
    ("toString", "a"),
    ("toStrings", "a"),
    ("trim", "t"),
    ("trimAll", "tt"),
    ("trimPrefix", "tt"),
    ("trimSuffix", "tt"),
    ("trunc", "it"),
    ("typeIs", "ta"),
    ("typeIsLike", "ta"),
    ("typeOf", "a"),
    ("uniq", "l"),
    ("unset", "mt"),
    ("until", "c"),
    ("untilStep", "ccc"),
    ("untitle", "t"),
    ("upper", "t"),
    ("urlJoin", "m"),
    ("urlParse", "u"),
    ("without", "la*"),
    ("wrap", "it"),
    ("wrapWith", "itt"),
];

const INTS: &[&str] = &["0", "1", "2", "3", "4", "7", "12", "-1", "-2", "-5"];
const FIELDS: &[&str] = &["a", "b", "c", "l", "m", "n", "s", "t", "z", "k"];

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

    /// A few calls, whose results are shown with their types.
    pub(crate) fn question(&mut self) -> Question {
        let mut text = String::new();
        for _ in 0..=self.below(2) {
            let (call, kind) = self.call(3);
            let show = match self.below(4) {
                0 => "{{@ | printf \"%T %#v\"}}",
                1 if matches!(kind, Type::List(_) | Type::Map(..)) => "{{range $i, $e := @}}{{$i}}={{$e}},{{end}}",
                _ => "{{@}}",
            };
            text = text + &show.replace('@', &format!("({call})")) + ";";
        }
        let mut data = self.object(3);
        data["root"] = self.value(1);
        Question::new(text, data)
    }

    /// A call, and the type of what it gives.
    fn call(&mut self, depth: usize) -> (String, Type) {
        let (name, params) = self.one_of(CALLS);
        let functions = world::functions(&world::World::default());
        let result = functions.get(name.split(' ').next().unwrap()).unwrap().signature().result;
        let mut params: Vec<char> = params.chars().collect();
        if params.last() == Some(&'*') {
            params.pop();
            let last = params.last().copied().unwrap_or('a');
            params.extend(std::iter::repeat_n(last, self.below(3)));
        }
        match self.below(60) {
            0 => drop(params.pop()),
            1 => params.push('a'),
            _ => {}
        }
        let mut call = name.to_owned();
        for param in params {
            if param == ')' {
                call.push(')');
                continue;
            }
            let argument = self.argument(param, depth.saturating_sub(1));
            // What is merged into itself has no end.
            let merged = name.to_ascii_lowercase().contains("merge");
            let argument = if merged { format!("(deepCopy {argument})") } else { argument };
            call = call + " " + &argument;
        }
        (call, result)
    }

    fn argument(&mut self, kind: char, depth: usize) -> String {
        if kind == 'c' {
            // What counts so many times that Go runs out of memory has no answer.
            return self.one_of(INTS).to_owned();
        }
        // A list that was made by appending has room behind its end, into which Go lets slices reach.
        if kind != 'f' && depth > 0 && self.one_in(3) {
            for _ in 0..8 {
                let (call, result) = self.call(depth);
                if fits(result, kind) || self.one_in(200) {
                    return format!("({call})");
                }
            }
        }
        if self.one_in(60) {
            return self.operand();
        }
        match kind {
            't' => self.text(),
            'i' => self.one_of(INTS).to_owned(),
            'n' => self.number(),
            'd' => self.digits(),
            'f' => format!("(list {} {} {})", self.operand(), self.text(), self.number()),
            'l' => match self.below(5) {
                0 => format!("(list {} {} {})", self.operand(), self.operand(), self.operand()),
                1 => format!("(splitList \",\" {})", self.text()),
                2 => format!("(until {})", self.one_of(INTS)),
                3 => format!("(list {} {} {})", self.text(), self.text(), self.number()),
                _ => ".l".to_owned(),
            },
            'm' => match self.below(4) {
                0 => format!("(dict \"a\" {} \"b\" {})", self.operand(), self.operand()),
                1 => format!("(dict \"m\" (dict \"a\" {}) \"k\" {})", self.operand(), self.operand()),
                2 => self.one_of(&[".m", ".k", ".z"]).to_owned(),
                _ => format!("(dict {} {})", self.text(), self.operand()),
            },
            'b' => self.one_of(&["true", "false"]).to_owned(),
            'v' => self.version(),
            'r' => format!("\"{}{}\"", self.one_of(&["", ">=", "^", "~", "<", "!="]), self.version().trim_matches('"')),
            'p' => self.pieces(&["a", "b.c", ".", "..", "/", "/", "//", "é", "x.y.z", ""]),
            'u' => self.pieces(&[
                "http", ":", "//", "a", "@", "/", "?", "#", "%41", "%zz", ":80", "[", "]", "::1", "é", " ", "x.y", "&",
                "=",
            ]),
            'x' => self.pieces(&["a", "b", "(", ")", "[ab]", "+", "*", "?", "|", ".", "^", "$", "é", "[^a]", "x"]),
            'e' => self.pieces(&["YQ", "==", "=", "MFRA", "ME", "======", "\\n", "YWJj", "Z", "-", "a"]),
            _ => self.operand(),
        }
    }

    /// A text that is put together of these.
    fn pieces(&mut self, pieces: &[&str]) -> String {
        let text: String = (0..self.below(7)).map(|_| self.one_of(pieces)).collect();
        format!("\"{text}\"")
    }

    fn text(&mut self) -> String {
        self.pieces(&[
            "a", "b", "A", "BC", "Hello", " ", "  ", "\\n", "\\t", "é", "É", "ß", "日本", "ǆ", "1", "23", "-", "_",
            ",", ".", "$", "%d", "\\xff", "\\\"", "'", "\u{a0}", "İ", "½", "€", "x", "foo bar", "HTTP",
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
        let mut version = self.one_of(&["", "", "v"]).to_owned() + self.one_of(&["0", "1", "2", "10", "01", "x"]);
        for _ in 0..self.below(4) {
            version = version + "." + self.one_of(&["0", "1", "2", "10", "x"]);
        }
        let version = version + self.one_of(&["", "", "-rc.1", "-0", "+b", "-a+b", "-01", "-"]);
        format!("\"{version}\"")
    }

    fn operand(&mut self) -> String {
        match self.below(9) {
            0..3 => format!(".{}", self.one_of(FIELDS)),
            3 => ".root".to_owned(),
            4 => self.text(),
            5 => self.one_of(INTS).to_owned(),
            6 => self.one_of(&["true", "false", "nil", "1.5", "\"\"", "(list)", "(dict)"]).to_owned(),
            7 => format!(".{}.{}", self.one_of(FIELDS), self.one_of(FIELDS)),
            _ => format!("$.{}", self.one_of(FIELDS)),
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
        _ => result == Type::String,
    }
}
