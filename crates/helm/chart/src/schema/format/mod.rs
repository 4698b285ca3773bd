//! Formats of strings, and in which words Helm's library refuses what has another.

mod address;
mod pointer;
mod time;
mod url;
mod version;

use fitout_go_regex::Regex;

/// Whether formats are asserted, or only noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asserted {
    /// As the version of the schema has it: asserted before 2019.
    ByDraft,
    /// In every version: so it is for schemas of schemas.
    Always,
}

type Checked = Result<(), String>;

/// A format: its name, and what has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Format {
    name: &'static str,
    check: fn(&str) -> Checked,
}

const ALL: [Format; 18] = [
    Format { name: "json-pointer", check: pointer::absolute },
    Format { name: "relative-json-pointer", check: pointer::relative },
    Format { name: "uuid", check: pointer::uuid },
    Format { name: "duration", check: time::duration },
    Format { name: "period", check: time::period },
    Format { name: "ipv4", check: address::ipv4 },
    Format { name: "ipv6", check: address::ipv6 },
    Format { name: "hostname", check: address::hostname },
    Format { name: "email", check: address::email },
    Format { name: "date", check: time::date },
    Format { name: "time", check: time::time },
    Format { name: "date-time", check: time::date_time },
    Format { name: "uri", check: url::absolute },
    Format { name: "iri", check: url::absolute },
    Format { name: "uri-reference", check: url::reference },
    Format { name: "iri-reference", check: url::reference },
    Format { name: "uri-template", check: url::template },
    Format { name: "semver", check: version::semantic },
];

const REGEX: Format = Format { name: "regex", check: regex };

impl Format {
    /// The format of this name. One that nobody knows says nothing.
    pub(crate) fn named(name: &str) -> Option<Self> {
        ALL.into_iter().chain([REGEX]).find(|format| format.name == name)
    }

    pub(crate) fn name(self) -> &'static str {
        self.name
    }

    /// Whether a text has it, or why not.
    pub(crate) fn check(self, text: &str) -> Checked {
        (self.check)(text)
    }
}

fn regex(text: &str) -> Checked {
    Regex::compile(text).map(|_| ()).map_err(|error| error.to_string())
}

fn refuse(why: impl Into<String>) -> Checked {
    Err(why.into())
}

/// A character as Go quotes one.
fn shown(c: char) -> String {
    let quoted = fitout_go_template::quote(c.to_string().as_bytes());
    let inner = quoted.get(1..quoted.len() - 1).unwrap_or_default();
    match c {
        '\'' => "'\\''".to_owned(),
        '"' => "'\"'".to_owned(),
        _ => format!("'{inner}'"),
    }
}

/// How many digits a text begins with.
fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}
