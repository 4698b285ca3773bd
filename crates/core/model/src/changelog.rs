//! Changelogs: Markdown with a heading for each version.

use semver::Version;

/// The sections of a changelog whose heading names a version, in the order of the text.
///
/// A heading such as `## [v1.2.0] - 2026-03-01` names 1.2.0. A section ends at the next heading that is not below it.
pub fn changelog_sections(text: &str) -> Vec<(Version, String)> {
    let mut sections: Vec<(Version, String)> = Vec::new();
    // The level of the section that is being read; none outside of sections.
    let mut open: Option<usize> = None;
    let mut is_code = false;
    for line in text.lines() {
        is_code ^= line.trim_start().starts_with("```");
        if let Some((level, title)) = heading(line).filter(|_| !is_code)
            && open.is_none_or(|open| level <= open)
        {
            let version = title_version(title);
            open = version.is_some().then_some(level);
            sections.extend(version.map(|version| (version, String::new())));
            continue;
        }
        if let Some((_, section)) = sections.last_mut().filter(|_| open.is_some()) {
            section.push_str(line);
            section.push('\n');
        }
    }
    for (_, section) in &mut sections {
        *section = section.trim().to_owned();
    }
    sections
}

/// The level and the title of a heading.
fn heading(line: &str) -> Option<(usize, &str)> {
    let title = line.trim_start_matches('#');
    let level = line.len() - title.len();
    ((1..=6).contains(&level) && title.starts_with(' ')).then(|| (level, title.trim()))
}

/// The first version among the words in a title.
fn title_version(title: &str) -> Option<Version> {
    let words = title.split([' ', '[', ']', '(', ')', ',', ':', '`']);
    words.map(|word| word.strip_prefix('v').unwrap_or(word)).find_map(|word| Version::parse(word).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(String, String)> {
        changelog_sections(text).into_iter().map(|(version, text)| (version.to_string(), text)).collect()
    }

    #[test]
    fn headings_with_a_version_begin_sections() {
        let text = "# Changelog\n\nAll changes.\n\n## [Unreleased]\n- later\n\n## [v1.2.0] - 2026-03-01\n\n### Added\n\n- b\n\
                    ```\n# 9.9.9\n```\n## 1.1.0: small\n- a\n# Older\ntext\n";
        let expected = [("1.2.0", "### Added\n\n- b\n```\n# 9.9.9\n```"), ("1.1.0", "- a")];
        assert_eq!(found(text), expected.map(|(version, text)| (version.to_owned(), text.to_owned())));
    }

    #[test]
    fn versions_at_the_same_level_as_their_parts_end_each_other() {
        assert_eq!(found("# 2.0.0\nnew\n# 1.0.0\nold"), [("2.0.0", "new"), ("1.0.0", "old")].map(owned));
        assert_eq!(found("- no heading\n#hashtag 1.0.0\n"), []);
    }

    fn owned((version, text): (&str, &str)) -> (String, String) {
        (version.to_owned(), text.to_owned())
    }
}
