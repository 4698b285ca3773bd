//! Addresses of pages, as Go's `net/url` reads them.

use fitout_go_template::quote;

use super::{Checked, address, refuse};

pub(super) fn absolute(text: &str) -> Checked {
    if parsed(text)?.scheme { Ok(()) } else { refuse("relative url") }
}

pub(super) fn reference(text: &str) -> Checked {
    if text.contains('\\') {
        return refuse("contains \\");
    }
    parsed(text).map(|_| ())
}

pub(super) fn template(text: &str) -> Checked {
    let path = parsed(text)?.path;
    // Go keeps a path as it is written only where it would write it otherwise.
    for part in path.split('/') {
        let mut open = false;
        for c in part.chars().filter(|c| matches!(c, '{' | '}')) {
            if (c == '{') == open {
                return refuse("nested curly braces");
            }
            open = !open;
        }
        if open {
            return refuse("no matching closing brace");
        }
    }
    Ok(())
}

/// What matters of an address.
struct Url<'t> {
    scheme: bool,
    path: &'t str,
}

fn parsed(text: &str) -> Result<Url<'_>, String> {
    let (before, fragment) = text.split_once('#').unwrap_or((text, ""));
    let fail = |why: String| format!("parse {}: {why}", quote(text.as_bytes()));
    if text.bytes().any(|byte| byte < b' ' || byte == 0x7F) {
        return Err(fail("net/url: invalid control character in URL".to_owned()));
    }
    let (scheme, rest) = scheme(before).map_err(&fail)?;
    let (rest, _) = rest.split_once('?').unwrap_or((rest, ""));
    if scheme && !rest.starts_with('/') {
        return Ok(Url { scheme, path: "" });
    }
    if !scheme && rest.split('/').next().is_some_and(|first| first.contains(':')) {
        return Err(fail("first path segment in URL cannot contain colon".to_owned()));
    }
    let mut path = rest;
    if let Some(hierarchy) = rest.strip_prefix("//").filter(|_| scheme || !rest.starts_with("///")) {
        let (authority, after) = hierarchy.find('/').map_or((hierarchy, ""), |slash| hierarchy.split_at(slash));
        host(authority).map_err(&fail)?;
        path = after;
    }
    escapes(path).map_err(&fail)?;
    escapes(fragment).map_err(&fail)?;
    Ok(Url { scheme, path })
}

fn scheme(text: &str) -> Result<(bool, &str), String> {
    for (place, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if place > 0 => {}
            b':' if place == 0 => return Err("missing protocol scheme".to_owned()),
            b':' => return Ok((true, &text[place + 1..])),
            _ => return Ok((false, text)),
        }
    }
    Ok((false, text))
}

fn host(authority: &str) -> Result<(), String> {
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    if let Some(inner) = host.strip_prefix('[') {
        let Some((address, port)) = inner.rsplit_once(']') else { return Err("missing ']' in host".to_owned()) };
        valid_port(port)?;
        return address::ipv6(address).map_err(|why| format!("invalid ipv6 address: {why}"));
    }
    if let Some(colon) = host.rfind(':') {
        valid_port(&host[colon..])?;
    }
    let allowed = |c: char| !c.is_ascii() || c.is_ascii_alphanumeric() || "-_.~!$&'()*+,;=:[]<>\"%".contains(c);
    match host.chars().find(|c| !allowed(*c)) {
        Some(c) => Err(format!("invalid character {} in host name", quote(c.to_string().as_bytes()))),
        None => escapes(host),
    }
}

fn valid_port(port: &str) -> Result<(), String> {
    let valid =
        port.is_empty() || port.strip_prefix(':').is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_digit()));
    if valid { Ok(()) } else { Err(format!("invalid port {} after host", quote(port.as_bytes()))) }
}

fn escapes(text: &str) -> Result<(), String> {
    for (place, _) in text.match_indices('%') {
        let digits = text.as_bytes().get(place + 1..place + 3);
        if !digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) {
            let shown: String = text[place..].chars().take(3).collect();
            return Err(format!("invalid URL escape {}", quote(shown.as_bytes())));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_go_refuses_is_refused() {
        assert_eq!(absolute("a b"), refuse("relative url"));
        assert_eq!(absolute(":x"), refuse("parse \":x\": missing protocol scheme"));
        assert_eq!(absolute("http://a:b/"), refuse("parse \"http://a:b/\": invalid port \":b\" after host"));
        assert_eq!(reference("a%zz"), refuse("parse \"a%zz\": invalid URL escape \"%zz\""));
        assert_eq!(absolute("https://example.com/a?b#c"), Ok(()));
    }
}
