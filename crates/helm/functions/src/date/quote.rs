//! How Go's `time` quotes what it could not read: with the bytes of all that is not ASCII.

use std::fmt::Write;

pub(crate) fn quote(text: &[u8]) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for byte in text {
        match byte {
            b'"' | b'\\' => quoted.extend(['\\', char::from(*byte)]),
            b' '..0x80 => quoted.push(char::from(*byte)),
            // A string has room for everything.
            _ => drop(write!(quoted, "\\x{byte:02x}")),
        }
    }
    quoted.push('"');
    quoted
}
