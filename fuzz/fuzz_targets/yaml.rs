//! Any bytes are YAML or are refused, and what is read can be written.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    if let Ok(value) = fitout_helm_functions::from_yaml(text) {
        let _ = fitout_helm_functions::to_yaml(&value);
    }
    if let Ok(text) = std::str::from_utf8(text) {
        let _ = fitout_go_yaml::from_yaml_strict(text);
    }
});
