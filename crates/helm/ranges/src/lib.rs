//! Versions and version ranges as Helm reads them, which is as the Go library `Masterminds/semver` v3.5.0 does.
//!
//! Charts say which Kubernetes and which dependencies they want in this language, so its peculiarities are facts to be
//! matched and not mistakes to be mended: `^*` is only `0.0.0`, `<=1.2` lets `1.2.9` in, and one pre-release in a group
//! opens the whole group to pre-releases. Whoever wants to know what holds reads the tables under `tests/cases`, where
//! each row is an answer of the Go library.
//!
//! A [`Version`] is read leniently or strictly, a [`Range`] says which versions it lets in, and [`kubernetes`] makes of
//! what a cluster says about itself a version that can be held against a range.

mod comparator;
mod error;
mod kubernetes;
mod quote;
mod range;
mod shape;
mod version;

pub use error::{Error, NumberError};
pub use kubernetes::kubernetes;
pub use range::Range;
pub use version::Version;
