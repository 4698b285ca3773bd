//! Keys of many parts, as they are written.

/// The parts of a key, with dots between them; in quotes where that is needed.
pub(crate) fn joined<K: AsRef<[u8]>>(parts: &[K]) -> Vec<u8> {
    let mut all = Vec::new();
    for (place, part) in parts.iter().enumerate() {
        if place > 0 {
            all.push(b'.');
        }
        push_part(&mut all, part.as_ref());
    }
    all
}

/// The same, of keys that are text.
pub(crate) fn joined_text<K: AsRef<[u8]>>(parts: &[K]) -> String {
    String::from_utf8_lossy(&joined(parts)).into_owned()
}

/// Pushes a part of a key, in quotes where that is needed.
pub(crate) fn push_part(into: &mut Vec<u8>, part: &[u8]) {
    if !part.is_empty() && part.iter().copied().all(is_bare) {
        into.extend_from_slice(part);
    } else {
        push_quoted(into, part);
    }
}

/// Pushes a text in quotes.
pub(crate) fn push_quoted(into: &mut Vec<u8>, text: &[u8]) {
    into.push(b'"');
    for byte in text {
        match byte {
            b'"' => into.extend_from_slice(b"\\\""),
            b'\\' => into.extend_from_slice(b"\\\\"),
            8 => into.extend_from_slice(b"\\b"),
            b'\t' => into.extend_from_slice(b"\\t"),
            b'\n' => into.extend_from_slice(b"\\n"),
            12 => into.extend_from_slice(b"\\f"),
            b'\r' => into.extend_from_slice(b"\\r"),
            0..0x20 | 0x7f => into.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            other => into.push(*other),
        }
    }
    into.push(b'"');
}

/// Whether a character may be in a key without quotes.
pub(crate) fn is_bare(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}
