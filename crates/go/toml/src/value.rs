//! What a text says.

use std::collections::BTreeMap;

use crate::date::Datetime;

/// A table.
pub type Table = BTreeMap<String, Value>;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// A string.
    Text(String),
    /// A date, a time, or both.
    Datetime(Datetime),
    /// An array that is written with brackets.
    Array(Vec<Self>),
    /// An array of tables, each with a heading of its own.
    Tables(Vec<Table>),
    /// A table.
    Table(Table),
}
