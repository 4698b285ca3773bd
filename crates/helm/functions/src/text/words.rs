//! Names made of words: `CamelCase`, `snake_case`, `kebab-case`.

use fitout_go_template::{Value, rune};

use super::TEXT;
use super::character::{is_letter, is_number, is_punctuation, is_upper, to_lower, to_upper};
use crate::argument::text;
use crate::declare::Declare;

pub(super) fn add(declare: &mut Declare<'_>) {
    declare.plain(&["camelcase"], &[TEXT], TEXT, |a| camel(text(&a[0])));
    declare.plain(&["snakecase"], &[TEXT], TEXT, |a| Value::string(lower(text(&a[0]), b'_')));
    declare.plain(&["kebabcase"], &[TEXT], TEXT, |a| Value::string(lower(text(&a[0]), b'-')));
}

fn is_connector(c: char) -> bool {
    matches!(c, '-' | '_') || c.is_whitespace()
}

/// Words that begin with an upper case letter, without what was between them. Connectors at the beginning stay, and all
/// but one of those that follow each other.
fn camel(text: &[u8]) -> Value {
    let mut name = Vec::with_capacity(text.len() + 4);
    let mut runes = rune::all(text).map(|rune| rune.char);
    let mut last = None;
    let first = runes.by_ref().find(|c| {
        let connector = is_connector(*c);
        if connector {
            rune::push(&mut name, *c);
            last = Some(*c);
        }
        !connector
    });
    // Where there is nothing else, the last one is there twice.
    let Some(first) = first.or(last) else { return "".into() };
    let (mut last, mut begins_upper) = (to_upper(first), is_upper(first));
    for mut c in runes {
        if is_connector(c) && is_connector(last) {
            rune::push(&mut name, last);
        } else if is_connector(last) {
            begins_upper = is_upper(c);
            c = to_upper(c);
        } else {
            if begins_upper {
                // A word all in upper case is changed as far as it is.
                begins_upper = is_upper(c);
                c = if begins_upper { to_lower(c) } else { c };
            }
            rune::push(&mut name, last);
        }
        last = c;
    }
    rune::push(&mut name, last);
    Value::string(name)
}

/// What a word is made of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Invalid,
    Number,
    Upper,
    Letters,
    Connector,
    Punctuation,
    Other,
}

/// The words of a text, and what is between them.
struct Words<'t> {
    rest: &'t [u8],
}

/// The next rune that is valid, and how far it reaches; where there is none, another in its place.
fn valid(text: &[u8], otherwise: char) -> (char, usize) {
    let found = rune::all(text).find(|rune| rune.char != char::REPLACEMENT_CHARACTER);
    found.map_or((otherwise, text.len()), |rune| (rune.char, rune.begin + rune.width))
}

/// A letter, but none of those that are words of their own.
fn is_alphabetic(c: char) -> bool {
    let ideograph = matches!(c, '\u{4e00}'..='\u{9fcc}' | '\u{3400}'..='\u{4d85}' | '\u{20000}'..='\u{2b81d}');
    is_letter(c) && !ideograph
}

impl<'t> Words<'t> {
    /// The next word. At the end there is none, which is invalid.
    fn next(&mut self) -> (Kind, &'t [u8]) {
        let text = self.rest;
        let (first, width) = valid(text, char::REPLACEMENT_CHARACTER);
        let (kind, length) = match first {
            char::REPLACEMENT_CHARACTER => (Kind::Invalid, width),
            c if is_connector(c) => (Kind::Connector, run(text, width, c, is_connector)),
            c if is_punctuation(c) => (Kind::Punctuation, run(text, width, c, is_punctuation)),
            c if is_upper(c) => (Kind::Upper, upper_word(text, width, c)),
            c if is_alphabetic(c) => (Kind::Letters, run(text, width, c, |c| is_alphabetic(c) && !is_upper(c))),
            c if is_number(c) => (Kind::Number, run(text, width, c, is_number)),
            c => {
                let other = |c| !(is_connector(c) || is_alphabetic(c) || is_number(c) || is_punctuation(c));
                (Kind::Other, run(text, width, c, other))
            }
        };
        self.rest = &text[length..];
        (kind, &text[..length])
    }
}

/// How long the text is as far as its runes belong to a word that has begun.
fn run(text: &[u8], mut length: usize, mut last: char, belongs: impl Fn(char) -> bool) -> usize {
    while length < text.len() {
        let (c, width) = valid(&text[length..], last);
        if !belongs(c) {
            break;
        }
        (length, last) = (length + width, c);
    }
    length
}

/// A word that begins with an upper case letter: `Name`, or the `HTTP` of `HTTPName`.
fn upper_word(text: &[u8], begin: usize, first: char) -> usize {
    if begin == text.len() {
        return begin;
    }
    let (second, width) = valid(&text[begin..], first);
    if !is_upper(second) {
        let letters = |c| is_alphabetic(c) && !is_upper(c);
        return if is_alphabetic(second) { run(text, begin + width, second, letters) } else { begin };
    }
    let (mut length, mut last_width, mut last) = (begin + width, width, second);
    while length < text.len() {
        let (c, width) = valid(&text[length..], last);
        last = c;
        if !is_upper(c) {
            break;
        }
        (length, last_width) = (length + width, width);
    }
    if length < text.len() && is_alphabetic(last) { length - last_width } else { length }
}

/// A word in lower case.
fn push(name: &mut Vec<u8>, kind: Kind, word: &[u8], connector: u8) {
    if !matches!(kind, Kind::Upper | Kind::Connector) {
        name.extend_from_slice(word);
        return;
    }
    for rune in rune::all(word) {
        match rune.char {
            c if is_connector(c) => name.push(connector),
            c if is_upper(c) => rune::push(name, to_lower(c)),
            c => rune::push(name, c),
        }
    }
}

/// Words in lower case, with connectors between them. A number belongs to what comes before it, unless letters in lower
/// case follow it.
fn lower(text: &[u8], connector: u8) -> Vec<u8> {
    let mut name = Vec::with_capacity(text.len() + 8);
    let mut words = Words { rest: text };
    let (mut kind, mut word) = words.next();
    while !words.rest.is_empty() {
        if kind != Kind::Connector {
            push(&mut name, kind, word, connector);
        }
        let (before, last) = (kind, word);
        (kind, word) = words.next();
        match before {
            Kind::Number => {
                (kind, word) = numbers_and_letters(&mut name, &mut words, (kind, word), connector);
                if !matches!(kind, Kind::Invalid | Kind::Punctuation | Kind::Connector) {
                    name.push(connector);
                }
            }
            Kind::Connector => push(&mut name, before, last, connector),
            Kind::Punctuation => {}
            _ if kind != Kind::Number => {
                if !matches!(kind, Kind::Connector | Kind::Punctuation) {
                    name.push(connector);
                }
            }
            _ if words.rest.is_empty() => {}
            _ => {
                let number = word;
                (kind, word) = words.next();
                if kind == Kind::Letters {
                    name.push(connector);
                    push(&mut name, Kind::Number, number, connector);
                    (kind, word) = numbers_and_letters(&mut name, &mut words, (kind, word), connector);
                    if !matches!(kind, Kind::Invalid | Kind::Connector | Kind::Punctuation) {
                        name.push(connector);
                    }
                } else {
                    push(&mut name, Kind::Number, number, connector);
                    if !matches!(kind, Kind::Connector | Kind::Punctuation) {
                        name.push(connector);
                    }
                }
            }
        }
    }
    push(&mut name, kind, word, connector);
    name
}

/// Pushes letters and numbers for as long as they follow each other, and answers what comes after them.
fn numbers_and_letters<'t>(
    name: &mut Vec<u8>,
    words: &mut Words<'t>,
    (mut kind, mut word): (Kind, &'t [u8]),
    connector: u8,
) -> (Kind, &'t [u8]) {
    while matches!(kind, Kind::Letters | Kind::Number) {
        push(name, kind, word, connector);
        (kind, word) = words.next();
    }
    (kind, word)
}
