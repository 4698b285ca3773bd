//! What counts as empty.

use fitout_go_template::Value;

/// Whether a value is the zero value of its type, or has nothing in it. A struct is never empty.
pub(crate) fn is_empty(value: &Value) -> bool {
    !value.is_true()
}
