//! Any bytes are a chart or are refused.
#![no_main]

use fitout_chart::Chart;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = Chart::from_archive(bytes, &mut Vec::new());
});
