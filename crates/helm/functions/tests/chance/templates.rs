//! Control flow around calls.

use super::Chance;

const NAMES: &[&str] = &["$x", "$y", "$z"];
const TEXTS: &[&str] = &["", " ", "\n", "a", " b ", "\n  c:\n", "é", "-", "}", "\t\n"];

impl Chance {
    pub(super) fn body(&mut self, depth: usize) -> String {
        (0..=self.below(3)).map(|_| self.node(depth)).collect()
    }

    /// Opens and closes an action, sometimes with a marker.
    fn action(&mut self, inner: &str) -> String {
        let (open, close) = (self.one_of(&["{{", "{{", "{{ ", "{{- "]), self.one_of(&["}}", "}}", " }}", " -}}"]));
        format!("{open}{inner}{close}")
    }

    /// A call whose result is shown, sometimes with its type.
    pub(super) fn shown(&mut self, call: &str) -> String {
        match self.below(12) {
            0 | 1 => format!("{{{{({call}) | printf \"%T %#v\"}}}}"),
            2 => {
                format!("{{{{{call} | {}}}}}", self.one_of(&["toJson", "toYaml", "quote", "typeOf", "toString | len"]))
            }
            3 => format!("{{{{with $w := {call}}}}}{{{{$w}}}}{{{{else}}}}-{{{{end}}}}"),
            _ => {
                let call = call.to_owned();
                self.action(&call)
            }
        }
    }

    fn node(&mut self, depth: usize) -> String {
        match self.below(if depth == 0 { 6 } else { 12 }) {
            0 | 1 => self.one_of(TEXTS).to_owned(),
            2 | 3 => {
                let call = self.pipeline(depth.min(2));
                self.shown(&call)
            }
            4 => self.declaration(depth.min(2)),
            5 => match self.below(3) {
                0 if self.loops > 0 => self.action("break"),
                1 if self.loops > 0 => self.action("continue"),
                _ => self.one_of(&["{{/* c */}}", "{{- /* c\n */ -}}"]).to_owned(),
            },
            6 | 7 => self.branch("if", depth),
            8 => self.branch("with", depth),
            9 | 10 => self.range(depth),
            _ if self.callable.is_empty() => String::new(),
            _ => {
                let name = self.one_of(self.callable);
                let given = if self.one_in(5) { String::new() } else { self.operand() };
                self.action(&format!("template \"{name}\" {given}"))
            }
        }
    }

    fn declaration(&mut self, depth: usize) -> String {
        if self.variables.len() > 1 && self.one_in(3) {
            // What is made of itself in a loop grows without an end.
            let variables = std::mem::replace(&mut self.variables, vec!["$"]);
            let pipeline = self.pipeline(depth);
            self.variables = variables;
            let at = 1 + self.below(self.variables.len() - 1);
            let name = self.variables[at];
            return self.action(&format!("{name} = {pipeline}"));
        }
        let (pipeline, name) = (self.pipeline(depth), self.one_of(NAMES));
        self.variables.push(name);
        self.action(&format!("{name} := {pipeline}"))
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
        self.variables.truncate(declared);
        text + &self.action("end")
    }

    fn range(&mut self, depth: usize) -> String {
        let declared = self.variables.len();
        let over = match self.below(10) {
            // What happens in the `else` of a loop within a loop is a matter of its own.
            _ if self.loops > 0 && self.one_in(3) => self.one_of(&["(list)", "(dict)", ".none", "0"]).to_owned(),
            0 if self.one_in(5) => self.one_of(&["\"ab\"", "1.5", "nil", "true"]).to_owned(),
            0 => self.one_of(&["0", "1", "2", "3"]).to_owned(),
            // Not over a number: there are some that have no end.
            1..5 => format!(
                "({} {})",
                self.one_of(&["compact", "reverse", "uniq", "toStrings"]),
                self.argument('l', depth.min(2))
            ),
            5..8 => format!("(omit {} {})", self.argument('m', depth.min(2)), self.text()),
            _ => self.one_of(&["(list 1 nil \"a\")", ".none", "(dict)", "(list)", "(dict \"b\" 1 \"a\" 2)"]).to_owned(),
        };
        let header = match self.below(5) {
            4 if self.variables.len() > 1 => {
                let (one, other) = (1 + self.below(self.variables.len() - 1), 1 + self.below(self.variables.len() - 1));
                let (one, other) = (self.variables[one], self.variables[other]);
                format!("range {one}{} = {over}", if self.one_in(2) { format!(", {other}") } else { String::new() })
            }
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
            _ => format!("range {over}"),
        };
        let mut text = self.action(&header);
        self.loops += 1;
        text += &self.body(depth - 1);
        self.loops -= 1;
        text += self.one_of(&["", "|"]);
        if self.one_in(2) {
            text += &self.action("else");
            text += &self.body(depth - 1);
            if self.loops > 0 && self.one_in(2) {
                let leaving = self.one_of(&["break", "continue"]);
                text += &self.action(leaving);
            }
        }
        self.variables.truncate(declared);
        text + &self.action("end")
    }

    /// A text for `tpl`, which sees neither the variables nor the loops around it.
    pub(super) fn inner(&mut self) -> String {
        let (variables, loops) = (std::mem::replace(&mut self.variables, vec!["$"]), std::mem::take(&mut self.loops));
        let callable = std::mem::replace(&mut self.callable, &["two"]);
        let body = if callable.is_empty() { String::new() } else { self.body(1) };
        (self.variables, self.loops, self.callable) = (variables, loops, callable);
        if body.contains('`') { "\"{{.}}\"".to_owned() } else { format!("`{body}`") }
    }
}
