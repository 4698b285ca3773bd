//! Addresses of schemas, and pointers into them.

use std::borrow::Cow;
use std::fmt::Write;

/// An address, and what comes behind its `#`, decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    pub(crate) url: String,
    pub(crate) fragment: String,
}

/// Where a reference leads, from a base.
pub(crate) fn joined(base: &str, reference: &str) -> Result<Reference, String> {
    let (relative, fragment) = split(reference);
    let fragment = decoded(fragment).ok_or_else(|| {
        let reference = fitout_go_template::quote(reference.as_bytes());
        format!("error in parsing {reference}: invalid URL escape")
    })?;
    Ok(Reference { url: resolved(base, relative), fragment })
}

/// What comes before the `#`, and what comes behind it.
pub(crate) fn split(text: &str) -> (&str, &str) {
    text.split_once('#').unwrap_or((text, ""))
}

fn scheme(url: &str) -> Option<&str> {
    let (scheme, _) = url.split_once(':')?;
    let mut bytes = scheme.bytes();
    let first = bytes.next()?.is_ascii_alphabetic();
    (first && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))).then_some(scheme)
}

/// RFC 3986, as far as schemas need it.
fn resolved(base: &str, relative: &str) -> String {
    if relative.is_empty() || scheme(relative).is_some() {
        return if relative.is_empty() { base } else { relative }.to_owned();
    }
    let Some(scheme) = scheme(base) else { return relative.to_owned() };
    let rest = &base[scheme.len() + 1..];
    let Some(hierarchy) = rest.strip_prefix("//") else {
        // Such as a URN, which nothing is relative to.
        return base.to_owned();
    };
    if let Some(authority) = relative.strip_prefix("//") {
        return format!("{scheme}://{authority}");
    }
    let (authority, path) = hierarchy.find('/').map_or((hierarchy, ""), |slash| hierarchy.split_at(slash));
    let path = path.split('?').next().unwrap_or(path);
    let (relative, query) = relative.find('?').map_or((relative, ""), |mark| relative.split_at(mark));
    let merged = if relative.starts_with('/') {
        relative.to_owned()
    } else {
        let directory = path.rfind('/').map_or("/", |slash| &path[..=slash]);
        format!("{directory}{relative}")
    };
    let mut parts: Vec<&str> = Vec::new();
    let mut ends_in_directory = false;
    for part in merged.split('/').skip(1) {
        ends_in_directory = matches!(part, "." | "..");
        match part {
            "." => {}
            ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    let slash = if ends_in_directory && !parts.is_empty() { "/" } else { "" };
    format!("{scheme}://{authority}/{}{slash}{query}", parts.join("/"))
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, others)) = rest.split_first() {
        if *first == b'%' {
            let digits = str::from_utf8(others.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &others[2..];
        } else {
            bytes.push(*first);
            rest = others;
        }
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// A pointer as it is written behind a `#`.
pub(crate) fn encoded(pointer: &str) -> String {
    let mut text = String::with_capacity(pointer.len());
    for byte in pointer.bytes() {
        // As Go escapes a part of a path, and the slashes between them.
        if byte.is_ascii_alphanumeric() || b"/-_.~$&+=:@".contains(&byte) {
            text.push(byte.into());
        } else {
            // A string takes whatever is written to it.
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

/// A key as a part of a pointer.
pub(crate) fn escaped(key: &str) -> Cow<'_, str> {
    if key.contains(['~', '/']) { key.replace('~', "~0").replace('/', "~1").into() } else { key.into() }
}

/// What a pointer leads to.
pub(crate) fn lookup<'d>(
    document: &'d serde_json::Value,
    url: &str,
    pointer: &str,
) -> Result<&'d serde_json::Value, String> {
    let mut value = document;
    let shown = || fitout_go_template::quote(format!("{url}#{}", encoded(pointer)).as_bytes());
    for part in pointer.split('/').skip(1) {
        let key = unescaped(part).ok_or_else(|| format!("invalid json-pointer {}", shown()))?;
        let inner = match value {
            serde_json::Value::Object(object) => object.get(&*key),
            serde_json::Value::Array(items) => key.parse::<usize>().ok().and_then(|place| items.get(place)),
            _ => None,
        };
        value = inner.ok_or_else(|| format!("json-pointer in {} not found", shown()))?;
    }
    Ok(value)
}

fn unescaped(part: &str) -> Option<Cow<'_, str>> {
    if !part.contains('~') {
        return Some(part.into());
    }
    let mut text = String::with_capacity(part.len());
    let mut chars = part.chars();
    while let Some(c) = chars.next() {
        text.push(match c {
            '~' => match chars.next()? {
                '0' => '~',
                '1' => '/',
                _ => return None,
            },
            other => other,
        });
    }
    Some(text.into())
}
