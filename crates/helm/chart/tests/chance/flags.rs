//! Flags, and rules of what is ignored.

use serde_json::{Value as Json, json};

use super::Chance;

const FORMS: &[&str] = &["typed", "typed", "string", "json", "literal", "file"];
const NAMES: &[&str] = &["a", "b", "a", "c", "é", "a\\.b", "a\\,b", "", "x y", "\\", "a\\=", "1"];
const VALUES: &[&str] = &[
    "1",
    "0",
    "-5",
    "+7",
    "007",
    "true",
    "TRUE",
    "false",
    "null",
    "Null",
    "x",
    "",
    "{a,b}",
    "{}",
    "{1,null,x\\,y}",
    "{a",
    "1.5",
    "9223372036854775807",
    "9223372036854775808",
    "f.txt",
    "x=y",
    "a.b",
    "[0]",
    "\\{a}",
    "é",
    "{{a}}",
    " 1",
    "-0",
    "none.txt",
    "{f.txt,f.txt}",
    "falſe",
];
const JSON: &[&str] = &[
    "1",
    "null",
    "\"x\"",
    "{\"a\":1}",
    "[1,{\"b\":null}]",
    "true",
    "1.5e3",
    "",
    " ",
    "{",
    "nul",
    "\"\\ud800\"",
    "1 ",
    "[1,2,3] ",
    "{\"a\":{\"a\":[]}}",
    "x",
    "1e999",
    "\"a,b\"",
];
const INDICES: &[&str] =
    &["0", "1", "2", "0", "3", "-1", "x", "", "65536", "65537", "+1", "99999999999999999999", " 1"];

impl Chance {
    /// What is set in one of the forms.
    pub(crate) fn strvals(&mut self) -> Json {
        let form = self.one_of(FORMS);
        let text = self.assignments(form);
        let into = if self.one_in(2) { self.into() } else { json!({}) };
        let files = json!([["f.txt", "content\n"], ["x", "of x"]]);
        json!({"op": "strvals", "form": form, "text": text, "into": into, "files": files})
    }

    /// All kinds of flags at once.
    pub(crate) fn flags(&mut self) -> Json {
        let mut set = serde_json::Map::new();
        for (kind, form) in
            [("json", "json"), ("set", "typed"), ("string", "string"), ("literal", "literal"), ("file", "file")]
        {
            let count = if self.one_in(2) { self.below(3) } else { 0 };
            let given: Vec<_> = (0..count).map(|_| self.assignments(form)).collect();
            set.insert(kind.to_owned(), json!(given));
        }
        if self.one_in(4) {
            set.insert("json".to_owned(), json!([self.table(2).to_string()]));
        }
        let files = [self.document(), self.document()];
        let used: &[&str] =
            self.one_of(&[&["one.yaml"] as &[&str], &["one.yaml", "two.yaml"], &[], &["two.yaml", "one.yaml"]]);
        set.insert("files".to_owned(), json!(used));
        json!({"op": "flags", "set": set, "files": [
            ["one.yaml", files[0]], ["two.yaml", files[1]], ["f.txt", "content\n"], ["x", "of x"],
        ]})
    }

    /// A text of YAML documents.
    fn document(&mut self) -> String {
        let mut text = String::new();
        for number in 0..=self.below(3) {
            if number > 0 || self.one_in(3) {
                text.push_str(self.one_of(&["---\n", "--- # next\n", "---  \n", "---\r\n", "--- x\n", "---\n---\n"]));
            }
            let document = match self.below(9) {
                0 => String::new(),
                1 => "null\n".to_owned(),
                2 => "# nothing\n".to_owned(),
                3 if self.one_in(4) => "- a\n".to_owned(),
                4 if self.one_in(4) => "a: b: c\n".to_owned(),
                5 => "a: 1\r\nb: {c: 0x10, d: ~}\r\n".to_owned(),
                _ => format!("{}\n", self.table(2)),
            };
            text.push_str(&document);
        }
        if self.one_in(4) {
            text.pop();
        }
        text
    }

    fn assignments(&mut self, form: &str) -> String {
        let mut text = String::new();
        for number in 0..=self.below(3) {
            if number > 0 {
                text.push_str(self.one_of(&[",", ",", ",", ", ", "", ",,"]));
            }
            text.push_str(&self.name());
            if !self.one_in(12) {
                text.push('=');
            }
            text.push_str(if form == "json" { self.one_of(JSON) } else { self.one_of(VALUES) });
        }
        text
    }

    fn name(&mut self) -> String {
        let mut name = self.part();
        if self.one_in(60) {
            for _ in 0..self.one_of(&[29, 30, 31]) {
                name.push_str(".a");
            }
        }
        for _ in 0..self.below(3) {
            name.push('.');
            name.push_str(&self.part());
        }
        name
    }

    fn part(&mut self) -> String {
        let names = if self.one_in(2) { &["a", "b"] } else { NAMES };
        let mut part = self.one_of(names).to_owned();
        for _ in 0..self.below(7).saturating_sub(4) {
            part.push('[');
            part.push_str(if self.one_in(4) { self.one_of(INDICES) } else { self.one_of(&["0", "1"]) });
            part.push_str(if self.one_in(30) { "" } else { "]" });
            if self.one_in(30) {
                part.push_str("zé");
            }
        }
        part
    }

    /// What is there before anything is set.
    fn into(&mut self) -> Json {
        match self.below(4) {
            0 => json!({"a": {"b": [1, {"c": 2}, null, [3]]}}),
            1 => json!({"a": ["x", ["y", {"a": 1}], {"b": null}], "b": null}),
            2 => json!({"a": null, "b": {"a": {"a": "x"}}}),
            _ => self.table(3),
        }
    }

    /// Whether a path is ignored.
    pub(crate) fn ignore(&mut self) -> Json {
        let mut text = String::new();
        for _ in 0..=self.below(4) {
            for _ in 0..=self.below(4) {
                text.push_str(self.one_of(&[
                    "a",
                    "b",
                    "*",
                    "?",
                    "/",
                    ".",
                    "[ab]",
                    "[^a]",
                    "[a-c]",
                    "\\*",
                    "!",
                    "#",
                    " ",
                    "é",
                    "**",
                    "[",
                    "[]a]",
                    "\\",
                    "templates",
                    "templates/",
                    ".txt",
                ]));
            }
            text.push_str(self.one_of(&["\n", "\r\n", "/\n", "\n\n"]));
        }
        let mut path = String::new();
        for number in 0..=self.below(3) {
            if number > 0 {
                path.push('/');
            }
            path.push_str(self.one_of(&["a", "b", "ab", "a.txt", ".b", "é", "templates", "*", "abc"]));
        }
        json!({"op": "ignore", "text": text, "path": path, "dir": self.one_in(2)})
    }
}
