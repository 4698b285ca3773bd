//! Chooses a version as Helm does.

use fitout_helm_ranges::{Range, Version};

use crate::Cause;

/// Chooses the version with exactly the requested text, else the newest in the range; without a range, the newest that
/// is no pre-release. Of equal versions, it chooses the first.
pub(crate) fn choose<T>(offered: Vec<(Version, T)>, wanted: Option<&str>) -> Result<T, Cause> {
    let wanted = wanted.filter(|wanted| !wanted.is_empty());
    let exact = wanted.and_then(|text| offered.iter().position(|(version, _)| version.original() == text));
    let chosen = match exact {
        Some(exact) => Some(exact),
        None => newest(&offered, &range(wanted.unwrap_or("*"))?),
    };
    let no_match = || Cause::NoVersion { wanted: wanted.unwrap_or("*").to_owned(), offered: summary(&offered) };
    let chosen = chosen.ok_or_else(no_match)?;
    offered.into_iter().nth(chosen).map(|(_, found)| found).ok_or(Cause::NoChart)
}

fn range(text: &str) -> Result<Range, Cause> {
    Range::parse(text).map_err(|reason| Cause::Range { text: text.to_owned(), reason })
}

fn newest<T>(offered: &[(Version, T)], range: &Range) -> Option<usize> {
    let fitting = offered.iter().enumerate().filter(|(_, (version, _))| range.matches(version));
    // Reversed, because `max_by` returns the last of equal versions.
    fitting.rev().max_by(|(_, (a, _)), (_, (b, _))| a.cmp(b)).map(|(at, _)| at)
}

/// The newest versions, for the error message.
fn summary<T>(offered: &[(Version, T)]) -> String {
    let mut versions: Vec<&Version> = offered.iter().map(|(version, _)| version).collect();
    versions.sort_by(|a, b| b.cmp(a));
    let few: Vec<&str> = versions.iter().take(5).map(|version| version.original()).collect();
    match (few.len(), versions.len()) {
        (0, _) => "none".to_owned(),
        (shown, all) if shown < all => format!("{} and {} more", few.join(", "), all - shown),
        _ => few.join(", "),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]
    use super::*;

    fn chosen(offered: &[&str], wanted: Option<&str>) -> Result<String, String> {
        let offered = offered.iter().map(|text| (Version::parse(text).unwrap(), (*text).to_owned())).collect();
        choose(offered, wanted).map_err(|cause| cause.to_string())
    }

    #[test]
    fn exact_version_text_wins_over_the_range() {
        assert_eq!(chosen(&["1.2.9", "1.2", "1.2.0"], Some("1.2")).unwrap(), "1.2");
        assert_eq!(chosen(&["1.2.9", "1.2.0"], Some("1.2")).unwrap(), "1.2.9");
        assert_eq!(chosen(&["2.0.0", "v1.9.0"], Some("1.9.0")).unwrap(), "v1.9.0");
    }

    #[test]
    fn default_is_the_newest_version_that_is_no_prerelease() {
        for none in [None, Some("")] {
            assert_eq!(chosen(&["1.9.0", "1.10.0", "2.0.0-rc.1"], none).unwrap(), "1.10.0");
        }
        assert_eq!(chosen(&["1.9.0", "2.0.0-rc.1"], Some(">0-0")).unwrap(), "2.0.0-rc.1");
    }

    #[test]
    fn first_of_equal_versions_is_chosen() {
        assert_eq!(chosen(&["1.0.0+b", "1.0.0+a"], Some("1.x")).unwrap(), "1.0.0+b");
        assert_eq!(chosen(&["1.0.0+b", "1.0.0+a"], Some("1.0.0+a")).unwrap(), "1.0.0+a");
    }

    #[test]
    fn no_match_error_lists_the_newest_versions() {
        let offered = ["1.0.0", "1.1.0", "1.2.0", "1.3.0", "1.4.0", "1.5.0"];
        let message = chosen(&offered, Some("^2")).unwrap_err();
        assert_eq!(message, "no version matches ^2; available versions: 1.5.0, 1.4.0, 1.3.0, 1.2.0, 1.1.0 and 1 more");
        assert!(chosen(&offered, Some("one")).unwrap_err().starts_with("\"one\" is neither a version nor a range: "));
    }
}
