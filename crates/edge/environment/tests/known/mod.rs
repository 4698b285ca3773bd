//! An environment with a fixed clock and known random bytes; only the keys it generates are random.

use std::rc::Rc;

use anyhow::{Context, Result};
use fitout_go_template::{MissingKey, Set, Value};
use fitout_helm_functions::{Certificate, Environment, Replay, Request};

#[allow(dead_code, reason = "one of the two test programs uses only the host's environment")]
/// Random bytes from a stream, and a fixed clock.
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
        fitout_environment::issue(self, request).map_err(|error| error.to_string())
    }
}

/// Renders a template in an environment.
pub(crate) fn run(environment: impl Environment + 'static, text: &str, data: &Value) -> Result<String> {
    let environment: Rc<dyn Environment> = Rc::new(environment);
    let functions = fitout_helm_functions::functions(&environment);
    let set = Set::new("root", Rc::new(functions), MissingKey::Zero);
    set.parse("t", text)?;
    String::from_utf8(set.execute(b"t", data)?.to_vec()).context("the output is UTF-8")
}
