//! Hides secret values of a plan.

use serde_json::Value;

/// Shorter secrets are only recognised as a whole value: as part of a value they would match too much.
const MIN_PART_LENGTH: usize = 4;

/// The values that are hidden from the requesting user. The data of a `Secret` is always hidden.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mask {
    /// Hides all values: only the changed fields are shown.
    all: bool,
    /// Values that came from secrets.
    secrets: Vec<String>,
}

impl Mask {
    /// Hides every value.
    pub fn everything() -> Self {
        Self { all: true, ..Self::default() }
    }

    /// Adds secret values: every value that equals or contains one of them is hidden.
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

    /// Whether a value is hidden.
    pub fn hides(&self, value: &Value) -> bool {
        match value {
            Value::Object(fields) => fields.values().any(|inner| self.hides(inner)),
            Value::Array(items) => items.iter().any(|inner| self.hides(inner)),
            scalar => {
                let text = text(scalar);
                let matches = |secret: &String| {
                    !secret.is_empty()
                        && (text == *secret || (secret.len() >= MIN_PART_LENGTH && text.contains(secret)))
                };
                self.all || self.secrets.iter().any(matches)
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
    fn values_that_contain_a_secret_are_hidden() {
        let mask = Mask::default().secrets(&json!({ "db": { "password": "hunter2", "port": 15, "tls": true } }));
        let rows = [
            (json!("hunter2"), true),
            (json!("postgres://me:hunter2@db"), true),
            (json!({ "args": ["--password", "hunter2"] }), true),
            (json!(15), true),
            (json!("15"), true),
            // Too short: every value that contains 15 would be hidden.
            (json!("2015"), false),
            (json!(true), false),
            (json!("hunter"), false),
        ];
        for (value, hidden) in rows {
            assert_eq!(mask.hides(&value), hidden, "{value}");
        }
    }

    #[test]
    fn everything_hides_every_value() {
        let mask = Mask::everything();
        assert!(mask.hides(&json!(1)) && mask.hides(&json!({ "a": "b" })));
        assert!(!Mask::default().hides(&json!("anything")));
    }
}
