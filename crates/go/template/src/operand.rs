//! What an expression is while it is evaluated.

use std::borrow::Cow;

use crate::value::Value;

/// A value, and whether Go sees it through an `interface {}`: then messages say so in the place of its own type, and
/// nil is a value rather than none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Operand {
    pub(crate) value: Value,
    pub(crate) boxed: bool,
}

impl Operand {
    /// No value at all.
    pub(crate) const NONE: Self = Self { value: Value::Nil, boxed: false };

    /// A value of its own type.
    pub(crate) fn plain(value: Value) -> Self {
        Self { value, boxed: false }
    }

    /// A value out of something that holds any.
    pub(crate) fn boxed(value: Value, boxed: bool) -> Self {
        Self { value, boxed }
    }

    /// Whether there is no value, not even nil.
    pub(crate) fn is_none(&self) -> bool {
        !self.boxed && matches!(self.value, Value::Nil)
    }

    /// Whether there is a nil in an interface.
    pub(crate) fn is_boxed_nil(&self) -> bool {
        self.boxed && matches!(self.value, Value::Nil)
    }

    /// The type as Go sees it.
    pub(crate) fn type_name(&self) -> Cow<'static, str> {
        if self.boxed { Cow::Borrowed("interface {}") } else { self.value.type_name() }
    }

    /// What is inside of the interface.
    pub(crate) fn unboxed(self) -> Self {
        Self { boxed: false, ..self }
    }
}

impl AsRef<Value> for Operand {
    fn as_ref(&self) -> &Value {
        &self.value
    }
}
