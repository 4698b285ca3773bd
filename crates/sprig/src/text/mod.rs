//! Functions on text.

use fitout_gotmpl::Type;

use crate::declare::Declare;

pub(crate) fn add(declare: &mut Declare<'_>) {
    declare.plain(&["hello"], &[], Type::String, |_| "Hello!".into());
}
