//! A world of which everything is known but the keys that it makes.

use std::rc::Rc;

use anyhow::{Context, Result};
use fitout_go_template::{MissingKey, Set, Value};
use fitout_helm_functions::{Certificate, Environment, Replay, Request};

#[allow(dead_code, reason = "one of the two test programs asks only the machine")]
/// Random bytes from a stream, and a clock that stands still.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) stream: Replay,
    pub(crate) now: i64,
}

impl Environment for Known {
    fn fill(&self, bytes: &mut [u8]) {
        self.stream.fill(bytes);
    }

    fn now(&self) -> (i64, u32) {
        (self.now, 0)
    }

    fn zone(&self) -> String {
        "UTC".to_owned()
    }

    fn certificate(&self, request: &Request<'_>) -> Result<Certificate, String> {
        fitout_environment::issue(self, request)
    }
}

/// What a template makes of a value in a world.
pub(crate) fn run(world: impl Environment + 'static, text: &str, data: &Value) -> Result<String> {
    let world: Rc<dyn Environment> = Rc::new(world);
    let functions = fitout_helm_functions::functions(&world);
    let set = Set::new("root", Rc::new(functions), MissingKey::Zero);
    set.parse("t", text)?;
    String::from_utf8(set.execute(b"t", data)?.to_vec()).context("what is printed is a text")
}
