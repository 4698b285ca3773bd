//! Errors of templates, shown with their source line.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::Range;

use fitout_helm_chart::render::{Error, Place};
use fitout_helm_chart::{Chart, File};

use crate::failure::Failure;
use crate::output::Paint;

/// The texts of all templates, by their names in errors.
pub(super) struct Sources(HashMap<String, File>);

impl Sources {
    pub(super) fn of(chart: &Chart) -> Self {
        let mut sources = HashMap::new();
        collect(chart, &mut sources);
        Self(sources)
    }

    /// The message, the source line with a mark below it, and a hint at the value that is not set.
    pub(super) fn explain(&self, error: &Error, paint: Paint) -> Failure {
        let mut sentence = error.message.clone();
        // The innermost place is where the error occurred; the others are its callers.
        if let Some(place) = error.places.last()
            && let Some(shown) = self.shown(place, paint)
        {
            sentence.push_str(&shown);
        }
        let failure = Failure::new(sentence);
        match error.places.last().and_then(|place| missing(place, &error.message)) {
            Some(path) => failure.hint(format!("{path} is not set: set it, or let the template check for it")),
            None => failure,
        }
    }

    fn shown(&self, place: &Place, paint: Paint) -> Option<String> {
        let text = self.0.get(&place.template)?.data.to_str().into_owned();
        let line = text.split('\n').nth(place.line.checked_sub(1)?)?.trim_end();
        let number = place.line.to_string();
        let margin = " ".repeat(number.len());
        let mut shown = String::new();
        let column = place.column.map(|column| format!(":{}", column + 1)).unwrap_or_default();
        let _ = write!(shown, "\n{margin}{} {}:{number}{column}", paint.cyan("-->"), place.template);
        let _ = write!(shown, "\n{margin} {}", paint.cyan("|"));
        let _ = write!(shown, "\n{} {} {line}", paint.cyan(&number), paint.cyan("|"));
        if let Some(column) = place.column {
            let marked = marked(line, column, place.at.as_deref());
            let before: String =
                line.get(..marked.start)?.chars().map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
            let mark = paint.red(&"^".repeat(line.get(marked)?.chars().count().max(1)));
            let _ = write!(shown, "\n{margin} {} {before}{mark}", paint.cyan("|"));
        }
        Some(shown)
    }
}

/// The evaluated part of a line, which contains Go's column; only that column if Go shortened the part.
fn marked(line: &str, column: usize, at: Option<&str>) -> Range<usize> {
    let found = at.into_iter().flat_map(|at| line.match_indices(at).map(|(start, _)| start..start + at.len()));
    let next = line.get(column..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    found.into_iter().find(|part| part.contains(&column)).unwrap_or(column..column + next)
}

fn collect(chart: &Chart, sources: &mut HashMap<String, File>) {
    for template in &*chart.templates {
        sources.insert(format!("{}/{}", chart.full_path(), template.name), template.clone());
    }
    for dependency in &chart.dependencies {
        collect(dependency, sources);
    }
}

/// The path of the nil value whose field was evaluated, from the values of the top chart.
fn missing(place: &Place, message: &str) -> Option<String> {
    let (_, field) = message.rsplit_once("nil pointer evaluating interface {}.")?;
    let field: String = field.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let path = place.at.as_deref()?.strip_prefix('$').unwrap_or(place.at.as_deref()?).strip_prefix(".Values.")?;
    let parts: Vec<&str> = path.split('.').collect();
    let at = parts.iter().rposition(|part| *part == field)?;
    // The values of a dependency are below its name.
    let charts = place.template.split("/charts/").skip(1).filter_map(|rest| rest.split('/').next());
    let whole: Vec<&str> = charts.chain(parts[..at].iter().copied()).collect();
    (!whole.is_empty()).then(|| whole.join("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nil_value_is_named_from_the_top_chart() {
        let place = |template: &str, at: &str| Place {
            template: template.to_owned(),
            line: 1,
            column: Some(3),
            at: Some(at.to_owned()),
        };
        let message = "nil pointer evaluating interface {}.tag";
        assert_eq!(missing(&place("c/templates/a.yaml", ".Values.image.tag"), message).as_deref(), Some("image"));
        assert_eq!(missing(&place("c/templates/a.yaml", "$.Values.a.b.tag"), message).as_deref(), Some("a.b"));
        let inner = place("c/charts/db/templates/a.yaml", ".Values.image.tag");
        assert_eq!(missing(&inner, message).as_deref(), Some("db.image"));
        assert_eq!(missing(&place("c/templates/a.yaml", ".image.tag"), message), None);
    }
}
