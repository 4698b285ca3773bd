//! Base64 and base32. What cannot be decoded is answered with the reason.

use fitout_go_template::Value;

use super::TEXT;
use crate::argument::text;
use crate::declare::Declare;

pub(super) fn add(declare: &mut Declare<'_>) {
    declare.plain(&["b64enc"], &[TEXT], TEXT, |a| Value::string(encode::<6>(BASE64, 4, text(&a[0]))));
    declare.plain(&["b32enc"], &[TEXT], TEXT, |a| Value::string(encode::<5>(BASE32, 8, text(&a[0]))));
    declare.plain(&["b64dec"], &[TEXT], TEXT, |a| decoded("base64", decode_base64(text(&a[0]))));
    declare.plain(&["b32dec"], &[TEXT], TEXT, |a| decoded("base32", decode_base32(text(&a[0]))));
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// Digits of so many bits, filled up to a multiple of so many digits.
fn encode<const BITS: u32>(alphabet: &[u8], group: usize, bytes: &[u8]) -> Vec<u8> {
    let mask = (1_usize << BITS) - 1;
    let mut digits = Vec::with_capacity(bytes.len() * 8 / BITS as usize + group);
    let (mut pending, mut bits) = (0_usize, 0);
    for byte in bytes {
        pending = pending << 8 | usize::from(*byte);
        bits += 8;
        while bits >= BITS {
            bits -= BITS;
            digits.push(alphabet[pending >> bits & mask]);
        }
        pending &= mask;
    }
    if bits > 0 {
        digits.push(alphabet[pending << (BITS - bits) & mask]);
    }
    digits.resize(digits.len().next_multiple_of(group), b'=');
    digits
}

/// Where data is not what it should be.
pub(crate) struct Corrupt(pub(crate) usize);

fn decoded(name: &str, result: Result<Vec<u8>, Corrupt>) -> Value {
    result.map_or_else(|Corrupt(at)| Value::string(format!("illegal {name} data at input byte {at}")), Value::string)
}

fn digit64(byte: u8) -> Option<u32> {
    Some(match byte {
        b'A'..=b'Z' => u32::from(byte - b'A'),
        b'a'..=b'z' => u32::from(byte - b'a') + 26,
        b'0'..=b'9' => u32::from(byte - b'0') + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    })
}

/// Groups of four digits, of which the last may end with `=`; ends of lines count nowhere.
pub(crate) fn decode_base64(text: &[u8]) -> Result<Vec<u8>, Corrupt> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut group, mut digits) = (0_u32, 0);
    let mut at = 0;
    while at < text.len() {
        let byte = text[at];
        at += 1;
        match digit64(byte) {
            Some(digit) => {
                group = group << 6 | digit;
                digits += 1;
                if digits == 4 {
                    bytes.extend_from_slice(&group.to_be_bytes()[1..]);
                    (group, digits) = (0, 0);
                }
            }
            None if matches!(byte, b'\n' | b'\r') => {}
            None if byte == b'=' => {
                end_base64(text, at, digits)?;
                let last = (group << (6 * (4 - digits))).to_be_bytes();
                bytes.extend_from_slice(&last[1..digits]);
                return Ok(bytes);
            }
            None => return Err(Corrupt(at - 1)),
        }
    }
    if digits == 0 { Ok(bytes) } else { Err(Corrupt(at - digits)) }
}

/// Whether what comes after the first `=` is what should be there.
fn end_base64(text: &[u8], mut at: usize, digits: usize) -> Result<(), Corrupt> {
    let skip = |at: &mut usize| {
        while matches!(text.get(*at), Some(b'\n' | b'\r')) {
            *at += 1;
        }
    };
    match digits {
        0 | 1 => return Err(Corrupt(at - 1)),
        2 => {
            skip(&mut at);
            match text.get(at) {
                None => return Err(Corrupt(text.len())),
                Some(b'=') => at += 1,
                Some(_) => return Err(Corrupt(at - 1)),
            }
        }
        _ => {}
    }
    skip(&mut at);
    if at < text.len() { Err(Corrupt(at)) } else { Ok(()) }
}

/// Groups of eight digits, of which the last may end with `=`; ends of lines are taken out first.
fn decode_base32(text: &[u8]) -> Result<Vec<u8>, Corrupt> {
    let text: Vec<u8> = text.iter().copied().filter(|byte| !matches!(byte, b'\n' | b'\r')).collect();
    let mut bytes = Vec::with_capacity(text.len() / 8 * 5);
    for (number, group) in text.chunks(8).enumerate() {
        let begin = number * 8;
        let (mut pending, mut digits) = (0_u64, 0);
        for (place, byte) in group.iter().enumerate() {
            let after = text.len() - begin - place - 1;
            if *byte == b'=' && place >= 2 && after < 8 {
                end_base32(&text, begin + place, place)?;
                break;
            }
            pending = pending << 5 | digit32(*byte).ok_or(Corrupt(begin + place))?;
            digits += 1;
        }
        if digits == group.len() && digits < 8 {
            return Err(Corrupt(begin));
        }
        let whole = (pending << (24 + 5 * (8 - digits))).to_be_bytes();
        bytes.extend_from_slice(&whole[..digits * 5 / 8]);
        if digits < 8 {
            // Whatever comes after the padding is not read.
            break;
        }
    }
    Ok(bytes)
}

fn digit32(byte: u8) -> Option<u64> {
    match byte {
        b'A'..=b'Z' => Some(u64::from(byte - b'A')),
        b'2'..=b'7' => Some(u64::from(byte - b'2') + 26),
        _ => None,
    }
}

/// Whether the padding that begins here, after so many digits, is what it should be.
fn end_base32(text: &[u8], at: usize, digits: usize) -> Result<(), Corrupt> {
    let rest = &text[at + 1..];
    if rest.len() + digits < 7 {
        return Err(Corrupt(text.len()));
    }
    if let Some(wrong) = rest.iter().take(7 - digits).position(|byte| *byte != b'=') {
        return Err(Corrupt(at + wrong));
    }
    if matches!(digits, 1 | 3 | 6) { Err(Corrupt(at)) } else { Ok(()) }
}
