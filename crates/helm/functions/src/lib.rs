//! The functions that Helm's templates call: those of Go's library sprig, and Helm's own that need no chart.
//!
//! What a machine has and a function has not (random bytes, the clock, the zone, keys) comes in as a [`Environment`].
//!
//! The rows under `tests/cases` are Go's own answers, and `tests/live_oracle.rs` asks Go again.
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

use fitout_go_template::Functions;

pub use formats::{from_json_text, from_yaml, json_prefix, to_yaml};
pub use replay::Replay;
pub use world::{Certificate, Environment, Issuer, Request};

use declare::Declare;

thread_local! {
    /// The functions that know nothing of the world: made once.
    static SHARED: Rc<Functions> = {
        let mut functions = Functions::default();
        let mut declare = Declare::new(&mut functions);
        value::add(&mut declare);
        text::add(&mut declare);
        list::add(&mut declare);
        map::add(&mut declare);
        number::add(&mut declare);
        pattern::add(&mut declare);
        Rc::new(functions)
    };
}

/// All functions that need no chart.
pub fn functions(world: &Rc<dyn Environment>) -> Functions {
    let mut functions = Functions::over(SHARED.with(Rc::clone));
    let mut declare = Declare::new(&mut functions);
    formats::add(&mut declare, world);
    date::add(&mut declare, world);
    secret::add(&mut declare, world);
    functions
}
