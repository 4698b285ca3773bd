//! What of a plan is not shown.

use serde_json::Value;

/// Secrets shorter than this are only recognised where they are the whole of a value: they would be found everywhere.
const TELLING: usize = 4;

/// Which values are not shown to whoever asks. What is in a `Secret` is shown to nobody.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mask {
    /// No value at all is shown: only which fields change.
    all: bool,
    /// Values that came from secrets.
    secrets: Vec<String>,
}

impl Mask {
    /// Hides every value.
    pub fn everything() -> Self {
        Self { all: true, ..Self::default() }
    }

    /// Hides every value that is, or has in it, a value from secrets.
    #[must_use]
    pub fn secrets(mut self, values: &Value) -> Self {
        match values {
            Value::Object(fields) => fields.values().fold(self, Self::secrets),
            Value::Array(items) => items.iter().fold(self, Self::secrets),
            Value::Null | Value::Bool(_) => self,
            scalar => {
                self.secrets.push(text(scalar));
                self
            }
        }
    }

    /// Whether a value may not be shown.
    pub fn hides(&self, value: &Value) -> bool {
        match value {
            Value::Object(fields) => fields.values().any(|inner| self.hides(inner)),
            Value::Array(items) => items.iter().any(|inner| self.hides(inner)),
            scalar => {
                let said = text(scalar);
                let told = |secret: &String| {
                    !secret.is_empty() && (said == *secret || (secret.len() >= TELLING && said.contains(secret)))
                };
                self.all || self.secrets.iter().any(told)
            }
        }
    }
}

fn text(scalar: &Value) -> String {
    scalar.as_str().map_or_else(|| scalar.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_secret_is_recognised_wherever_it_ends_up() {
        let mask = Mask::default().secrets(&json!({ "db": { "password": "hunter2", "port": 15, "tls": true } }));
        let rows = [
            (json!("hunter2"), true),
            (json!("postgres://me:hunter2@db"), true),
            (json!({ "args": ["--password", "hunter2"] }), true),
            (json!(15), true),
            (json!("15"), true),
            // Too short to tell: everything with a 15 in it would be hidden.
            (json!("2015"), false),
            (json!(true), false),
            (json!("hunter"), false),
        ];
        for (value, hidden) in rows {
            assert_eq!(mask.hides(&value), hidden, "{value}");
        }
    }

    #[test]
    fn who_may_see_nothing_sees_nothing() {
        let mask = Mask::everything();
        assert!(mask.hides(&json!(1)) && mask.hides(&json!({ "a": "b" })));
        assert!(!Mask::default().hides(&json!("anything")));
    }
}
