//! The extensions and versions of a source that a catalog offers.

use fitout_helm_ranges::{Error, Range, Version};

/// A pattern of extensions and versions.
#[derive(Clone, Copy, Debug)]
pub struct Pattern<'a> {
    /// The name of the extension, in which `*` stands for any characters; none: any.
    pub name: Option<&'a str>,
    /// The range of versions; none: any.
    pub version: Option<&'a str>,
}

/// The patterns of a catalog.
#[derive(Debug, Default)]
pub struct Filters {
    include: Vec<Parsed>,
    exclude: Vec<Parsed>,
}

#[derive(Debug)]
struct Parsed {
    name: Option<String>,
    version: Option<Range>,
}

impl Filters {
    /// Filters that admit versions that a pattern of `include` matches (all, if there is none) and no pattern of `exclude`.
    pub fn new<'a>(
        include: impl IntoIterator<Item = Pattern<'a>>,
        exclude: impl IntoIterator<Item = Pattern<'a>>,
    ) -> Result<Self, Error> {
        let parse = |pattern: Pattern| {
            let version = pattern.version.map(Range::parse).transpose()?;
            Ok(Parsed { name: pattern.name.map(str::to_owned), version })
        };
        Ok(Self {
            include: include.into_iter().map(parse).collect::<Result<_, Error>>()?,
            exclude: exclude.into_iter().map(parse).collect::<Result<_, Error>>()?,
        })
    }

    /// Whether the catalog offers any version of an extension.
    pub fn admits_extension(&self, extension: &str) -> bool {
        let named = |parsed: &Parsed| parsed.name.as_deref().is_none_or(|name| matches_name(name, extension));
        (self.include.is_empty() || self.include.iter().any(named))
            && !self.exclude.iter().any(|parsed| named(parsed) && parsed.version.is_none())
    }

    /// Whether the catalog offers a version of an extension.
    pub fn admits(&self, extension: &str, version: &str) -> bool {
        let version = Version::parse(version).ok();
        let matches = |parsed: &Parsed| {
            parsed.name.as_deref().is_none_or(|name| matches_name(name, extension))
                && match (&parsed.version, &version) {
                    (None, _) => true,
                    (Some(range), Some(version)) => range.matches(version),
                    (Some(_), None) => false,
                }
        };
        (self.include.is_empty() || self.include.iter().any(matches)) && !self.exclude.iter().any(matches)
    }
}

/// Whether a name matches a pattern, in which `*` stands for any characters.
fn matches_name(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let mut open = false;
    let parts: Vec<&str> = parts.collect();
    for (index, part) in parts.iter().enumerate() {
        open = true;
        if index + 1 == parts.len() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    open || rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_characters() {
        let rows = [
            ("web", "web", true),
            ("web", "webs", false),
            ("*", "web", true),
            ("web-*", "web-a", true),
            ("web-*", "web", false),
            ("*-web", "a-web", true),
            ("a*b*c", "a1b2c", true),
            ("a*b*c", "abc", true),
            ("a*b*c", "acb", false),
            ("a*a", "a", false),
        ];
        for (pattern, name, expected) in rows {
            assert_eq!(matches_name(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn included_versions_are_offered_unless_they_are_excluded() {
        let pattern = |name, version| Pattern { name, version };
        let filters = Filters::new(
            [pattern(Some("web*"), Some(">=1.0")), pattern(Some("db"), None)],
            [pattern(None, Some("1.2.0")), pattern(Some("webhook"), None)],
        )
        .unwrap();
        let rows = [
            ("web", "1.1.0", true),
            ("web", "0.9.0", false),
            ("web", "1.2.0", false),
            ("webhook", "1.1.0", false),
            ("db", "0.1.0", true),
            ("cache", "1.0.0", false),
        ];
        for (extension, version, expected) in rows {
            assert_eq!(filters.admits(extension, version), expected, "{extension} {version}");
        }
        assert!(filters.admits_extension("web") && !filters.admits_extension("webhook"));
        assert!(!filters.admits_extension("cache") && Filters::default().admits_extension("cache"));
        assert!(Filters::new([pattern(None, Some("not a range"))], []).is_err());
    }
}
