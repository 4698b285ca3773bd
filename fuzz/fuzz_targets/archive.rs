//! Any bytes are a chart or are refused, and so is any archive once it is unpacked.
#![no_main]

use std::io::Write;

use fitout_helm_chart::Chart;
use flate2::Compression;
use flate2::write::GzEncoder;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = Chart::from_archive(bytes, &mut Vec::new());
    // Chance alone does not find the sum at the end of what is packed.
    let mut packed = GzEncoder::new(Vec::new(), Compression::none());
    packed.write_all(bytes).expect("memory can be written to");
    let packed = packed.finish().expect("memory can be written to");
    let _ = Chart::from_archive(&packed, &mut Vec::new());
});
