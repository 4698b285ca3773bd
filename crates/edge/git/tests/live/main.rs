//! Live tests of reading git repositories, against Debian's git.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod access;
mod changes;
mod faults;
mod large;
mod reading;
mod ssh;
mod support;
