//! Errors, in Go's words.

use std::error;
use std::fmt;

/// Why a text is no template, or why a template could not be executed; in Go's words.
///
/// An error of a function is the source of the error of the template that called it.
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    /// Without that of the cause, which follows it: there may be a thousand of them inside of each other.
    message: String,
    template: Option<String>,
    cause: Option<Error>,
}

impl Error {
    /// An error of a function.
    pub fn new(message: impl Into<String>) -> Self {
        Self(Box::new(Inner { message: message.into(), template: None, cause: None }))
    }

    /// An error of a function that another led to: its message comes before the other's.
    pub fn wrap(message: impl Into<String>, cause: Self) -> Self {
        Self(Box::new(Inner { message: message.into(), template: None, cause: Some(cause) }))
    }

    /// An error of the execution of a template. The message of a cause comes after its own.
    pub(crate) fn executing(template: String, message: String, cause: Option<Self>) -> Self {
        Self(Box::new(Inner { message, template: Some(template), cause }))
    }

    /// The template that was executing, where this is an error of an execution.
    pub fn template(&self) -> Option<&str> {
        self.0.template.as_deref()
    }

    /// The error that a called function gave.
    pub fn cause(&self) -> Option<&Self> {
        self.0.cause.as_ref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut error = Some(self);
        while let Some(Self(inner)) = error {
            f.write_str(&inner.message)?;
            error = inner.cause.as_ref();
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Without recursion.
        let mut cause = self.cause.take();
        while let Some(Error(mut inner)) = cause {
            cause = inner.cause.take();
        }
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        self.cause().map(|cause| cause as _)
    }
}
