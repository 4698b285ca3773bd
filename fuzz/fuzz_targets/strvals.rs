//! Any flag sets values or is refused.
#![no_main]

use fitout_helm_chart::values::UserValues;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let all = || vec![text.to_owned()];
    for asked in [
        UserValues { set: all(), ..UserValues::default() },
        UserValues { set_string: all(), ..UserValues::default() },
        UserValues { set_json: all(), ..UserValues::default() },
        UserValues { set_literal: all(), ..UserValues::default() },
        UserValues { set_file: all(), ..UserValues::default() },
    ] {
        let _ = asked.merged(&mut |_| Ok(b"content".to_vec()));
    }
});
