//! One version: how it is read, written and compared.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use crate::Error;
use crate::error::NumberError;
use crate::shape::{identifier, leading};

/// The Go library reads no more than this many bytes.
pub(crate) const LONGEST_VERSION: usize = 256;

/// A version. Two are equal when neither comes before the other, so `1.2+a` equals `v1.2.0+b`.
#[derive(Clone, Debug, Default)]
pub struct Version {
    pub(crate) major: u64,
    pub(crate) minor: u64,
    pub(crate) patch: u64,
    /// Empty when there is none, as it is for metadata.
    pub(crate) prerelease: String,
    metadata: String,
    original: String,
}

impl Version {
    /// Reads a version as Go's `NewVersion` does: a leading `v`, missing numbers and zeros before a number are let pass.
    pub fn parse(text: &str) -> Result<Self, Error> {
        if text.len() > LONGEST_VERSION {
            return Err(Error::VersionTooLong);
        }
        let shape = leading(text, |byte| byte.is_ascii_digit()).filter(|shape| shape.text == text);
        let shape = shape.ok_or(Error::NoVersion)?;
        let segment = |digits: Option<&str>| digits.map_or(Ok(0), number).map_err(Error::Segment);
        let version = Self {
            major: segment(Some(shape.major))?,
            minor: segment(shape.minor)?,
            patch: segment(shape.patch)?,
            prerelease: shape.prerelease.unwrap_or_default().to_owned(),
            metadata: shape.metadata.unwrap_or_default().to_owned(),
            original: text.to_owned(),
        };
        shape.prerelease.map_or(Ok(()), check_prerelease)?;
        Ok(version)
    }

    /// Reads a version as Go's `StrictNewVersion` does: only what the specification calls a version.
    pub fn parse_strict(text: &str) -> Result<Self, Error> {
        if text.is_empty() {
            return Err(Error::Empty);
        }
        if text.len() > LONGEST_VERSION {
            return Err(Error::VersionTooLong);
        }
        let mut numbers = text.splitn(3, '.');
        let (Some(major), Some(minor), Some(rest)) = (numbers.next(), numbers.next(), numbers.next()) else {
            return Err(Error::NoVersion);
        };
        let (rest, metadata) = cut(rest, '+');
        metadata.map_or(Ok(()), check_metadata)?;
        let (patch, prerelease) = cut(rest, '-');
        prerelease.map_or(Ok(()), check_prerelease)?;
        for digits in [major, minor, patch] {
            if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(Error::Characters);
            }
            if digits.len() > 1 && digits.starts_with('0') {
                return Err(Error::LeadingZero);
            }
        }
        Ok(Self {
            major: number(major)?,
            minor: number(minor)?,
            patch: number(patch)?,
            prerelease: prerelease.unwrap_or_default().to_owned(),
            metadata: metadata.unwrap_or_default().to_owned(),
            original: text.to_owned(),
        })
    }

    /// The first number.
    pub fn major(&self) -> u64 {
        self.major
    }

    /// The second number.
    pub fn minor(&self) -> u64 {
        self.minor
    }

    /// The third number.
    pub fn patch(&self) -> u64 {
        self.patch
    }

    /// What follows the `-`, empty for a release.
    pub fn prerelease(&self) -> &str {
        &self.prerelease
    }

    /// What follows the `+`, empty when there is none. It has no part in comparisons.
    pub fn metadata(&self) -> &str {
        &self.metadata
    }

    /// The text that was read.
    pub fn original(&self) -> &str {
        &self.original
    }

    /// Whether this comes before a release.
    pub fn is_prerelease(&self) -> bool {
        !self.prerelease.is_empty()
    }

    /// The same version, as read from another text.
    pub(crate) fn said(self, original: &str) -> Self {
        Self { original: original.to_owned(), ..self }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        if !self.prerelease.is_empty() {
            write!(f, "-{}", self.prerelease)?;
        }
        if !self.metadata.is_empty() {
            write!(f, "+{}", self.metadata)?;
        }
        Ok(())
    }
}

impl FromStr for Version {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text)
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let numbers = |version: &Self| (version.major, version.minor, version.patch);
        numbers(self).cmp(&numbers(other)).then_with(|| prereleases(&self.prerelease, &other.prerelease))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Version {}

/// A release comes after all its pre-releases; of two pre-releases the first part that differs decides, and the one
/// that ends sooner comes first.
fn prereleases(one: &str, other: &str) -> Ordering {
    match (one.is_empty(), other.is_empty()) {
        (false, false) => one.split('.').map(Part::new).cmp(other.split('.').map(Part::new)),
        (one, other) => one.cmp(&other),
    }
}

/// A part of a pre-release: numbers come before words. To Go, a number that needs more than 64 bits is a word.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Part<'a> {
    Number(u64),
    Word(&'a str),
}

impl<'a> Part<'a> {
    fn new(text: &'a str) -> Self {
        text.parse().map_or(Self::Word(text), Self::Number)
    }
}

fn number(digits: &str) -> Result<u64, NumberError> {
    if digits.is_empty() {
        return Err(NumberError::Missing);
    }
    digits.parse().map_err(|_| NumberError::TooLarge(digits.to_owned()))
}

fn cut(text: &str, mark: char) -> (&str, Option<&str>) {
    text.split_once(mark).map_or((text, None), |(before, after)| (before, Some(after)))
}

fn check_prerelease(text: &str) -> Result<(), Error> {
    text.split('.').try_for_each(|part| match part.as_bytes() {
        [] => Err(Error::Prerelease),
        [b'0', _, ..] if part.bytes().all(|byte| byte.is_ascii_digit()) => Err(Error::LeadingZero),
        bytes if bytes.iter().copied().all(identifier) => Ok(()),
        _ => Err(Error::Prerelease),
    })
}

fn check_metadata(text: &str) -> Result<(), Error> {
    let valid = text.split('.').all(|part| !part.is_empty() && part.bytes().all(identifier));
    valid.then_some(()).ok_or(Error::Metadata)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_keeps_its_parts_and_its_text() {
        let version = Version::parse("v1.02-rc.1+build.5").unwrap();
        assert_eq!((version.major(), version.minor(), version.patch()), (1, 2, 0));
        assert_eq!((version.prerelease(), version.metadata()), ("rc.1", "build.5"));
        assert_eq!(version.to_string(), "1.2.0-rc.1+build.5");
        assert_eq!(version.original(), "v1.02-rc.1+build.5");
        assert!(version.is_prerelease());
    }

    #[test]
    fn versions_sort_by_precedence() {
        let sorted = ["0.9", "1.0.0-1", "1.0.0-2", "1.0.0-10", "1.0.0-a", "1.0.0-a.1", "1.0.0-b", "1.0.0", "1.0.1"];
        let mut versions: Vec<Version> = sorted.iter().rev().map(|text| text.parse().unwrap()).collect();
        versions.sort();
        assert_eq!(versions.iter().map(Version::original).collect::<Vec<_>>(), sorted);
    }
}
