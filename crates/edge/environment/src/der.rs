//! The subset of DER for keys and certificates.

pub(crate) const BOOLEAN: u8 = 0x01;
pub(crate) const INTEGER: u8 = 0x02;
pub(crate) const BIT_STRING: u8 = 0x03;
pub(crate) const OCTET_STRING: u8 = 0x04;
pub(crate) const NULL: u8 = 0x05;
pub(crate) const OID: u8 = 0x06;
pub(crate) const UTF8_STRING: u8 = 0x0C;
pub(crate) const PRINTABLE_STRING: u8 = 0x13;
pub(crate) const UTC_TIME: u8 = 0x17;
pub(crate) const GENERALIZED_TIME: u8 = 0x18;
pub(crate) const SEQUENCE: u8 = 0x30;
pub(crate) const SET: u8 = 0x31;

/// Encodes a value: tag, length and content.
pub(crate) fn value(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut written = vec![tag];
    let length = content.len().to_be_bytes();
    let digits = &length[length.iter().take_while(|byte| **byte == 0).count()..];
    match digits {
        [] => written.push(0),
        [short @ ..0x80] => written.push(*short),
        long => {
            written.push(0x80 | u8::try_from(long.len()).unwrap_or_default());
            written.extend_from_slice(long);
        }
    }
    written.extend_from_slice(content);
    written
}

/// Encodes a sequence of encoded values.
pub(crate) fn sequence(values: &[&[u8]]) -> Vec<u8> {
    value(SEQUENCE, &values.concat())
}

/// Encodes a non-negative integer in its shortest form.
pub(crate) fn integer(bytes: &[u8]) -> Vec<u8> {
    let digits = &bytes[bytes.iter().take_while(|byte| **byte == 0).count()..];
    let positive = digits.first().is_none_or(|first| *first >= 0x80);
    value(INTEGER, &[&[0][..usize::from(positive)], digits].concat())
}

/// Encodes a bit string with this many unused bits at its end.
pub(crate) fn bits(unused: u8, bytes: &[u8]) -> Vec<u8> {
    value(BIT_STRING, &[&[unused], bytes].concat())
}

/// Decodes the first value: its tag, its content, and the bytes after it.
pub(crate) fn first(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, rest) = bytes.split_first()?;
    let (length, rest) = match rest.split_first()? {
        (short @ ..0x80, rest) => (usize::from(*short), rest),
        (long, rest) => {
            let (digits, rest) = rest.split_at_checked(usize::from(long & 0x7F))?;
            (digits.iter().fold(0_usize, |length, digit| length << 8 | usize::from(*digit)), rest)
        }
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((*tag, content, rest))
}
