//! The states of versions: those of the source, and over them those of the catalog.

use fitout_helm_ranges::{Error, Range, Version};
use fitout_model::VersionStateRule;

use crate::VersionEntry;

/// Sets the states of versions of an extension. Of several rules that match a version, the last one counts.
pub fn set_states(extension: &str, versions: &mut [VersionEntry], rules: &[VersionStateRule]) -> Result<(), Error> {
    for rule in rules.iter().filter(|rule| rule.extension == extension) {
        let range = rule.version.as_deref().map(Range::parse).transpose()?;
        for version in &mut *versions {
            let text = version.version.to_string();
            // A range admits no pre-release that it does not name; the version itself always means that version.
            let matches = range.as_ref().is_none_or(|range| {
                rule.version.as_deref() == Some(&text)
                    || Version::parse(&text).is_ok_and(|version| range.matches(&version))
            });
            if matches {
                version.state = rule.state;
                version.note.clone_from(&rule.note);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use fitout_model::{Digest, VersionState};

    use super::*;

    #[test]
    fn the_last_matching_rule_counts() {
        let version = |text: &str| VersionEntry {
            version: text.parse().unwrap(),
            kubernetes: None,
            upgrade_from: None,
            app_version: None,
            state: VersionState::Listed,
            note: None,
            digest: Digest::of(text),
            published: None,
        };
        let mut versions = ["2.0.0-rc.1", "1.1.0", "1.0.0"].map(version);
        let rule = |extension: &str, version: Option<&str>, state, note: &str| VersionStateRule {
            extension: extension.to_owned(),
            version: version.map(str::to_owned),
            state,
            note: Some(note.to_owned()),
        };
        let rules = [
            rule("web", None, VersionState::Deprecated, "use webs"),
            rule("web", Some("<1.1"), VersionState::Withdrawn, "CVE-1"),
            rule("web", Some("2.0.0-rc.1"), VersionState::Yanked, "broken"),
            rule("other", None, VersionState::Yanked, "not ours"),
        ];
        set_states("web", &mut versions, &rules).unwrap();
        let states = versions.each_ref().map(|version| (version.state, version.note.as_deref().unwrap()));
        let expected = [
            (VersionState::Yanked, "broken"),
            (VersionState::Deprecated, "use webs"),
            (VersionState::Withdrawn, "CVE-1"),
        ];
        assert_eq!(states, expected);
    }
}
