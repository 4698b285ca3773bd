//! Errors, in Helm's words.

/// Why a chart or values were refused, in Helm's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Error(String);

impl Error {
    /// An error with this message.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// The same error, with what was being done before it.
    #[must_use]
    pub(crate) fn while_doing(self, what: &str) -> Self {
        Self(format!("{what}: {}", self.0))
    }

    /// The same error, as a detail of another.
    #[must_use]
    pub(crate) fn detailing(self, what: &str) -> Self {
        Self(format!("{what} (details: {})", self.0))
    }
}
