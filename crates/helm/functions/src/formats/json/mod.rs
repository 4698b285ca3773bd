//! JSON as Go's `encoding/json` reads and writes it.

mod read;
mod write;

pub(crate) use read::{Unmarshal, from_json, from_json_prefix};
pub(crate) use write::{Layout, push_float, to_json};
