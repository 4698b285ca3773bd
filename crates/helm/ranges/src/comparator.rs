//! One comparison of a range, such as `~1.2`: how it is read, and which versions it lets in.

use std::fmt;

use crate::shape::Shape;
use crate::{Error, Version};

/// How a version is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Equal,
    NotEqual,
    Greater,
    Less,
    AtLeast,
    AtMost,
    Tilde,
    Caret,
}

/// How they are written, the longer ones first, for some begin with another.
const WRITTEN: [(&str, Operator); 12] = [
    ("!=", Operator::NotEqual),
    (">=", Operator::AtLeast),
    ("=>", Operator::AtLeast),
    ("<=", Operator::AtMost),
    ("=<", Operator::AtMost),
    ("~>", Operator::Tilde),
    ("=", Operator::Equal),
    (">", Operator::Greater),
    ("<", Operator::Less),
    ("~", Operator::Tilde),
    ("^", Operator::Caret),
    ("", Operator::Equal),
];

/// The operator that a text begins with, as it is written and as it is meant. Nothing is an operator as well.
pub(crate) fn operator(text: &str) -> (&'static str, Operator) {
    WRITTEN.into_iter().find(|(written, _)| text.starts_with(written)).unwrap_or(("", Operator::Equal))
}

/// How many numbers of a version are given: up to the first that is missing or a wildcard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Given {
    Nothing,
    Major,
    Minor,
    Patch,
}

/// A comparison with one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Comparator {
    operator: Operator,
    given: Given,
    /// What is not given is 0.
    version: Version,
    /// Without the space between operator and version.
    text: String,
}

impl Comparator {
    /// The comparison with a version of this shape.
    pub(crate) fn new((written, operator): (&str, Operator), shape: &Shape<'_>) -> Result<Self, Error> {
        let (given, text) = fill(shape);
        let version = Version::parse(&text).map_err(|_| Error::Operand)?;
        Ok(Self { operator, given, version, text: format!("{written}{}", shape.text) })
    }

    /// Whether the version compared with is a pre-release.
    pub(crate) fn names_prerelease(&self) -> bool {
        self.version.is_prerelease()
    }

    /// Whether this lets a version in, pre-release or not.
    pub(crate) fn holds(&self, version: &Version) -> bool {
        let bound = &self.version;
        let minors = |version: &Version| (version.major, version.minor);
        match (self.operator, self.given) {
            (Operator::Equal, Given::Patch) => version == bound,
            (Operator::Equal | Operator::Tilde, _) => self.tilde(version),
            (Operator::Caret, _) => self.caret(version),
            (Operator::Less, _) => version < bound,
            (Operator::AtLeast, _) => version >= bound,
            (Operator::NotEqual, Given::Major) => version.major != bound.major,
            (Operator::NotEqual, Given::Minor) => {
                minors(version) != minors(bound) || version.prerelease != bound.prerelease
            }
            (Operator::NotEqual, Given::Nothing | Given::Patch) => version != bound,
            (Operator::Greater, Given::Major) => version.major > bound.major,
            (Operator::Greater, Given::Minor) => minors(version) > minors(bound),
            (Operator::Greater, Given::Nothing | Given::Patch) => version > bound,
            (Operator::AtMost, Given::Major) => version.major <= bound.major,
            // So `<=*` is only 0.0.
            (Operator::AtMost, Given::Nothing | Given::Minor) => minors(version) <= minors(bound),
            (Operator::AtMost, Given::Patch) => version <= bound,
        }
    }

    /// At least the version, and with the same numbers but for the patch, or for all but the first where only that is
    /// given. Both `~*` and `~0.0.0` let everything in.
    fn tilde(&self, version: &Version) -> bool {
        let bound = &self.version;
        let numbers = (bound.major, bound.minor, bound.patch);
        let everything = numbers == (0, 0, 0) && matches!(self.given, Given::Nothing | Given::Patch);
        let minor = self.given == Given::Major || version.minor == bound.minor;
        version >= bound && (everything || (version.major == bound.major && minor))
    }

    /// At least the version, and the same up to its first number that is not 0. What is not given is free, but for
    /// `^*`, which is 0.0.0.
    fn caret(&self, version: &Version) -> bool {
        let bound = &self.version;
        let same = if bound.major > 0 || self.given == Given::Major {
            version.major == bound.major
        } else if bound.minor > 0 || self.given == Given::Minor {
            (version.major, version.minor) == (0, bound.minor)
        } else {
            (version.major, version.minor, version.patch) == (0, 0, bound.patch)
        };
        version >= bound && same
    }
}

impl fmt::Display for Comparator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// How much of a version is given, and the version with zeros for the rest. Metadata is lost where something is filled
/// in, which no comparison notices.
fn fill(shape: &Shape<'_>) -> (Given, String) {
    let number = |text: Option<&'_ str>| text.filter(|text| !matches!(*text, "x" | "X" | "*")).map(str::to_owned);
    let (given, numbers) = match (number(Some(shape.major)), number(shape.minor), number(shape.patch)) {
        (Some(_), Some(_), Some(_)) => return (Given::Patch, shape.text.to_owned()),
        (Some(major), Some(minor), None) => (Given::Minor, format!("{major}.{minor}.0")),
        (Some(major), None, _) => (Given::Major, format!("{major}.0.0")),
        (None, _, _) => (Given::Nothing, "0.0.0".to_owned()),
    };
    match shape.prerelease {
        Some(prerelease) => (given, format!("{numbers}-{prerelease}")),
        None => (given, numbers),
    }
}
