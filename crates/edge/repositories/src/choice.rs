//! Which of the versions on offer is meant.

use fitout_helm_ranges::{Range, Version};

use crate::Cause;

/// What Helm takes of what is on offer: what has the very text, else the newest in the range, and without a range the
/// newest that is no pre-release. Of two that are equal, the first.
pub(crate) fn choose<T>(offered: Vec<(Version, T)>, wanted: Option<&str>) -> Result<T, Cause> {
    let wanted = wanted.filter(|wanted| !wanted.is_empty());
    let exact = wanted.and_then(|text| offered.iter().position(|(version, _)| version.original() == text));
    let chosen = match exact {
        Some(exact) => Some(exact),
        None => newest(&offered, &range(wanted.unwrap_or("*"))?),
    };
    let nothing = || Cause::NoVersion { wanted: wanted.unwrap_or("*").to_owned(), offered: summary(&offered) };
    let chosen = chosen.ok_or_else(nothing)?;
    offered.into_iter().nth(chosen).map(|(_, found)| found).ok_or(Cause::NoChart)
}

/// A range of versions, as it is wanted.
fn range(text: &str) -> Result<Range, Cause> {
    Range::parse(text).map_err(|error| Cause::Range { text: text.to_owned(), why: error.to_string() })
}

fn newest<T>(offered: &[(Version, T)], range: &Range) -> Option<usize> {
    let fitting = offered.iter().enumerate().filter(|(_, (version, _))| range.matches(version));
    // The first of two that are equal, where `max_by` has the last.
    fitting.rev().max_by(|(_, (a, _)), (_, (b, _))| a.cmp(b)).map(|(at, _)| at)
}

/// The newest few, for whoever asked for one that is not there.
fn summary<T>(offered: &[(Version, T)]) -> String {
    let mut versions: Vec<&Version> = offered.iter().map(|(version, _)| version).collect();
    versions.sort_by(|a, b| b.cmp(a));
    let few: Vec<&str> = versions.iter().take(5).map(|version| version.original()).collect();
    match (few.len(), versions.len()) {
        (0, _) => "no version".to_owned(),
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
    fn the_very_text_comes_before_the_range_it_also_is() {
        assert_eq!(chosen(&["1.2.9", "1.2", "1.2.0"], Some("1.2")).unwrap(), "1.2");
        assert_eq!(chosen(&["1.2.9", "1.2.0"], Some("1.2")).unwrap(), "1.2.9");
        assert_eq!(chosen(&["2.0.0", "v1.9.0"], Some("1.9.0")).unwrap(), "v1.9.0");
    }

    #[test]
    fn without_a_wish_it_is_the_newest_that_is_no_prerelease() {
        for none in [None, Some("")] {
            assert_eq!(chosen(&["1.9.0", "1.10.0", "2.0.0-rc.1"], none).unwrap(), "1.10.0");
        }
        assert_eq!(chosen(&["1.9.0", "2.0.0-rc.1"], Some(">0-0")).unwrap(), "2.0.0-rc.1");
    }

    #[test]
    fn of_two_that_are_equal_the_first_is_taken() {
        assert_eq!(chosen(&["1.0.0+b", "1.0.0+a"], Some("1.x")).unwrap(), "1.0.0+b");
        assert_eq!(chosen(&["1.0.0+b", "1.0.0+a"], Some("1.0.0+a")).unwrap(), "1.0.0+a");
    }

    #[test]
    fn what_is_on_offer_is_said_where_nothing_fits() {
        let offered = ["1.0.0", "1.1.0", "1.2.0", "1.3.0", "1.4.0", "1.5.0"];
        let said = chosen(&offered, Some("^2")).unwrap_err();
        assert_eq!(
            said,
            "no version fits ^2: there are 1.5.0, 1.4.0, 1.3.0, 1.2.0, 1.1.0 and 1 more; ask for one of them"
        );
        assert!(chosen(&offered, Some("one")).unwrap_err().starts_with("\"one\" is no version and no range: "));
    }
}
