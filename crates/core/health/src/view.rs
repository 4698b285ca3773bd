//! An object's fields, by path. A field of the wrong type counts as missing.

use serde_json::Value;

/// A borrowed part of an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'a>(&'a Value);

/// One of the object's conditions. A missing field is empty.
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

    /// The JSON value.
    pub(crate) fn value(self) -> &'a Value {
        self.0
    }

    /// The string at a path such as `/spec/type`; empty where it is missing.
    pub(crate) fn text(self, path: &str) -> &'a str {
        self.0.pointer(path).and_then(Value::as_str).unwrap_or_default()
    }

    pub(crate) fn int(self, path: &str) -> Option<i64> {
        self.0.pointer(path).and_then(Value::as_i64)
    }

    /// A count of a status, which is 0 where it is missing.
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

    /// The condition's own reason, or the default where it gives none.
    pub(crate) fn reason_or(self, default: &'a str) -> &'a str {
        if self.reason.is_empty() { default } else { self.reason }
    }
}
