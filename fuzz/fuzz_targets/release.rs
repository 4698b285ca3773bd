//! Any bytes are a release record or are refused, and so is what is within one.
#![no_main]

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = fitout_helm_release::decode(text);
    }
    if let Ok(release) = fitout_helm_release::decode(&STANDARD.encode(bytes)) {
        let _ = fitout_helm_release::encode(&release);
    }
});
