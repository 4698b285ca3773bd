//! Rewrites Go templates whose data are parameters into templates of a chart, whose data have the parameters in `.Values`.
//!
//! In the body of a template, `.Name` and `$.Name` become `.Values.Name` and `$.Values.Name`. Inside of `with` and `range` the
//! dot is another value and stays. Templates that are defined with `define` or `block` receive the parameters as their data,
//! so their bodies stay.

use std::collections::BTreeSet;

/// The built-in objects of charts. A field with such a name is a parameter only where a parameter has that name.
pub(super) const BUILT_IN: [&str; 6] = ["Values", "Files", "Release", "Chart", "Capabilities", "Template"];

/// A part of an action, by its position in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'t> {
    /// A keyword or a function.
    Word(&'t str),
    /// A chain of fields after the dot, such as `.A.B`, or the dot itself.
    Dot { at: usize, chain: &'t str },
    /// A chain of fields after `$`, or `$` itself.
    Root { at: usize, chain: &'t str },
    /// A string in quotes, by the position of its content.
    Text { at: usize, content: &'t str },
    /// Anything else: variables, numbers, parentheses.
    Other,
}

/// The actions of a template.
#[derive(Debug)]
pub(super) struct Actions<'t> {
    text: &'t str,
    actions: Vec<Vec<Token<'t>>>,
}

/// A rewritten template.
#[derive(Debug)]
pub(super) struct Rewritten {
    pub(super) text: String,
    /// The root fields that became values.
    pub(super) fields: BTreeSet<String>,
    /// Whether it refers to files of the chart.
    pub(super) uses_files: bool,
}

/// The meaning of the dot.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dot {
    /// The data of the template.
    Data,
    /// Another value.
    Other,
}

/// A block of actions, up to its `end`.
struct Block {
    /// The dot before the block, which is also that of its `else`.
    outer: Dot,
    dot: Dot,
    is_definition: bool,
}

/// The place of an action among the blocks.
#[derive(Clone, Copy)]
struct Place {
    dot: Dot,
    in_definition: bool,
}

impl<'t> Actions<'t> {
    /// Finds the actions; none where one has no end.
    pub(super) fn scan(text: &'t str) -> Option<Self> {
        let mut actions = Vec::new();
        let mut from = 0;
        while let Some(start) = text[from..].find("{{").map(|at| from + at + 2) {
            let body = text[start..].strip_prefix("- ").map_or(start, |_| start + 2);
            if text[body..].trim_start().starts_with("/*") {
                from = body + text[body..].find("*/")? + 2;
                from += text[from..].find("}}")? + 2;
                continue;
            }
            let (tokens, end) = tokens(text, start)?;
            actions.push(tokens);
            from = end;
        }
        Some(Self { text, actions })
    }

    /// The names of the fields of the data, outside of definitions.
    pub(super) fn fields(&self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        self.walk(false, |place, tokens| {
            if !place.in_definition {
                names.extend(root_fields(place, tokens).map(str::to_owned));
            }
        });
        names
    }

    /// Whether a definition uses a built-in object of charts.
    pub(super) fn defined_uses_built_in(&self, known: &BTreeSet<&str>) -> bool {
        let mut found = false;
        self.walk(true, |place, tokens| {
            found |= place.in_definition && root_fields(place, tokens).any(|name| is_built_in(name, known));
        });
        found
    }

    /// The template of a chart. With `whole`, definitions are called with all data of the chart, so their bodies are rewritten
    /// too.
    pub(super) fn rewritten(&self, known: &BTreeSet<&str>, whole: bool) -> Rewritten {
        let mut inserts: Vec<(usize, &str)> = Vec::new();
        let (mut fields, mut uses_files) = (BTreeSet::new(), false);
        self.walk(whole, |place, tokens| {
            let is_call = matches!(tokens.first(), Some(Token::Word("template" | "block")))
                || tokens.contains(&Token::Word("include"));
            let mut names_file = false;
            for token in tokens {
                let (at, chain) = match *token {
                    Token::Dot { at, chain } if place.dot == Dot::Data => (at, chain),
                    Token::Root { at, chain } if whole || !place.in_definition => (at + 1, chain),
                    Token::Text { at, content } if names_file && !content.starts_with("files/") => {
                        inserts.push((at, "files/"));
                        names_file = false;
                        continue;
                    }
                    _ => continue,
                };
                let name = first_field(chain);
                names_file = name == "Files";
                uses_files |= names_file;
                let stays = if name.is_empty() { whole && is_call } else { is_built_in(name, known) };
                if !stays {
                    // The dot itself becomes a field: `.` is `.Values`, and `$` is `$.Values`.
                    let is_bare_dot = chain == ".";
                    inserts.push(if is_bare_dot { (at + 1, "Values") } else { (at, ".Values") });
                    if !name.is_empty() {
                        fields.insert(name.to_owned());
                    }
                }
            }
        });
        let mut text = String::with_capacity(self.text.len() + inserts.len() * 8);
        let mut from = 0;
        for (at, insert) in inserts {
            text.push_str(&self.text[from..at]);
            text.push_str(insert);
            from = at;
        }
        text.push_str(&self.text[from..]);
        Rewritten { text, fields, uses_files }
    }

    /// Visits each action with its place. With `whole`, the dot of a definition is the data of the template.
    fn walk(&self, whole: bool, mut visit: impl FnMut(Place, &[Token<'t>])) {
        let mut blocks: Vec<Block> = Vec::new();
        for tokens in &self.actions {
            let dot = blocks.last().map_or(Dot::Data, |block| block.dot);
            let place = |dot| Place { dot, in_definition: blocks.iter().any(|block| block.is_definition) };
            let word = |index: usize| match tokens.get(index) {
                Some(Token::Word(word)) => *word,
                _ => "",
            };
            match word(0) {
                "end" => drop(blocks.pop()),
                "else" => {
                    let outer = blocks.last().map_or(Dot::Data, |block| block.outer);
                    visit(place(outer), tokens);
                    if let Some(block) = blocks.last_mut() {
                        block.dot = if word(1) == "with" { Dot::Other } else { outer };
                    }
                }
                "if" => {
                    visit(place(dot), tokens);
                    blocks.push(Block { outer: dot, dot, is_definition: false });
                }
                "with" | "range" => {
                    visit(place(dot), tokens);
                    blocks.push(Block { outer: dot, dot: Dot::Other, is_definition: false });
                }
                "define" | "block" => {
                    visit(place(dot), tokens);
                    let inner = if whole { Dot::Data } else { Dot::Other };
                    blocks.push(Block { outer: dot, dot: inner, is_definition: true });
                }
                _ => visit(place(dot), tokens),
            }
        }
    }
}

fn first_field(chain: &str) -> &str {
    chain.trim_start_matches('.').split('.').next().unwrap_or_default()
}

fn is_built_in(name: &str, known: &BTreeSet<&str>) -> bool {
    BUILT_IN.contains(&name) && !known.contains(name)
}

fn root_fields<'t>(place: Place, tokens: &[Token<'t>]) -> impl Iterator<Item = &'t str> {
    let names = tokens.iter().filter_map(move |token| match token {
        Token::Dot { chain, .. } if place.dot == Dot::Data => Some(first_field(chain)),
        Token::Root { chain, .. } => Some(first_field(chain)),
        _ => None,
    });
    names.filter(|name| !name.is_empty())
}

/// The tokens of an action that begins here, and the position after its end.
fn tokens(text: &str, start: usize) -> Option<(Vec<Token<'_>>, usize)> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = start;
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
    let name_end = |from: usize| (from..bytes.len()).find(|at| !is_name(bytes[*at])).unwrap_or(bytes.len());
    // The end of a chain of fields, each with its dot.
    let chain_end = |mut from: usize| {
        while bytes.get(from) == Some(&b'.') && bytes.get(from + 1).is_some_and(|byte| is_name(*byte)) {
            from = name_end(from + 1);
        }
        from
    };
    loop {
        match *bytes.get(at)? {
            b'}' if bytes.get(at + 1) == Some(&b'}') => return Some((tokens, at + 2)),
            quote @ (b'"' | b'`' | b'\'') => {
                let end = string_end(bytes, at + 1, quote)?;
                tokens.push(Token::Text { at: at + 1, content: &text[at + 1..end] });
                at = chain_end(end + 1);
            }
            b'.' if bytes.get(at + 1).is_some_and(u8::is_ascii_digit) => {
                tokens.push(Token::Other);
                at = name_end(at + 1);
            }
            b'.' => {
                let end = chain_end(at).max(at + 1);
                tokens.push(Token::Dot { at, chain: &text[at..end] });
                at = end;
            }
            b'$' => {
                let name = name_end(at + 1);
                let end = chain_end(name);
                let token = Token::Root { at, chain: &text[name..end] };
                tokens.push(if name == at + 1 { token } else { Token::Other });
                at = end;
            }
            b')' => {
                tokens.push(Token::Other);
                // Fields of a result in parentheses.
                at = chain_end(at + 1);
            }
            byte if byte.is_ascii_digit() => {
                tokens.push(Token::Other);
                at = chain_end(name_end(at));
            }
            byte if is_name(byte) => {
                let end = name_end(at);
                tokens.push(Token::Word(&text[at..end]));
                at = end;
            }
            byte => {
                if !byte.is_ascii_whitespace() && byte != b'-' {
                    tokens.push(Token::Other);
                }
                at += 1;
            }
        }
    }
}

/// The position of the closing quote. Only raw strings have no escapes.
fn string_end(bytes: &[u8], mut at: usize, quote: u8) -> Option<usize> {
    loop {
        match *bytes.get(at)? {
            b'\\' if quote != b'`' => at += 2,
            byte if byte == quote => return Some(at),
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(text: &str) -> String {
        Actions::scan(text).unwrap().rewritten(&BTreeSet::from(["Known"]), false).text
    }

    #[test]
    fn root_fields_become_values() {
        let rows = [
            ("{{ .A }}", "{{ .Values.A }}"),
            ("{{- .A.B | default \".C\" -}}", "{{- .Values.A.B | default \".C\" -}}"),
            ("{{ $.A }}", "{{ $.Values.A }}"),
            ("{{ toYaml . }}", "{{ toYaml .Values }}"),
            ("{{ tpl .A $ }}", "{{ tpl .Values.A $.Values }}"),
            ("{{ (index .A 0).B }}", "{{ (index .Values.A 0).B }}"),
            ("{{ $x := .A }}{{ $x.B }}", "{{ $x := .Values.A }}{{ $x.B }}"),
            ("{{ printf `{{ .A }}` 1.5 }}", "{{ printf `{{ .A }}` 1.5 }}"),
            ("{{/* .A */}}{{- /* }} .A */ -}}{{ .B }}", "{{/* .A */}}{{- /* }} .A */ -}}{{ .Values.B }}"),
            ("text .A {{ .Values.B }} {{ .Release.Name }}", "text .A {{ .Values.B }} {{ .Release.Name }}"),
        ];
        for (text, expected) in rows {
            assert_eq!(rewritten(text), expected);
        }
    }

    #[test]
    fn other_dots_stay() {
        let rows = [
            (
                "{{ if .A }}{{ .B }}{{ else if .C }}{{ .D }}{{ end }}",
                "{{ if .Values.A }}{{ .Values.B }}{{ else if .Values.C }}{{ .Values.D }}{{ end }}",
            ),
            (
                "{{ with .A }}{{ .B }}{{ $.C }}{{ else }}{{ .D }}{{ end }}{{ .E }}",
                "{{ with .Values.A }}{{ .B }}{{ $.Values.C }}{{ else }}{{ .Values.D }}{{ end }}{{ .Values.E }}",
            ),
            (
                "{{ range $i, $x := .A }}{{ . }}{{ if .B }}{{ .C }}{{ end }}{{ end }}",
                "{{ range $i, $x := .Values.A }}{{ . }}{{ if .B }}{{ .C }}{{ end }}{{ end }}",
            ),
            (
                "{{ define \"x\" }}{{ .A }}{{ $.B }}{{ end }}{{ template \"x\" . }}",
                "{{ define \"x\" }}{{ .A }}{{ $.B }}{{ end }}{{ template \"x\" .Values }}",
            ),
        ];
        for (text, expected) in rows {
            assert_eq!(rewritten(text), expected);
        }
    }

    #[test]
    fn definitions_that_use_built_in_objects_receive_all_data() {
        let text = "{{ define \"x\" }}{{ .Release.Name }}-{{ .A }}{{ end }}{{ template \"x\" . }}{{ include \"x\" $ | quote }}";
        let actions = Actions::scan(text).unwrap();
        assert!(actions.defined_uses_built_in(&BTreeSet::new()));
        assert_eq!(
            actions.rewritten(&BTreeSet::new(), true).text,
            "{{ define \"x\" }}{{ .Release.Name }}-{{ .Values.A }}{{ end }}{{ template \"x\" . }}{{ include \"x\" $ | quote }}"
        );
    }

    #[test]
    fn files_move_into_their_directory() {
        let actions = Actions::scan("{{ .Files.Get \"a.conf\" | indent 2 }}{{ $.Files.Get \"files/b\" }}").unwrap();
        let rewritten = actions.rewritten(&BTreeSet::new(), false);
        assert_eq!(rewritten.text, "{{ .Files.Get \"files/a.conf\" | indent 2 }}{{ $.Files.Get \"files/b\" }}");
        assert!(rewritten.uses_files);
    }

    #[test]
    fn an_action_without_an_end_is_none() {
        assert!(Actions::scan("{{ .A").is_none());
    }
}
