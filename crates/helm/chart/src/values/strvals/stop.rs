//! Why the parser stops.

use fitout_go_template::Value;

use crate::error::Error;

/// Why the parser stops. At the end of the text it has done what there was to do.
#[derive(Debug)]
pub(super) enum Stop {
    End,
    Error(String),
}

impl Stop {
    pub(super) fn error(message: impl Into<String>) -> Self {
        Self::Error(message.into())
    }

    /// With what was being done. Go looks through that, so the end stays the end.
    pub(super) fn within(self, what: &str) -> Self {
        match self {
            Self::End => Self::End,
            Self::Error(message) => Self::Error(format!("{what}: {message}")),
        }
    }

    pub(super) fn into_result(self) -> Result<(), Error> {
        match self {
            Self::End => Ok(()),
            Self::Error(message) => Err(Error::new(message)),
        }
    }

    /// There is something else in the place of a table or a list. Go panics there, and catches itself.
    pub(super) fn conversion(found: &Value, wanted: &str) -> Self {
        let found = if matches!(found, Value::Nil) { "nil".into() } else { found.type_name() };
        Self::Error(format!("unable to parse key: interface conversion: interface {{}} is {found}, not {wanted}"))
    }
}
