//! The line of a field in a document.

/// The line of a field such as `spec.roles[0].name`, from 1: of the field itself, or of the nearest field around it that is
/// on a line of its own. None where not even its first part is found.
pub(super) fn line(text: &str, field: &str) -> Option<usize> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = None;
    // The lines of the value of the last part that was found.
    let (mut from, mut to) = (0, lines.len());
    for part in field.split('.') {
        let (name, indexes) = part.split_once('[').map_or((part, ""), |(name, indexes)| (name, indexes));
        let Some(at) = (from..to).find(|at| begins_with(lines[*at], name)) else { break };
        found = Some(at + 1);
        (from, to) = value(&lines, at, to);
        for index in indexes.split(['[', ']']).filter_map(|index| index.parse::<usize>().ok()) {
            let Some(at) = item(&lines, from, to, index) else { return found };
            found = Some(at + 1);
            // The first field of an item is on the line of its dash.
            (from, to) = (at, value(&lines, at, to).1);
        }
    }
    found
}

fn begins_with(line: &str, name: &str) -> bool {
    let rest = line.trim_start().trim_start_matches("- ").trim_start();
    let rest = rest.strip_prefix('{').map_or(rest, str::trim_start);
    rest.strip_prefix(name).is_some_and(|rest| rest.starts_with(':'))
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn is_content(line: &str) -> bool {
    !line.trim().is_empty() && !line.trim_start().starts_with('#')
}

/// The lines below a key or a dash that belong to its value.
fn value(lines: &[&str], at: usize, to: usize) -> (usize, usize) {
    let outer = indentation(lines[at]);
    let is_item = lines[at].trim_start().starts_with("- ");
    let belongs = |line: &str| {
        // The items of a list may have the indentation of its key.
        indentation(line) > outer || (!is_item && indentation(line) == outer && line.trim_start().starts_with("- "))
    };
    let end = (at + 1..to).find(|next| is_content(lines[*next]) && !belongs(lines[*next]));
    (at + 1, end.unwrap_or(to))
}

/// The line of an item of a list.
fn item(lines: &[&str], from: usize, to: usize, index: usize) -> Option<usize> {
    let is_dash = |at: &usize| lines[*at].trim_start().starts_with("- ");
    let first = (from..to).find(is_dash)?;
    let outer = indentation(lines[first]);
    (first..to).filter(is_dash).filter(|at| indentation(lines[*at]) == outer).nth(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# spec: none
apiVersion: v1
spec:
  version: 1.0.0
  links:
    - { name: a, url: b }
    - name: c
      url: d
  requirements: { privileged: true }
  roles:
  - name: viewer
    rules:
    - verbs: [get]
    - verbs: [list]
  helm:
    version: 2
";

    #[test]
    fn fields_are_found_on_their_lines() {
        let rows = [
            ("apiVersion", Some(2)),
            ("spec.version", Some(4)),
            ("spec.links[0].name", Some(6)),
            ("spec.links[1].url", Some(8)),
            ("spec.requirements.privileged", Some(9)),
            ("spec.roles[0].rules[1].verbs", Some(14)),
            ("spec.helm.version", Some(16)),
            ("spec.kubernetes", Some(3)),
            ("metadata", None),
        ];
        for (field, expected) in rows {
            assert_eq!(line(TEXT, field), expected, "{field}");
        }
    }
}
