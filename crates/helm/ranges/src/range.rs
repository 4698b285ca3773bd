//! A range: alternatives of comparisons.

use std::fmt;
use std::str::FromStr;

use crate::comparator::{Comparator, Operator, operator};
use crate::shape::{Shape, leading};
use crate::{Error, Version};

/// The Go library reads no more than this many bytes.
pub(crate) const LONGEST_RANGE: usize = 512;
/// The Go library reads no more than this many alternatives.
pub(crate) const GROUPS: usize = 32;

/// Which versions fit, such as `>=1.33 <1.37` or `^2 || 3.x`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    groups: Vec<Group>,
}

/// Comparisons that have to hold together.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Group {
    comparators: Vec<Comparator>,
    /// One comparison with a pre-release is enough to let pre-releases in.
    prereleases: bool,
}

impl Range {
    /// Reads a range as Go's `NewConstraint` does.
    pub fn parse(text: &str) -> Result<Self, Error> {
        Self::parse_of_length(text, text.len())
    }

    /// Reads a range from a text that stands for one of this many bytes, whose bytes are not all UTF-8.
    pub fn parse_of_length(text: &str, length: usize) -> Result<Self, Error> {
        if length > LONGEST_RANGE {
            return Err(Error::RangeTooLong);
        }
        let text = without_hyphens(text);
        let groups: Vec<_> = text.split("||").collect();
        if groups.len() > GROUPS {
            return Err(Error::TooManyGroups);
        }
        Ok(Self { groups: groups.into_iter().map(Group::parse).collect::<Result<_, _>>()? })
    }

    /// Whether a version is in the range.
    pub fn matches(&self, version: &Version) -> bool {
        self.groups.iter().any(|group| group.matches(version))
    }
}

impl Group {
    fn parse(text: &str) -> Result<Self, Error> {
        let terms = terms(text).ok_or_else(|| Error::NoRange(text.to_owned()))?;
        let comparators = terms.into_iter().map(|(operator, shape)| Comparator::new(operator, &shape));
        let comparators = comparators.collect::<Result<Vec<_>, _>>()?;
        let prereleases = comparators.iter().any(Comparator::names_prerelease);
        Ok(Self { comparators, prereleases })
    }

    fn matches(&self, version: &Version) -> bool {
        (self.prereleases || !version.is_prerelease())
            && self.comparators.iter().all(|comparator| comparator.holds(version))
    }
}

/// As Go writes it: hyphens as two comparisons, a space for every comma, the rest as it was.
impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, group) in self.groups.iter().enumerate() {
            f.write_str(if i == 0 { "" } else { " || " })?;
            for (i, comparator) in group.comparators.iter().enumerate() {
                write!(f, "{}{comparator}", if i == 0 { "" } else { " " })?;
            }
        }
        Ok(())
    }
}

impl FromStr for Range {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text)
    }
}

/// A comparison before it is known whether what is compared with is a version.
type Term<'a> = ((&'static str, Operator), Shape<'a>);

/// The comparisons of a group, with a comma or a space between any two.
fn terms(text: &str) -> Option<Vec<Term<'_>>> {
    let mut terms = Vec::new();
    let mut rest = skip_spaces(text);
    loop {
        let operator = operator(rest);
        rest = skip_spaces(&rest[operator.0.len()..]);
        let shape = leading(rest, number)?;
        rest = &rest[shape.text.len()..];
        terms.push((operator, shape));
        let ahead = skip_spaces(rest);
        rest = match ahead.strip_prefix(',') {
            _ if ahead.is_empty() => return Some(terms),
            Some(after) => skip_spaces(after),
            None if ahead.len() < rest.len() => ahead,
            None => return None,
        };
    }
}

/// Makes comparisons of hyphens: `1 - 2` becomes `>= 1, <= 2 `.
///
/// A hyphen counts wherever it stands between two versions, even if what is before them makes the result nonsense; and
/// each is replaced where its text occurs first. Both show in what Go says of such a range.
fn without_hyphens(text: &str) -> String {
    let mut replaced = text.to_owned();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some((whole, from, to)) = hyphen(rest) {
            replaced = replaced.replacen(whole, &format!(">= {from}, <= {to} "), 1);
            rest = &rest[whole.len()..];
        } else {
            rest = &rest[c.len_utf8()..];
        }
    }
    replaced
}

/// Two versions with a hyphen between them, if the text begins with that: all of it with the space around, and the two.
fn hyphen(text: &str) -> Option<(&str, &str, &str)> {
    let from = leading(skip_spaces(text), number)?.text;
    let rest = spaces(&skip_spaces(text)[from.len()..])?;
    let rest = spaces(rest.strip_prefix('-')?)?;
    let to = leading(rest, number)?.text;
    let rest = skip_spaces(&rest[to.len()..]);
    Some((&text[..text.len() - rest.len()], from, to))
}

/// What a number of a range is made of. The `|` is there because Go has it there: `1|2` has the form of a version, and
/// is refused only when it is to become one.
fn number(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'x' | b'X' | b'*' | b'|')
}

/// What is after the space that the text begins with, if there is any.
fn spaces(text: &str) -> Option<&str> {
    let rest = skip_spaces(text);
    (rest.len() < text.len()).then_some(rest)
}

/// What is space to Go's regular expressions: neither a vertical tab nor anything outside ASCII.
fn skip_spaces(text: &str) -> &str {
    text.trim_start_matches(['\t', '\n', '\u{c}', '\r', ' '])
}
