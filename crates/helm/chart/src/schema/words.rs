//! What a schema says, by its keywords.

use serde_json::{Map, Value as Json};

/// The keywords of a schema. There are many that it may have, and few that it has: most are told from their length alone.
#[derive(Clone, Copy)]
pub(crate) struct Words<'s> {
    object: &'s Map<String, Json>,
    /// A bit for each length that a keyword of it has.
    lengths: u64,
}

impl<'s> Words<'s> {
    pub(crate) fn of(object: &'s Map<String, Json>) -> Self {
        Self { object, lengths: object.keys().fold(0, |lengths, key| lengths | bit(key)) }
    }

    pub(crate) fn get(&self, key: &str) -> Option<&'s Json> {
        if self.lengths & bit(key) == 0 { None } else { self.object.get(key) }
    }
}

fn bit(key: &str) -> u64 {
    1 << (key.len() % 64)
}
