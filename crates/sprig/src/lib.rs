//! The functions that Helm's templates call: those of Go's library sprig, and Helm's own that need no chart.
//!
//! What a machine has and a function has not (random bytes, the clock, the zone, keys) comes in as a [`World`].
//!
//! The rows under `tests/cases` are Go's own answers, and `tests/live_judge.rs` asks Go again.
//!
//! Known differences:
//!
//! - Where Go's order is that of a map, which is none, ours is sorted: `keys`, `values`, and which of several mistakes
//!   `merge` finds first.
//! - A list has no room behind its end: Go lets `slice` reach into it. Two slices of one list are not sorted with each
//!   other.
//! - What has no end, or would need all memory, is refused.
//! - Two pointers to values of the program are not merged into each other.

mod argument;
mod date;
mod declare;
mod formats;
mod list;
mod map;
mod number;
mod pattern;
mod replay;
mod secret;
mod stack;
mod text;
mod value;
mod world;

use std::rc::Rc;

use fitout_gotmpl::Functions;

pub use formats::{from_json_text, from_yaml, to_yaml};
pub use replay::Replay;
pub use world::{Certificate, Issuer, Request, World};

use declare::Declare;

/// Adds all functions that need no chart.
pub fn add(functions: &mut Functions, world: &Rc<dyn World>) {
    let mut declare = Declare::new(functions);
    value::add(&mut declare);
    text::add(&mut declare);
    list::add(&mut declare);
    map::add(&mut declare);
    number::add(&mut declare, world);
    formats::add(&mut declare, world);
    pattern::add(&mut declare);
    date::add(&mut declare, world);
    secret::add(&mut declare, world);
}
