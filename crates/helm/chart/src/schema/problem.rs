//! What is wrong with a value, and what led to it.

use std::fmt::Write;

use fitout_go_template::quote;

/// What is wrong with a value, and what led to it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Problem {
    /// Where the value is.
    pub(crate) place: String,
    pub(crate) kind: Kind,
    pub(crate) causes: Vec<Problem>,
}

/// What is wrong.
#[derive(Clone, Debug, Default)]
pub(crate) enum Kind {
    /// Several things.
    #[default]
    Several,
    /// What a reference leads to says no.
    Reference,
    /// This.
    Text(String),
}

impl Problem {
    /// All that led to it, in lines.
    pub(crate) fn causes_text(&self) -> String {
        let mut text = String::new();
        for cause in &self.causes {
            cause.write(&mut text, 1);
        }
        // A line begins where another ends.
        text.strip_prefix('\n').unwrap_or(&text).to_owned()
    }

    fn write(&self, text: &mut String, indent: usize) {
        let mut indent = indent;
        // A reference that one thing led to is not worth a line.
        let skipped = matches!(self.kind, Kind::Reference) && self.causes.len() == 1;
        if !skipped {
            let what = match &self.kind {
                Kind::Several | Kind::Reference => "validation failed",
                Kind::Text(what) => what,
            };
            // A string takes whatever is written to it.
            let _ = write!(text, "\n{}- at {}: {what}", "  ".repeat(indent - 1), quoted(&self.place));
            indent += 1;
        }
        for cause in &self.causes {
            cause.write(text, indent);
        }
    }
}

/// A text in single quotes.
pub(crate) fn quoted(text: &str) -> String {
    let quoted = quote(text.as_bytes()).replace("\\\"", "\"").replace('\'', "\\'");
    format!("'{}'", quoted.get(1..quoted.len() - 1).unwrap_or_default())
}

/// Texts in single quotes, with commas.
pub(crate) fn all_quoted<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    texts.into_iter().map(quoted).collect::<Vec<_>>().join(", ")
}
