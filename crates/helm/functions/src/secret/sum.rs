//! Sums over texts.

use fitout_go_template::{Type, Value};
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};

use crate::argument::text;
use crate::declare::Declare;

pub(super) fn add(declare: &mut Declare<'_>) {
    let mut sum = |name: &str, of: fn(&[u8]) -> String| {
        declare.plain(&[name], &[Type::String], Type::String, move |arguments| Value::string(of(text(&arguments[0]))));
    };
    sum("sha1sum", |text| hex(&Sha1::digest(text)));
    sum("sha256sum", |text| hex(&Sha256::digest(text)));
    sum("sha512sum", |text| hex(&Sha512::digest(text)));
    sum("adler32sum", |text| adler32(text).to_string());
}

pub(super) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble)]);
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.extend([digit(byte >> 4), digit(byte & 15)]);
    }
    text
}

fn adler32(text: &[u8]) -> u32 {
    const PRIME: u32 = 65521;
    // As many bytes as can be added before the sum leaves 32 bits.
    const AT_ONCE: usize = 5552;
    let (mut low, mut high) = (1, 0);
    for chunk in text.chunks(AT_ONCE) {
        for byte in chunk {
            low += u32::from(*byte);
            high += low;
        }
        (low, high) = (low % PRIME, high % PRIME);
    }
    high << 16 | low
}
