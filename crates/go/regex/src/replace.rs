//! Replacing what is found.

use std::ops::Range;

use crate::Regex;
use crate::haystack::Haystack;
use crate::unicode;

/// A piece of what takes the place of a match.
enum Piece<'t> {
    Text(&'t [u8]),
    Group(usize),
    Named(&'t [u8]),
}

impl Regex {
    /// The text with each match replaced. In the template, `$1` and `${name}` are what groups matched, and `$$` is a dollar.
    pub fn replace_all(&self, text: &[u8], template: &[u8]) -> Vec<u8> {
        if !template.contains(&b'$') {
            return self.replace_all_literal(text, template);
        }
        let pieces = pieces(template);
        let haystack = Haystack::new(text);
        let mut captures = self.engine.create_captures();
        let mut output = Vec::with_capacity(text.len());
        let mut replacing = Replacing::default();
        while let Some(at) = replacing.next {
            let Some(found) = self.captures_from(&haystack, at, &mut captures) else { break };
            let group = |number| Some(&text[haystack.original(&captures.get_group(number)?.range())]);
            if replacing.take(&found, &haystack, text, &mut output) {
                for piece in &pieces {
                    let taken = match piece {
                        Piece::Text(text) => Some(*text),
                        Piece::Group(number) => group(*number),
                        Piece::Named(name) => self.named(name).find_map(group),
                    };
                    output.extend_from_slice(taken.unwrap_or_default());
                }
            }
        }
        replacing.finish(&haystack, text, output)
    }

    /// The text with each match replaced by another text, whatever is in it.
    pub fn replace_all_literal(&self, text: &[u8], replacement: &[u8]) -> Vec<u8> {
        let haystack = Haystack::new(text);
        let mut output = Vec::with_capacity(text.len());
        let mut replacing = Replacing::default();
        while let Some(at) = replacing.next {
            let Some(found) = self.from(&haystack, at) else { break };
            if replacing.take(&found, &haystack, text, &mut output) {
                output.extend_from_slice(replacement);
            }
        }
        replacing.finish(&haystack, text, output)
    }

    /// The numbers of the groups of a name; there may be several.
    fn named<'r>(&'r self, name: &'r [u8]) -> impl Iterator<Item = usize> + 'r {
        let names = self.names.iter().enumerate();
        names.filter(move |(_, one)| one.as_deref() == Some(name)).map(|(number, _)| number)
    }
}

/// How far a text has been rewritten.
struct Replacing {
    /// Where the last match ended.
    done: usize,
    /// Where to search next, if anywhere.
    next: Option<usize>,
}

impl Default for Replacing {
    fn default() -> Self {
        Self { done: 0, next: Some(0) }
    }
}

impl Replacing {
    /// Goes on after a match: copies what is before it, and answers whether it is to be replaced.
    fn take(&mut self, found: &Range<usize>, haystack: &Haystack<'_>, text: &[u8], output: &mut Vec<u8>) -> bool {
        output.extend_from_slice(&text[haystack.original(&(self.done..found.start))]);
        // Nothing, right after a match, is no match of its own.
        let counts = found.end > self.done || found.start == 0;
        self.done = found.end;
        let at = self.next.unwrap_or_default();
        let step = haystack.width(at).max(1);
        self.next = Some(if at + step > found.end { at + step } else { found.end })
            .filter(|next| *next <= haystack.text().len());
        counts
    }

    fn finish(self, haystack: &Haystack<'_>, text: &[u8], mut output: Vec<u8>) -> Vec<u8> {
        output.extend_from_slice(&text[haystack.original(&(self.done..haystack.text().len()))]);
        output
    }
}

/// What a template is made of.
fn pieces(mut template: &[u8]) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    while let Some(at) = template.iter().position(|byte| *byte == b'$') {
        pieces.push(Piece::Text(&template[..at]));
        let (dollar, rest) = template[at..].split_at(1);
        if let Some(rest) = rest.strip_prefix(b"$") {
            pieces.push(Piece::Text(dollar));
            template = rest;
        } else if let Some((piece, rest)) = reference(rest) {
            pieces.push(piece);
            template = rest;
        } else {
            pieces.push(Piece::Text(dollar));
            template = rest;
        }
    }
    pieces.push(Piece::Text(template));
    pieces
}

/// The name or number of a group after a dollar, in braces or without, and what comes after it.
fn reference(text: &[u8]) -> Option<(Piece<'_>, &[u8])> {
    let (text, braces) = text.strip_prefix(b"{").map_or((text, false), |text| (text, true));
    let length = name_length(text);
    let (name, mut rest) = text.split_at(length);
    if braces {
        rest = rest.strip_prefix(b"}")?;
    }
    let digits = name.iter().all(u8::is_ascii_digit);
    let piece = match (name, digits) {
        ([], _) => return None,
        ([b'0', _, ..], _) | (_, false) => Piece::Named(name),
        // Go stops counting here, and takes the digits for a name.
        (name, true) if name.len() > 9 => Piece::Named(name),
        (name, true) => Piece::Group(name.iter().fold(0, |number, digit| number * 10 + usize::from(digit - b'0'))),
    };
    Some((piece, rest))
}

fn name_length(text: &[u8]) -> usize {
    let valid = text.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    valid.find(|char| char != '_' && !unicode::is_alphanumeric(char)).unwrap_or(valid.len())
}
