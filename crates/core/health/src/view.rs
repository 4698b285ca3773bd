//! An object's fields, by path. A field of the wrong type is as good as missing.

use serde_json::Value;

/// A look at a part of an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'a>(&'a Value);

/// One of the object's conditions. What is missing is empty.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Condition<'a> {
    pub(crate) kind: &'a str,
    pub(crate) status: &'a str,
    pub(crate) reason: &'a str,
    pub(crate) message: &'a str,
}

impl<'a> View<'a> {
    pub(crate) fn new(object: &'a Value) -> Self {
        Self(object)
    }

    /// What it looks at.
    pub(crate) fn value(self) -> &'a Value {
        self.0
    }

    /// The text at a path such as `/spec/type`, or nothing.
    pub(crate) fn text(self, path: &str) -> &'a str {
        self.0.pointer(path).and_then(Value::as_str).unwrap_or_default()
    }

    pub(crate) fn int(self, path: &str) -> Option<i64> {
        self.0.pointer(path).and_then(Value::as_i64)
    }

    /// A number that is 0 where nobody wrote it, as all counts in a status are.
    pub(crate) fn count(self, path: &str) -> i64 {
        self.int(path).unwrap_or_default()
    }

    pub(crate) fn is_true(self, path: &str) -> bool {
        self.0.pointer(path).and_then(Value::as_bool).unwrap_or_default()
    }

    pub(crate) fn has(self, path: &str) -> bool {
        self.0.pointer(path).is_some_and(|value| !value.is_null())
    }

    pub(crate) fn items(self, path: &str) -> impl Iterator<Item = Self> {
        self.0.pointer(path).and_then(Value::as_array).into_iter().flatten().map(Self)
    }

    pub(crate) fn texts(self, path: &str) -> Vec<&'a str> {
        self.items(path).filter_map(|item| item.0.as_str()).collect()
    }

    /// The API group, empty for the core group.
    pub(crate) fn group(self) -> &'a str {
        self.text("/apiVersion").split_once('/').map_or("", |(group, _)| group)
    }

    pub(crate) fn conditions(self) -> impl Iterator<Item = Condition<'a>> {
        self.items("/status/conditions").map(|condition| Condition {
            kind: condition.text("/type"),
            status: condition.text("/status"),
            reason: condition.text("/reason"),
            message: condition.text("/message"),
        })
    }

    pub(crate) fn condition(self, kind: &str) -> Option<Condition<'a>> {
        self.conditions().find(|condition| condition.kind == kind)
    }
}

impl<'a> Condition<'a> {
    pub(crate) fn is(self, kind: &str, status: &str) -> bool {
        self.kind == kind && self.status == status
    }

    /// The condition's own reason, or ours where it gives none.
    pub(crate) fn reason_or(self, ours: &'a str) -> &'a str {
        if self.reason.is_empty() { ours } else { self.reason }
    }
}
