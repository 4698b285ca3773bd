//! The versions of an extension, in words.

use std::fmt::Write;

use fitout_api::{Extension, ExtensionVersion, VersionState};

use crate::output::Paint;
use crate::tables::{self, Layout};

/// The newest versions that are shown without a wide layout.
pub(super) const NEWEST: usize = 10;

/// The versions that a line about their state names before it counts the others.
const NAMED: usize = 3;

/// The version numbers, newest first. A version that several sources have is named once.
pub(super) fn numbers(versions: &[ExtensionVersion]) -> Vec<&str> {
    let mut numbers: Vec<&str> = vec![];
    for version in versions {
        if !numbers.contains(&version.version.as_str()) {
            numbers.push(&version.version);
        }
    }
    numbers
}

/// Names, of which those after `most` are counted.
pub(super) fn and_more(names: &[&str], most: usize) -> String {
    // "a, b, c and 1 more" is no shorter than the fourth name.
    if names.len() <= most.saturating_add(1) {
        return names.join(", ");
    }
    format!("{} and {} more", names[..most].join(", "), names.len() - most)
}

/// A line for each state and its reason, with the versions that have it; withdrawn ones come first.
pub(super) fn states(versions: &[ExtensionVersion], paint: Paint) -> String {
    let mut groups: Vec<(VersionState, Option<&str>, Vec<&str>)> = vec![];
    for version in versions.iter().filter(|version| !version.state.is_listed()) {
        let (state, note, number) = (version.state, version.note.as_deref(), version.version.as_str());
        match groups.iter_mut().find(|(of_group, reason, _)| (*of_group, *reason) == (state, note)) {
            Some((_, _, numbers)) if numbers.contains(&number) => {}
            Some((_, _, numbers)) => numbers.push(number),
            None => groups.push((state, note, vec![number])),
        }
    }
    groups.sort_by_key(|(state, _, _)| *state != VersionState::Withdrawn);
    let mut text = String::new();
    for (state, note, numbers) in groups {
        let be = if numbers.len() == 1 { "is" } else { "are" };
        let note = note.map_or_else(String::new, |note| format!(": {note}"));
        let line = format!("{} {be} {}{note}", and_more(&numbers, NAMED), state.adjective());
        let _ = writeln!(text, "  {}", tables::in_colour(state, &line, paint));
    }
    text
}

/// The table of the versions; without a wide layout, of the newest ones.
pub(super) fn table(extension: &Extension, layout: Layout, paint: Paint) -> String {
    let all = &extension.spec.versions;
    let shown = numbers(all).into_iter().take(if layout.wide { usize::MAX } else { NEWEST }).collect::<Vec<_>>();
    let is_shown = |version: &&ExtensionVersion| shown.contains(&version.version.as_str());
    let mut text = tables::versions(&all.iter().filter(is_shown).collect::<Vec<_>>(), layout, paint);
    match numbers(all).len() - shown.len() {
        0 => {}
        1 => text += "and 1 older version; -o wide shows it\n",
        older => {
            let _ = writeln!(text, "and {older} older versions; -o wide shows them");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::json;

    use super::*;

    fn versions(all: &[(&str, &str, Option<&str>)]) -> Vec<ExtensionVersion> {
        let version = |(version, state, note): &(&str, &str, Option<&str>)| json!({ "version": version, "digest": format!("sha256:{}", "0".repeat(64)), "state": state, "note": note });
        all.iter().map(|one| serde_json::from_value(version(one)).unwrap()).collect()
    }

    #[test]
    fn versions_with_the_same_state_and_reason_share_a_line() {
        let cve = Some("CVE-2026-1; 1.2.3 has the fix");
        let all = versions(&[
            ("2.0.0", "Yanked", None),
            ("1.2.3", "Listed", None),
            ("1.2.2", "Withdrawn", cve),
            ("1.2.2", "Withdrawn", cve),
            ("1.2.1", "Withdrawn", cve),
            ("1.2.0", "Withdrawn", cve),
            ("1.1.1", "Withdrawn", cve),
            ("1.1.0", "Withdrawn", cve),
            ("1.0.0", "Deprecated", Some("use 1.2.3")),
        ]);
        assert_snapshot!(states(&all, Paint::new(false)), @r"
        1.2.2, 1.2.1, 1.2.0 and 2 more are withdrawn: CVE-2026-1; 1.2.3 has the fix
        2.0.0 is yanked
        1.0.0 is deprecated: use 1.2.3
        ");
        assert_eq!(states(&all[1..2], Paint::new(false)), "");
        assert!(states(&all, Paint::new(true)).starts_with("  \u{1b}[1;31m1.2.2"));
    }

    #[test]
    fn names_are_counted_where_that_is_shorter() {
        assert_eq!(and_more(&["a", "b", "c", "d"], 3), "a, b, c, d");
        assert_eq!(and_more(&["a", "b", "c", "d", "e"], 3), "a, b, c and 2 more");
        assert_eq!(and_more(&["a", "b"], usize::MAX), "a, b");
    }

    #[test]
    fn old_versions_are_counted() {
        let numbers: Vec<String> = (0..13).rev().map(|minor| format!("1.{minor}.0")).collect();
        let all: Vec<_> = numbers.iter().map(|number| (number.as_str(), "Listed", None)).collect();
        let extension: Extension = serde_json::from_value(json!({
            "apiVersion": "fitout.dev/v1alpha1", "kind": "Extension", "metadata": { "name": "c.web" },
            "spec": { "catalog": "c", "extension": "web", "versions": versions(&all) },
        }))
        .unwrap();
        let text = table(&extension, Layout::default(), Paint::new(false));
        assert!(text.lines().count() == 12 && text.ends_with("and 3 older versions; -o wide shows them\n"), "{text}");
        let text = table(&extension, Layout { wide: true, width: None }, Paint::new(false));
        assert!(text.lines().count() == 14 && text.contains("1.0.0"), "{text}");
    }
}
