//! Resource versions of Kubernetes objects.

use std::fmt;

/// The resource version of an object. Kubernetes orders the versions of the objects of one kind as integers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceVersion(u64);

impl ResourceVersion {
    /// Newer than any other version: that of an object that was deleted for good.
    pub const NEWEST: Self = Self(u64::MAX);

    /// A version from its number. Zero is older than any object.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Reads `metadata.resourceVersion`; `None` where it is missing or no integer.
    pub fn parse(text: Option<&str>) -> Option<Self> {
        text?.parse().ok().map(Self)
    }
}

impl fmt::Display for ResourceVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_as_integers() {
        let version = |text| ResourceVersion::parse(Some(text)).unwrap();
        assert!(version("9") < version("10") && version("10") < ResourceVersion::NEWEST);
        assert_eq!(version("10").to_string(), "10");
        assert_eq!((ResourceVersion::parse(None), ResourceVersion::parse(Some("x"))), (None, None));
    }
}
