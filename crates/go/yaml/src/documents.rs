//! Manifests: many documents in one text, divided as Kubernetes' tools do it.

use serde_json::Value;

use crate::cursor::Mark;
use crate::decode::Duplicates;
use crate::{Error, read};

/// One document of a manifest.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// The line of the whole text on which the document's value begins, from 1.
    pub line: usize,
    /// What it says.
    pub value: Value,
}

/// The documents of a manifest, without those that say nothing. Equal keys are refused; an error's line is that of the
/// whole text.
///
/// A line that begins with `---` divides. Only a comment may follow on it.
pub fn documents(text: &str) -> Result<Vec<Document>, Error> {
    let mut documents = Vec::new();
    for part in parts(text)? {
        let read = read(&part.text, Duplicates::Refused).map_err(|error| error.after_lines(part.before))?;
        if read.value != Value::Null {
            documents.push(Document { line: part.before + read.line, value: read.value });
        }
    }
    Ok(documents)
}

/// The text of a document, and how many lines are before it.
struct Part {
    before: usize,
    text: String,
}

fn parts(text: &str) -> Result<Vec<Part>, Error> {
    let mut parts = vec![Part { before: 0, text: String::new() }];
    for (number, line) in text.lines().enumerate() {
        if let Some(rest) = line.strip_prefix("---") {
            let rest = rest.trim();
            if !rest.is_empty() && !rest.starts_with('#') {
                let place = Mark { index: 0, line: number, column: 0 };
                return Err(Error::in_scanner(place, format!("invalid Yaml document separator: {rest}")).after_lines(0));
            }
            parts.push(Part { before: number + 1, text: String::new() });
        } else if let Some(part) = parts.last_mut() {
            part.text.push_str(line);
            part.text.push('\n');
        }
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_document_knows_where_it_begins() {
        let text = "# a comment\n\na: 1\n---\n--- # nothing\n\n  b: 2\n---\n# only a comment\n---\nc: 3\n...\nd: 4\n";
        let found: Vec<_> = documents(text).unwrap().into_iter().map(|found| (found.line, found.value)).collect();
        assert_eq!(found, [(3, json!({"a": 1})), (7, json!({"b": 2})), (11, json!({"c": 3}))]);
    }

    #[test]
    fn an_error_names_the_line_of_the_whole_text() {
        let error = documents("a: 1\n---\nb: 1\nb: 2\n").unwrap_err();
        assert_eq!(error.to_string(), "yaml: unmarshal errors:\n  line 4: key \"b\" already set in map");
        assert_eq!((error.line(), error.column()), (Some(4), Some(4)));
        let error = documents("---\na: b: c\n").unwrap_err();
        assert_eq!(error.to_string(), "yaml: line 2: mapping values are not allowed in this context");
    }

    #[test]
    fn nothing_but_a_comment_follows_a_division() {
        let error = documents("a: 1\n--- b\n").unwrap_err();
        assert_eq!(error.to_string(), "yaml: line 2: invalid Yaml document separator: b");
    }

    #[test]
    fn lines_may_end_as_on_windows() {
        assert_eq!(documents("a: 1\r\n---\r\nb: 2\r\n").unwrap().len(), 2);
    }

    #[test]
    fn a_text_without_documents_has_none() {
        assert_eq!(documents("").unwrap(), []);
        assert_eq!(documents("---\n---\n# nothing\n---\nnull\n").unwrap(), []);
    }
}
