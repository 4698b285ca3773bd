//! Errors of the options that set values.

use super::line::MAX_INDEX;

/// Why an option does not set a value.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SettingError {
    #[error("'{0}' has no '=': expected KEY=VALUE")]
    MissingEquals(String),
    #[error("'{0}' contains an empty key")]
    EmptyKey(String),
    #[error("'{0}': an index in brackets is a number from 0 to {MAX_INDEX}")]
    InvalidIndex(String),
    #[error("'{0}': a list ends with '}}'")]
    UnclosedList(String),
    #[error("'{text}' does not begin with JSON: {error}")]
    InvalidJsonValue { text: String, error: String },
    #[error("'{text}' is not JSON: {error}")]
    InvalidJsonObject { text: String, error: String },
    #[error("cannot set '{0}': its parent is not a map")]
    ParentIsNoMap(String),
    #[error("cannot set '[{0}]': its parent is not a list")]
    ParentIsNoList(usize),
}
