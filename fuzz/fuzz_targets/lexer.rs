//! Any text is a template or is refused.
#![no_main]

use std::rc::Rc;

use fitout_go_template::{Functions, MissingKey, Set};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let set = Set::new("root", Rc::new(Functions::default()), MissingKey::Zero);
    let _ = set.parse_only("t", text);
});
