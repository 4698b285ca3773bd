//! The lines of fields, for messages about their values.

use crate::decode::{Duplicates, decode};
use crate::input::Input;
use crate::parser::{self, MAX_DEPTH};
use crate::tree::{Content, NodeId, Scalar, Tree};

/// The line of a field such as `spec.roles[0].name` in the first document of a text, from 1: of its key, or of the item of
/// a list. Keys may contain dots. Of a field that is not there, it is the line of the nearest field around it; none where
/// not even its first part is there, or the text is not YAML.
pub fn line(text: &str, field: &str) -> Option<usize> {
    let input = Input::of(text.as_bytes());
    let tree = parser::parse(&input, MAX_DEPTH).ok()?;
    // Refuses aliases of what they are in, and too many of them, so that following them ends.
    decode(&tree, Duplicates::LastWins, MAX_DEPTH).ok()?;
    let (mut at, mut rest, mut found) = (tree.root?, field, None);
    while let Some((place, value, after)) = step(&tree, at, rest) {
        found = Some(tree.node(place).line + 1);
        (at, rest) = (value, after);
    }
    found
}

/// The first part of a field below a node: the node whose line it has, its value, and the rest of the field.
fn step<'f>(tree: &Tree<'_>, at: NodeId, field: &'f str) -> Option<(NodeId, NodeId, &'f str)> {
    match &tree.node(at).content {
        Content::Scalar(_) => None,
        Content::Alias { target, .. } => step(tree, *target, field),
        Content::Sequence(items) => {
            let (index, rest) = field.strip_prefix('[')?.split_once(']')?;
            let item = *items.get(index.parse::<usize>().ok()?)?;
            Some((item, item, rest.strip_prefix('.').unwrap_or(rest)))
        }
        Content::Mapping(pairs) => {
            let own = pairs.iter().filter_map(|(key, value)| {
                let Content::Scalar(Scalar { text, .. }) = &tree.node(*key).content else { return None };
                Some((text.len(), (*key, *value, after_key(field, text)?)))
            });
            // The longest key, because a shorter one may be the beginning of a key with dots.
            let longest = own.max_by_key(|(length, _)| *length).map(|(_, step)| step);
            longest.or_else(|| pairs.iter().find_map(|(key, value)| merged(tree, *key, *value, field)))
        }
    }
}

/// The rest of a field after a key, which may be in brackets; none if the field does not begin with it.
fn after_key<'f>(field: &'f str, key: &str) -> Option<&'f str> {
    if key.is_empty() {
        return None;
    }
    let in_brackets = || field.strip_prefix('[')?.strip_prefix(key)?.strip_prefix(']');
    let rest = field.strip_prefix(key).or_else(in_brackets)?;
    let is_end = rest.is_empty() || rest.starts_with(['.', '[']);
    is_end.then(|| rest.strip_prefix('.').unwrap_or(rest))
}

/// The first part of a field in what is behind a merge key.
fn merged<'f>(tree: &Tree<'_>, key: NodeId, value: NodeId, field: &'f str) -> Option<(NodeId, NodeId, &'f str)> {
    let is_merge = matches!(&tree.node(key).content, Content::Scalar(Scalar { text, .. }) if text == "<<");
    match &tree.node(value).content {
        _ if !is_merge => None,
        Content::Sequence(items) => items.iter().find_map(|item| step(tree, *item, field)),
        _ => step(tree, value, field),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# spec: none
spec:
  'version': 1.0.0
  kubernetes: >-
    >=1.33
    <1.37
  helm: { chart: web,
    version: 2, \"values\": {
      a.b/c: [1,
        2] } }
  dependencies:
  - name: a
    # version: none
    version: 1.x
  - { name: b, version: none }
  -
    version: one
  base: &base { x: 1,
    y: [{ z: 1 }] }
  alias: *base
  merged:
    <<: *base
    own: 1
  version.x: 3
";

    #[test]
    fn fields_are_found_in_every_style() {
        let rows = [
            ("spec", Some(2)),
            ("spec.version", Some(3)),
            ("spec.kubernetes", Some(4)),
            ("spec.helm.chart", Some(7)),
            ("spec.helm.version", Some(8)),
            ("spec.helm.values.a.b/c", Some(9)),
            ("spec.helm.values[a.b/c][1]", Some(10)),
            ("spec.dependencies[0].version", Some(14)),
            ("spec.dependencies[1].version", Some(15)),
            ("spec.dependencies[2]", Some(17)),
            ("spec.base.y[0].z", Some(19)),
            ("spec.alias.y", Some(19)),
            ("spec.merged.own", Some(23)),
            ("spec.merged.y[0]", Some(19)),
            ("spec.version.x", Some(24)),
        ];
        for (field, expected) in rows {
            assert_eq!(line(TEXT, field), expected, "{field}");
        }
    }

    #[test]
    fn fields_that_are_missing_have_the_line_of_what_is_around_them() {
        let rows = [
            ("spec.extension", Some(2)),
            ("spec.helm.repository", Some(7)),
            ("spec.dependencies[0].optional", Some(12)),
            ("spec.dependencies[9].name", Some(11)),
            ("spec.versions", Some(2)),
            ("kind", None),
            ("", None),
        ];
        for (field, expected) in rows {
            assert_eq!(line(TEXT, field), expected, "{field}");
        }
        assert_eq!((line("a: [", "a"), line("", "a"), line("- a: 1\n- b: 2\n", "[1].b")), (None, None, Some(2)));
    }

    #[test]
    fn aliases_end() {
        assert_eq!((line("a: &a\n  b: *a\n", "a.b.b"), line("a: &a { <<: *a }\n", "a.b")), (None, None));
    }
}
