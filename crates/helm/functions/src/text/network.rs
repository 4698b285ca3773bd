//! Addresses of the network: `netip.ParseAddr`.

use fitout_go_template::quote;
use memchr::memchr;

/// What an address is.
pub(super) enum Family {
    V4,
    V6,
}

/// Which family an address is of, or why it is none.
pub(super) fn parse_address(text: &[u8]) -> Result<Family, String> {
    match text.iter().find(|byte| matches!(byte, b'.' | b':' | b'%')) {
        Some(b'.') => parse_v4(text, text).map(|()| Family::V4),
        Some(b':') => parse_v6(text).map(|()| Family::V6),
        Some(_) => Err(refused(text, "missing IPv6 address", b"")),
        None => Err(refused(text, "unable to parse IP", b"")),
    }
}

fn refused(text: &[u8], reason: &str, at: &[u8]) -> String {
    let at = if at.is_empty() { String::new() } else { format!(" (at {})", quote(at)) };
    format!("ParseAddr({}): {reason}{at}", quote(text))
}

/// Four numbers, in a part of a whole.
fn parse_v4(whole: &[u8], part: &[u8]) -> Result<(), String> {
    let refuse = |reason: &str, at: &[u8]| Err(refused(whole, reason, at));
    let (mut value, mut digits, mut fields) = (0_u32, 0, 0);
    for (at, byte) in part.iter().enumerate() {
        match byte {
            b'0'..=b'9' => {
                if digits == 1 && value == 0 {
                    return refuse("IPv4 field has octet with leading zero", b"");
                }
                value = value * 10 + u32::from(byte - b'0');
                digits += 1;
                if value > 255 {
                    return refuse("IPv4 field has value >255", b"");
                }
            }
            b'.' => {
                if at == 0 || at == part.len() - 1 || part[at - 1] == b'.' {
                    return refuse("IPv4 field must have at least one digit", &part[at..]);
                }
                if fields == 3 {
                    return refuse("IPv4 address too long", b"");
                }
                (value, digits, fields) = (0, 0, fields + 1);
            }
            _ => return refuse("unexpected character", &part[at..]),
        }
    }
    if fields < 3 { refuse("IPv4 address too short", b"") } else { Ok(()) }
}

/// Groups of hexadecimal digits, of which some may be left out.
fn parse_v6(whole: &[u8]) -> Result<(), String> {
    let refuse = |reason: &str, at: &[u8]| Err(refused(whole, reason, at));
    let mut rest = match memchr(b'%', whole) {
        Some(at) if at + 1 == whole.len() => return refuse("zone must be a non-empty string", b""),
        at => &whole[..at.unwrap_or(whole.len())],
    };
    let (mut ellipsis, mut groups) = (false, 0);
    if let Some(after) = rest.strip_prefix(b"::") {
        if after.is_empty() {
            return Ok(());
        }
        (ellipsis, rest) = (true, after);
    }
    while groups < 8 {
        let digits = rest.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        match digits {
            0 => return refuse("each colon-separated field must have at least one digit", rest),
            1..=4 => {}
            _ => return refuse("each group must have 4 or less digits", rest),
        }
        if rest.get(digits) == Some(&b'.') {
            if !ellipsis && groups != 6 {
                return refuse("embedded IPv4 address must replace the final 2 fields of the address", rest);
            }
            if groups > 6 {
                return refuse("too many hex fields to fit an embedded IPv4 at the end of the address", rest);
            }
            parse_v4(whole, rest)?;
            (rest, groups) = (b"", groups + 2);
            break;
        }
        groups += 1;
        rest = &rest[digits..];
        match rest {
            [] => break,
            [b':'] => return refuse("colon must be followed by more characters", rest),
            [b':', b':', ..] if ellipsis => return refuse("multiple :: in address", &rest[1..]),
            [b':', b':', after @ ..] => {
                (ellipsis, rest) = (true, after);
                if rest.is_empty() {
                    break;
                }
            }
            [b':', after @ ..] => rest = after,
            _ => return refuse("unexpected character, want colon", rest),
        }
    }
    match (rest.is_empty(), groups, ellipsis) {
        (false, ..) => refuse("trailing garbage after address", rest),
        (_, ..8, false) => refuse("address string too short", b""),
        (_, 8.., true) => refuse("the :: must expand to at least one field of zeros", b""),
        _ => Ok(()),
    }
}
