//! Templates and values made up by chance.
//!
//! What could not be compared is left out: functions and pointers, which print as addresses, loops without an end, keys of different types in one map.

mod values;

use crate::rows::Question;

/// A source of chance: the same number makes the same things.
pub(crate) struct Chance {
    state: u64,
    /// The variables that are in scope, or nearly so.
    variables: Vec<&'static str>,
    /// How many loops there are around what is being made.
    loops: usize,
    /// Whether what is being made may call others, which call none.
    calls: bool,
}

const FIELDS: &[&str] = &["a", "b", "c", "l", "m", "n", "s", "t", "z", "none", "X", "k", "a", "m", "Left", "Sum"];
const NAMES: &[&str] = &["$x", "$y", "$z", "$", "$é"];
const WORDS: &[&str] = &["\"\"", "\"a\"", "\"k\"", "\"x y\"", "`r`", "\"é\"", "\"<&>\"", "\"%d\"", "\"a\\tb\""];
const NUMBERS: &[&str] = &["0", "1", "2", "3", "-1", "7", "1.5", "0.0", "-2.5", "1e3", "0x5", "1i", "010", "1_0"];
const TEXTS: &[&str] = &["", " ", "\n", "a", " b ", "\n  c:\n", "é", "-", "}", "{ { ", "\t\n"];
const FLAGS: &[&str] =
    &["", "", "", "+", "-", "#", "0", " ", "5", "-6", "05", ".2", "8.3", "+.1", "*", "[1]", "[2]", "# "];
const VERBS: &[&str] =
    &["v", "v", "s", "d", "q", "x", "X", "t", "T", "f", "g", "e", "c", "U", "b", "o", "O", "z", "%", ""];

impl Chance {
    pub(crate) fn new(number: u64) -> Self {
        let state = number.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(0xD1B5_4A32_D192_ED03);
        Self { state, variables: vec!["$"], loops: 0, calls: false }
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

    /// A question about a template that is mostly one.
    pub(crate) fn question(&mut self) -> Question {
        let mut others = Vec::new();
        for name in ["one", "two"] {
            self.variables = vec!["$"];
            others.push((name.to_owned(), self.body(1)));
        }
        self.variables = vec!["$"];
        self.calls = true;
        let mut text = self.body(4);
        self.calls = false;
        if self.one_in(4) {
            let (name, body) = (self.one_of(&["d", "one", "e"]), self.body(2));
            text = format!("{text}{{{{define \"{name}\"}}}}{body}{{{{end}}}}");
        }
        let data = self.value(3);
        Question {
            text,
            others,
            data,
            missing_key: self.one_of(&["default", "default", "default", "zero", "zero", "error"]),
        }
    }

    /// A question about a template of which a few characters are lost or replaced.
    pub(crate) fn damaged(&mut self) -> Question {
        const PIECES: &[&str] = &[
            "{{",
            "}}",
            "(",
            ")",
            "|",
            ".",
            "$",
            "\"",
            "`",
            "'",
            ":=",
            "=",
            ",",
            " ",
            "\n",
            "-",
            " -",
            "- ",
            "1",
            "x",
            "if ",
            "end",
            "else",
            "range ",
            "nil",
            "break",
            "define ",
            "block ",
            "template ",
            "/*",
            "*/",
            "é",
            "€",
            "0x",
            "_",
            "\\",
            "+",
            "i",
            "e5",
            "with ",
            "\u{0}",
        ];
        let mut question = self.question();
        let mut chars: Vec<String> = question.text.chars().map(String::from).collect();
        for _ in 0..=self.below(2) {
            let at = self.below(chars.len() + 1);
            match self.below(3) {
                0 if at < chars.len() => drop(chars.remove(at)),
                1 if at < chars.len() => self.one_of(PIECES).clone_into(&mut chars[at]),
                _ => chars.insert(at, self.one_of(PIECES).to_owned()),
            }
        }
        question.text = chars.concat();
        question
    }

    fn body(&mut self, depth: usize) -> String {
        (0..=self.below(3)).map(|_| self.node(depth)).collect()
    }

    /// Opens and closes an action, sometimes with a marker.
    fn action(&mut self, inner: &str) -> String {
        let (open, close) = (self.one_of(&["{{", "{{", "{{ ", "{{- "]), self.one_of(&["}}", "}}", " }}", " -}}"]));
        format!("{open}{inner}{close}")
    }

    fn node(&mut self, depth: usize) -> String {
        match self.below(if depth == 0 { 6 } else { 13 }) {
            0 | 1 => self.one_of(TEXTS).to_owned(),
            2 | 3 => {
                let pipeline = self.pipeline(depth.min(2));
                self.action(&pipeline)
            }
            4 => self.declaration(depth.min(2)),
            5 => self.small(),
            6 | 7 => self.branch("if", depth),
            8 | 9 => self.branch("with", depth),
            10 | 11 => self.range(depth),
            _ if self.calls => {
                let (name, pipeline) =
                    (self.one_of(&["one", "two", "one", "two", "one", "two", "d", "none"]), self.pipeline(1));
                self.action(&format!("template \"{name}\" {pipeline}"))
            }
            _ => String::new(),
        }
    }

    /// A comment, or a way out of a loop.
    fn small(&mut self) -> String {
        match self.below(4) {
            0 if self.loops > 0 => self.action("break"),
            1 if self.loops > 0 => self.action("continue"),
            2 => self.one_of(&["{{/* c */}}", "{{- /* c\n */ -}}"]).to_owned(),
            _ => self.one_of(TEXTS).to_owned(),
        }
    }

    fn declaration(&mut self, depth: usize) -> String {
        let pipeline = self.pipeline(depth);
        let name = self.one_of(NAMES);
        if self.one_in(3) {
            let name = self.variable();
            return self.action(&format!("{name} = {pipeline}"));
        }
        self.variables.push(name);
        self.action(&format!("{name} := {pipeline}"))
    }

    /// A variable that is in scope, but for a few.
    fn variable(&mut self) -> &'static str {
        let at = self.below(self.variables.len());
        if self.one_in(200) { self.one_of(NAMES) } else { self.variables[at] }
    }

    fn branch(&mut self, keyword: &str, depth: usize) -> String {
        let declared = self.variables.len();
        let pipeline = self.pipeline(depth.min(2));
        let mut text = if self.one_in(4) {
            let name = self.one_of(NAMES);
            self.variables.push(name);
            self.action(&format!("{keyword} {name} := {pipeline}"))
        } else {
            self.action(&format!("{keyword} {pipeline}"))
        };
        text += &self.body(depth - 1);
        if self.one_in(3) {
            let pipeline = self.pipeline(1);
            text += &self.action(&format!("else {keyword} {pipeline}"));
            text += &self.body(depth - 1);
        }
        if self.one_in(2) {
            text += &self.action("else");
            text += &self.body(depth - 1);
        }
        if !self.one_in(20) {
            self.variables.truncate(declared);
        }
        text + &self.action("end")
    }

    fn range(&mut self, depth: usize) -> String {
        let declared = self.variables.len();
        let over = match self.below(8) {
            0 if self.one_in(5) => self.one_of(&["\"ab\"", "1.5", "nil", "true"]).to_owned(),
            0 => self.one_of(&["0", "1", "2", "3"]).to_owned(),
            1 => format!("(list {} {})", self.operand(1), self.operand(1)),
            2 => format!("(dict \"k\" {} \"j\" {})", self.operand(1), self.operand(1)),
            3 => "(until 2)".to_owned(),
            4 if self.one_in(4) => ".".to_owned(),
            5 if self.one_in(4) => self.variable().to_owned(),
            6 if self.one_in(2) => self.field(),
            _ => self.one_of(&["(list 1 nil \"a\")", ".none", "(dict)", "(list)", "(dict \"b\" 1 \"a\" 2)"]).to_owned(),
        };
        let header = match self.below(5) {
            0 => {
                let name = self.one_of(NAMES);
                self.variables.push(name);
                format!("range {name} := {over}")
            }
            1 | 2 => {
                let (first, second) = (self.one_of(NAMES), self.one_of(NAMES));
                self.variables.extend([first, second]);
                format!("range {first}, {second} := {over}")
            }
            3 if self.one_in(3) => format!("range {} = {over}", self.variable()),
            _ => format!("range {over}"),
        };
        let mut text = self.action(&header);
        self.loops += 1;
        text += &self.body(depth - 1);
        self.loops -= 1;
        if self.one_in(3) {
            text += &self.action("else");
            text += &self.body(depth - 1);
        }
        self.variables.truncate(declared);
        text + &self.action("end")
    }

    fn pipeline(&mut self, depth: usize) -> String {
        let mut text = self.command(depth);
        while self.one_in(5) {
            let bar = self.one_of(&[" | ", "|", " |\n "]);
            let call = self.call(depth.saturating_sub(1), true);
            text = text + bar + &call;
        }
        text
    }

    fn command(&mut self, depth: usize) -> String {
        match self.below(10) {
            0..4 => self.call(depth, false),
            4 if self.one_in(20) => format!("{} {}", self.operand(depth), self.operand(depth)),
            _ => self.operand(depth),
        }
    }

    fn field(&mut self) -> String {
        let more = if self.one_in(8) { self.below(3) } else { 0 };
        (0..=more).flat_map(|_| [".", self.one_of(FIELDS)]).collect()
    }

    fn operand(&mut self, depth: usize) -> String {
        match self.below(if depth == 0 { 14 } else { 18 }) {
            0..4 => self.field(),
            4 => ".".to_owned(),
            5 => self.variable().to_owned(),
            6 if self.one_in(3) => format!("{}{}", self.variable(), self.field()),
            6 => format!("${}", self.field()),
            9 | 10 => self.one_of(NUMBERS).to_owned(),
            11 => self.one_of(&["true", "false"]).to_owned(),
            12 if self.one_in(5) => self.one_of(&["nil", "null", "'a'"]).to_owned(),
            13 if self.one_in(6) => self.one_of(&["null.x", "list", "dict", "(null).a", "print"]).to_owned(),
            14 if self.one_in(4) => format!("({}){}", self.pipeline(depth - 1), self.field()),
            14.. => format!("({})", self.pipeline(depth - 1)),
            _ => self.one_of(WORDS).to_owned(),
        }
    }

    /// A call that mostly has the arguments that it should have.
    fn call(&mut self, depth: usize, piped: bool) -> String {
        // What each argument is: anything, a string, an integer, a number, a list, a map or a boolean.
        const CALLS: &[(&str, &str)] = &[
            ("print", "aa"),
            ("print", "a"),
            ("println", "aa"),
            ("html", "a"),
            ("js", "a"),
            ("urlquery", "s"),
            ("len", "l"),
            ("len", "s"),
            ("not", "a"),
            ("and", "aa"),
            ("or", "aa"),
            ("and", "aaa"),
            ("or", "aaa"),
            ("eq", "ss"),
            ("eq", "iii"),
            ("eq", "aa"),
            ("ne", "ii"),
            ("lt", "ii"),
            ("le", "nn"),
            ("gt", "ss"),
            ("ge", "aa"),
            ("index", "mx"),
            ("index", "mx"),
            ("index", "aa"),
            ("index", "li"),
            ("slice", "si"),
            ("slice", "li"),
            ("slice", "sii"),
            ("add", "ii"),
            ("sum", "iii"),
            ("upper", "s"),
            ("join", "sss"),
            ("list", "aa"),
            ("dict", "sa"),
            ("dict", "sasa"),
            ("fail", "s"),
            ("ident", "a"),
            ("typeof", "a"),
            ("half", "n"),
            ("flip", "b"),
            ("strs", "a"),
            ("keys", "m"),
            ("label", "a"),
            ("left", "a"),
            ("call", "aa"),
            ("tiny", "i"),
            ("small", "i"),
            ("single", "n"),
        ];
        let (name, params, first) = match self.below(8) {
            0 | 1 => ("printf", "aa", format!(" {}", self.format())),
            2 if self.calls => return self.rendering(),
            // A map that holds itself has no end.
            3 if !piped && self.one_in(4) => return format!("set {} {} 1", self.argument('m', 1), self.one_of(WORDS)),
            _ => {
                let (name, params) = self.one_of(CALLS);
                (name, params, String::new())
            }
        };
        let count = match self.below(60) {
            0 => params.len() + 1,
            1 => params.len() - 1,
            _ => params.len(),
        };
        let mut text = name.to_owned() + &first;
        for param in params.chars().chain(['a']).take(count).take(count.saturating_sub(usize::from(piped))) {
            text = text + " " + &self.argument(param, depth.saturating_sub(1));
        }
        text
    }

    fn argument(&mut self, kind: char, depth: usize) -> String {
        if self.one_in(15) {
            return self.operand(depth);
        }
        match kind {
            's' => self.one_of(WORDS).to_owned(),
            'x' => self.one_of(&["\"a\"", "\"k\"", "\"m\"", "\"none\""]).to_owned(),
            'i' => self.one_of(&["0", "1", "2", "3", "0x1", "'\\x02'"]).to_owned(),
            'n' => self.one_of(NUMBERS).to_owned(),
            'l' => self.one_of(&["(list 1 2 3)", "(until 3)", "(list \"a\" nil 2.5)"]).to_owned(),
            'm' => self.one_of(&["(dict \"a\" 1 \"k\" nil)", "(dict)", "(dict \"m\" (dict \"a\" 1))"]).to_owned(),
            'b' => self.one_of(&["true", "false"]).to_owned(),
            _ => self.operand(depth),
        }
    }

    fn rendering(&mut self) -> String {
        let data = self.operand(1);
        let texts =
            ["{{.}}", "{{.a.b}}", "{{template `two` .}}", "{{define `two`}}t{{end}}{{include `two` .}}", "{{x}}"];
        match self.below(4) {
            0 => format!("tpl {:?} {data}", self.one_of(&texts)),
            _ => format!("include \"{}\" {data}", self.one_of(&["two", "one", "two", "one", "none"])),
        }
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
}
