//! A template with all functions is executed to an end.
#![no_main]

use std::rc::Rc;

use fitout_go_template::{MissingKey, Set, Value};
use fitout_helm_functions::{Replay, World};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let world: Rc<dyn World> = Rc::new(Replay::default());
    let set = Set::new("root", Rc::new(fitout_helm_functions::functions(&world)), MissingKey::Zero);
    if set.parse("t", text).is_ok() {
        let data =
            Value::map([("a", Value::list([Value::int(1), "x".into()])), ("b", Value::map([("c", Value::Nil)]))]);
        let _ = set.execute(b"t", &data);
    }
});
