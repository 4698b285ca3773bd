//! The comments above the keys of a `values.yaml`.

use std::collections::BTreeMap;

/// The most characters of a description.
const LIMIT: usize = 500;

/// The description of each key that has a comment directly above it or behind it, by the path of the key. Comments in the
/// styles of helm-docs (`# -- text`) and of Bitnami's readme generator (`## @param path text`) are understood.
pub(crate) fn descriptions(text: &str) -> BTreeMap<Vec<String>, String> {
    let mut found = BTreeMap::new();
    let mut block: Vec<&str> = Vec::new();
    // The keys around the current line, each with its indentation.
    let mut around: Vec<(usize, String)> = Vec::new();
    // The indentation of the key whose block scalar or list is passed over.
    let mut skipped: Option<usize> = None;
    for line in text.lines() {
        let content = line.trim_start();
        let indentation = line.len() - content.len();
        if content.is_empty() {
            block.clear();
            continue;
        }
        if skipped.is_some_and(|outer| indentation > outer) {
            continue;
        }
        if let Some(comment) = content.strip_prefix('#') {
            match parameter(comment) {
                Some((path, description)) => drop(found.insert(path, description)),
                None => block.push(comment),
            }
            continue;
        }
        skipped = None;
        if content.starts_with("- ") || content == "-" {
            // The items of a list have no paths.
            skipped = Some(indentation);
            block.clear();
            continue;
        }
        let Some((key, value)) = key(content) else {
            block.clear();
            continue;
        };
        around.retain(|(outer, _)| *outer < indentation);
        around.push((indentation, key));
        let (value, behind) = value.split_once(" #").map_or((value, None), |(value, comment)| (value, Some(comment)));
        if value.trim_start().starts_with(['|', '>']) {
            skipped = Some(indentation);
        }
        let behind = behind.map(|comment| vec![comment]).unwrap_or_default();
        if let Some(description) = description(&block).or_else(|| description(&behind)) {
            let path = around.iter().map(|(_, key)| key.clone()).collect();
            found.entry(path).or_insert(description);
        }
        block.clear();
    }
    found
}

/// The key that a line begins with, and the rest of the line.
fn key(line: &str) -> Option<(String, &str)> {
    let (key, rest) = match line.chars().next()? {
        quote @ ('"' | '\'') => line[1..].split_once(quote).map(|(key, rest)| (key, rest.trim_start()))?,
        _ => line.find(':').map(|end| line.split_at(end))?,
    };
    let rest = rest.strip_prefix(':')?;
    let is_key = rest.is_empty() || rest.starts_with(' ');
    is_key.then(|| (key.to_owned(), rest))
}

/// `@param path.of.key [modifiers] text`.
fn parameter(comment: &str) -> Option<(Vec<String>, String)> {
    let rest = comment.trim_start_matches('#').trim_start().strip_prefix("@param ")?;
    let (path, text) = rest.trim_start().split_once(' ')?;
    let text = text.trim_start();
    let text = text.strip_prefix('[').and_then(|rest| rest.split_once(']')).map_or(text, |(_, text)| text);
    Some((path.split('.').map(str::to_owned).collect(), shortened(text.trim())))
}

/// The text of a comment block: from the last line with `--`, or else its last paragraph.
fn description(block: &[&str]) -> Option<String> {
    let lines: Vec<&str> = block.iter().map(|line| line.trim_start_matches('#').trim()).collect();
    let marked = lines.iter().rposition(|line| line.starts_with("-- "));
    let start = marked.or_else(|| lines.iter().rposition(|line| line.is_empty()).map(|at| at + 1)).unwrap_or(0);
    let words = lines[start..].iter().map(|line| line.strip_prefix("-- ").unwrap_or(line));
    // Annotations of generators, and examples in YAML, are no description.
    let words = words.take_while(|line| !is_example(line)).filter(|line| !line.starts_with('@'));
    let text = words.collect::<Vec<_>>().join(" ");
    let text = text.trim();
    text.chars().any(char::is_alphabetic).then(|| shortened(text))
}

/// Whether a line of a comment is YAML that has been commented out.
fn is_example(line: &str) -> bool {
    let is_pair = key(line).is_some_and(|(key, value)| !key.contains(' ') && !value.trim().contains(' '));
    line.starts_with("- ") || (is_pair && !line.contains("://"))
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LIMIT) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(String, String)> {
        descriptions(text).into_iter().map(|(path, text)| (path.join("."), text)).collect()
    }

    fn rows(rows: &[(&str, &str)]) -> Vec<(String, String)> {
        rows.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn comments_above_and_behind_keys_are_descriptions() {
        let text = "# License\n\n# The number of replicas.\n# One by default.\nreplicas: 1\nimage:\n  # Its tag\n  tag: v1\n  \
                    pull: Always # When it is pulled\nplain: 1\n";
        let expected = rows(&[
            ("image.pull", "When it is pulled"),
            ("image.tag", "Its tag"),
            ("replicas", "The number of replicas. One by default."),
        ]);
        assert_eq!(found(text), expected);
    }

    #[test]
    fn styles_of_documentation_generators_are_understood() {
        let text = "# Old text\n# -- Number of pods\nreplicas: 1\n## @param image.tag [string] The tag\n## @section Other\nimage:\n  tag: v1\n";
        assert_eq!(found(text), rows(&[("image.tag", "The tag"), ("replicas", "Number of pods")]));
    }

    #[test]
    fn examples_lists_and_block_scalars_are_passed_over() {
        let text = "# Extra arguments\n# - --verbose\nargs:\n  # none\n  - a: 1\n    # inner\n    b: 2\n# Text\nscript: |\n  # not a comment\n  \
                    key: value\n# Resources\n# limits:\n#   cpu: 1\nresources: {}\n";
        let expected = rows(&[("args", "Extra arguments"), ("resources", "Resources"), ("script", "Text")]);
        assert_eq!(found(text), expected);
    }
}
