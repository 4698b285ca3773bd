//! Addresses: `net/url`.

use std::borrow::Cow;

use fitout_go_template::{Error, Type, Value, quote};
use memchr::{memchr, memmem, memrchr};

use super::{TEXT, network};
use crate::argument::{map, nil_dereference, text};
use crate::declare::Declare;
use crate::value::kind_of;

pub(super) fn add(declare: &mut Declare<'_>) {
    declare.panicking(&["urlParse"], &[TEXT], Type::MAP, |a| {
        let url = Url::parse(text(&a[0])).map_err(|reason| Error::new(format!("unable to parse url: {reason}")))?;
        let hostname = hostname(&url.host).to_vec();
        let userinfo = url.user.as_ref().map(User::written).unwrap_or_default();
        Ok(Value::map([
            ("scheme", Value::string(url.scheme)),
            ("host", Value::string(url.host)),
            ("hostname", Value::string(hostname)),
            ("path", Value::string(url.path)),
            ("query", Value::string(url.query)),
            ("opaque", Value::string(url.opaque)),
            ("fragment", Value::string(url.fragment)),
            ("userinfo", Value::string(userinfo)),
        ]))
    });
    declare.panicking(&["urlJoin"], &[Type::MAP], TEXT, |a| joined(&a[0]));
}

/// An address in its parts, none of them escaped.
#[derive(Default)]
struct Url {
    scheme: Vec<u8>,
    opaque: Vec<u8>,
    user: Option<User>,
    host: Vec<u8>,
    path: Vec<u8>,
    query: Vec<u8>,
    fragment: Vec<u8>,
}

/// Who asks.
struct User {
    name: Vec<u8>,
    password: Option<Vec<u8>>,
}

/// A part of an address, which decides what is escaped in it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Path,
    Host,
    Zone,
    User,
    Fragment,
}

impl Part {
    /// Whether a byte cannot stand for itself.
    fn escapes(self, byte: u8) -> bool {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => false,
            _ if matches!(self, Self::Host | Self::Zone) => !b"!$&'()*+,;=:[]<>\"".contains(&byte),
            b'$' | b'&' | b'+' | b',' | b'/' | b':' | b';' | b'=' | b'?' | b'@' => match self {
                Self::Path => byte == b'?',
                Self::User => matches!(byte, b'@' | b'/' | b'?' | b':'),
                _ => false,
            },
            b'!' | b'(' | b')' | b'*' => self != Self::Fragment,
            _ => true,
        }
    }

    fn escape(self, text: &[u8]) -> Cow<'_, [u8]> {
        if !text.iter().any(|byte| self.escapes(*byte)) {
            return text.into();
        }
        let hex = |digit: u8| b"0123456789ABCDEF"[usize::from(digit)];
        let mut escaped = Vec::with_capacity(text.len() + 16);
        for byte in text {
            if self.escapes(*byte) {
                escaped.extend([b'%', hex(byte >> 4), hex(byte & 15)]);
            } else {
                escaped.push(*byte);
            }
        }
        escaped.into()
    }

    fn unescape(self, text: &[u8]) -> Result<Vec<u8>, String> {
        let mut plain = Vec::with_capacity(text.len());
        let mut rest = text;
        while let Some((byte, after)) = rest.split_first() {
            rest = after;
            if *byte != b'%' {
                if matches!(self, Self::Host | Self::Zone) && byte.is_ascii() && self.escapes(*byte) {
                    return Err(format!("invalid character {} in host name", quote(&[*byte])));
                }
                plain.push(*byte);
                continue;
            }
            let digit = |place: usize| after.get(place).and_then(|byte| char::from(*byte).to_digit(16));
            let escape = &text[text.len() - after.len() - 1..];
            let escape = &escape[..escape.len().min(3)];
            let refuse = || Err(format!("invalid URL escape {}", quote(escape)));
            let (Some(high), Some(low)) = (digit(0), digit(1)) else { return refuse() };
            let decoded = u8::try_from(high << 4 | low).unwrap_or_default();
            match self {
                _ if escape == b"%25" => {}
                // Only what is no ASCII may be escaped there.
                Self::Host if decoded.is_ascii() => return refuse(),
                Self::Zone if decoded != b' ' && Self::Host.escapes(decoded) => return refuse(),
                _ => {}
            }
            plain.push(decoded);
            rest = &after[2..];
        }
        Ok(plain)
    }
}

/// What is before and after the first of a byte.
fn cut(text: &[u8], byte: u8) -> (&[u8], Option<&[u8]>) {
    memchr(byte, text).map_or((text, None), |at| (&text[..at], Some(&text[at + 1..])))
}

impl Url {
    /// `url.Parse`.
    fn parse(text: &[u8]) -> Result<Self, String> {
        let (before, fragment) = cut(text, b'#');
        let said = |whole: &[u8], reason: String| format!("parse {}: {reason}", quote(whole));
        let mut url = Self::parse_before_fragment(before).map_err(|reason| said(before, reason))?;
        if let Some(fragment) = fragment {
            url.fragment = Part::Fragment.unescape(fragment).map_err(|reason| said(text, reason))?;
        }
        Ok(url)
    }

    fn parse_before_fragment(text: &[u8]) -> Result<Self, String> {
        let mut url = Self::default();
        if text.iter().any(u8::is_ascii_control) {
            return Err("net/url: invalid control character in URL".to_owned());
        }
        if text == b"*" {
            url.path = text.to_vec();
            return Ok(url);
        }
        let (scheme, rest) = scheme(text)?;
        url.scheme = scheme.to_ascii_lowercase();
        let (rest, query) = cut(rest, b'?');
        url.query = query.unwrap_or_default().to_vec();
        let mut rest = rest;
        if !rest.starts_with(b"/") {
            if !url.scheme.is_empty() {
                url.opaque = rest.to_vec();
                return Ok(url);
            }
            if cut(rest, b'/').0.contains(&b':') {
                return Err("first path segment in URL cannot contain colon".to_owned());
            }
        }
        let has_authority = !url.scheme.is_empty() || !rest.starts_with(b"///");
        if let Some(authority) = rest.strip_prefix(b"//").filter(|_| has_authority) {
            let end = memchr(b'/', authority).unwrap_or(authority.len());
            rest = &authority[end..];
            (url.user, url.host) = parse_authority(&url.scheme, &authority[..end])?;
        }
        url.path = Part::Path.unescape(rest)?;
        Ok(url)
    }

    /// The address as text. A host that is empty is written where there is a path.
    fn written(&self) -> Vec<u8> {
        let mut all = Vec::new();
        let mut push = |bytes: &[u8]| all.extend_from_slice(bytes);
        if !self.scheme.is_empty() {
            push(&self.scheme);
            push(b":");
        }
        if self.opaque.is_empty() {
            let has_host = !self.host.is_empty();
            if has_host || self.user.is_some() || !self.scheme.is_empty() && !self.path.is_empty() {
                push(b"//");
            }
            if let Some(user) = &self.user {
                push(&user.written());
                push(b"@");
            }
            push(&Part::Host.escape(&self.host));
            let path = if self.path == b"*" { self.path[..].into() } else { Part::Path.escape(&self.path) };
            if has_host && !path.is_empty() && !path.starts_with(b"/") {
                push(b"/");
            }
            if all.is_empty() && cut(&path, b'/').0.contains(&b':') {
                all.extend_from_slice(b"./");
            }
            all.extend_from_slice(&path);
        } else {
            push(&self.opaque);
        }
        if !self.query.is_empty() {
            all.push(b'?');
            all.extend_from_slice(&self.query);
        }
        if !self.fragment.is_empty() {
            all.push(b'#');
            all.extend_from_slice(&Part::Fragment.escape(&self.fragment));
        }
        all
    }
}

impl User {
    fn written(&self) -> Vec<u8> {
        let mut written = Part::User.escape(&self.name).into_owned();
        if let Some(password) = &self.password {
            written.push(b':');
            written.extend_from_slice(&Part::User.escape(password));
        }
        written
    }
}

/// The scheme that a text begins with, and what is after it.
fn scheme(text: &[u8]) -> Result<(&[u8], &[u8]), String> {
    let belongs = |(at, byte): (usize, &u8)| {
        byte.is_ascii_alphabetic() || at > 0 && (byte.is_ascii_digit() || b"+-.".contains(byte))
    };
    let end = text.iter().enumerate().position(|byte| !belongs(byte));
    match end.map(|end| (end, text[end])) {
        Some((0, b':')) => Err("missing protocol scheme".to_owned()),
        Some((end, b':')) => Ok((&text[..end], &text[end + 1..])),
        _ => Ok((b"", text)),
    }
}

fn parse_authority(scheme: &[u8], authority: &[u8]) -> Result<(Option<User>, Vec<u8>), String> {
    let Some(at) = memrchr(b'@', authority) else { return Ok((None, parse_host(scheme, authority)?)) };
    let host = parse_host(scheme, &authority[at + 1..])?;
    let userinfo = &authority[..at];
    let valid = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(byte);
    if !userinfo.iter().all(valid) {
        return Err("net/url: invalid userinfo".to_owned());
    }
    let (name, password) = cut(userinfo, b':');
    let name = Part::User.unescape(name)?;
    let password = password.map(|password| Part::User.unescape(password)).transpose()?;
    Ok((Some(User { name, password }), host))
}

fn parse_host(scheme: &[u8], host: &[u8]) -> Result<Vec<u8>, String> {
    let bad_port = |port: &[u8]| Err(format!("invalid port {} after host", quote(port)));
    match (memrchr(b'[', host), memchr(b':', host)) {
        (Some(1..), _) => return Err("invalid IP-literal".to_owned()),
        (Some(0), _) => {
            let end = memrchr(b']', host).ok_or("missing ']' in host")?;
            let port = &host[end + 1..];
            if !is_port(port) {
                return bad_port(port);
            }
            let port = Part::Host.unescape(port)?;
            let literal = parse_literal(&host[1..end])?;
            return Ok([b"[", &*literal, b"]", &port].concat());
        }
        (None, Some(colon)) => {
            // Lists of hosts with ports are not refused where the scheme may have them.
            let web = scheme == b"http" || scheme == b"https";
            let colon = if web { colon } else { memrchr(b':', host).unwrap_or(colon) };
            if !is_port(&host[colon..]) {
                return bad_port(&host[colon..]);
            }
        }
        (None, None) => {}
    }
    Part::Host.unescape(host)
}

/// What is between brackets: an IPv6 address, which may have a zone.
fn parse_literal(host: &[u8]) -> Result<Vec<u8>, String> {
    let zone = memmem::find(host, b"%25").unwrap_or(host.len());
    let mut literal = Part::Host.unescape(&host[..zone])?;
    literal.extend(Part::Zone.unescape(&host[zone..])?);
    match network::parse_address(&literal).map_err(|reason| format!("invalid host: {reason}"))? {
        network::Family::V4 => Err("invalid IP-literal".to_owned()),
        network::Family::V6 => Ok(literal),
    }
}

/// Whether it is nothing, or a colon and digits, which may be none.
fn is_port(text: &[u8]) -> bool {
    match text {
        [] => true,
        [b':', digits @ ..] => digits.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

/// The host without its port and its brackets.
fn hostname(host: &[u8]) -> &[u8] {
    let host = match memrchr(b':', host) {
        Some(colon) if is_port(&host[colon..]) => &host[..colon],
        _ => host,
    };
    host.strip_prefix(b"[").and_then(|inner| inner.strip_suffix(b"]")).unwrap_or(host)
}

/// The address that a map describes, in the words of `urlParse`.
fn joined(parts: &Value) -> Result<Value, Error> {
    let parts = map(parts);
    let part = |name: &str| match parts.get(name.as_bytes()) {
        None => Ok(Vec::new()),
        Some(Value::Nil) => Err(nil_dereference()),
        Some(value) => {
            if let Value::String(text) = value.underlying() {
                return Ok(text.to_vec());
            }
            let kind = kind_of(&value);
            Err(Error::new(format!("unable to parse {name} key, must be of type string, but {kind} found")))
        }
    };
    let mut url = Url {
        scheme: part("scheme")?,
        host: part("host")?,
        path: part("path")?,
        query: part("query")?,
        opaque: part("opaque")?,
        fragment: part("fragment")?,
        user: None,
    };
    let userinfo = part("userinfo")?;
    if !userinfo.is_empty() {
        let parsed = Url::parse(&[b"proto://", &*userinfo, b"@host"].concat());
        let refuse = |reason| Error::new(format!("unable to parse userinfo in dict: {reason}"));
        url.user = parsed.map_err(refuse)?.user;
    }
    Ok(Value::string(url.written()))
}
