//! Why a text is no version or no range, in the Go library's words.

use crate::quote::quote;
use crate::range::{GROUPS, LONGEST_RANGE};
use crate::version::LONGEST_VERSION;

/// Why a text was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A strict version of no characters.
    #[error("version string empty")]
    Empty,
    /// A version past the length that is read at all.
    #[error("version string is too long (max {LONGEST_VERSION} bytes)")]
    VersionTooLong,
    /// A text that has not the form of a version.
    #[error("invalid semantic version")]
    NoVersion,
    /// A number of a strict version that has something else than digits in it.
    #[error("invalid characters in version")]
    Characters,
    /// A number of a strict version, or of any pre-release, that is written with a zero before it.
    #[error("version segment starts with 0")]
    LeadingZero,
    /// A pre-release with an empty part or a character that has no place there.
    #[error("invalid prerelease string")]
    Prerelease,
    /// Build metadata with an empty part or a character that has no place there.
    #[error("invalid metadata string")]
    Metadata,
    /// A number of a strict version that is not there or too large.
    #[error(transparent)]
    Number(#[from] NumberError),
    /// A number of a lenient version that is too large.
    #[error("error parsing version segment: {0}")]
    Segment(NumberError),
    /// A range past the length that is read at all.
    #[error("constraint string is too long (max {LONGEST_RANGE} bytes)")]
    RangeTooLong,
    /// More alternatives than are read at all.
    #[error("too many constraint groups (max {GROUPS})")]
    TooManyGroups,
    /// An alternative of a range that has not the form of one: the text, after hyphens have become comparisons.
    #[error("improper constraint: {}", quote(.0))]
    NoRange(String),
    /// A range in the right form that compares with something that is no version.
    #[error("constraint parser error")]
    Operand,
}

/// Why digits are not a number that a version can have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NumberError {
    /// There are none.
    #[error("strconv.ParseUint: parsing \"\": invalid syntax")]
    Missing,
    /// They need more than 64 bits.
    #[error("strconv.ParseUint: parsing \"{0}\": value out of range")]
    TooLarge(String),
}
