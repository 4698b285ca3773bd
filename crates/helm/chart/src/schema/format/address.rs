//! Addresses of machines and people.

use std::net::Ipv6Addr;

use super::{Checked, refuse, shown};

pub(super) fn ipv4(text: &str) -> Checked {
    let groups: Vec<_> = text.split('.').collect();
    if groups.len() != 4 {
        return refuse("expected four decimals");
    }
    for group in groups {
        if group.len() > 1 && group.starts_with('0') {
            return refuse("leading zeros");
        }
        match group.parse::<i64>() {
            Ok(0..=255) => {}
            Ok(_) => return refuse("decimal must be between 0 and 255"),
            Err(error) => {
                use std::num::IntErrorKind::{NegOverflow, PosOverflow};
                let out_of_range = matches!(error.kind(), PosOverflow | NegOverflow);
                let why = if out_of_range { "value out of range" } else { "invalid syntax" };
                return refuse(format!("strconv.Atoi: parsing {}: {why}", fitout_go_template::quote(group.as_bytes())));
            }
        }
    }
    Ok(())
}

pub(super) fn ipv6(text: &str) -> Checked {
    if !text.contains(':') {
        return refuse("missing colon");
    }
    if let Some((address, zone)) = text.split_once('%')
        && address.parse::<Ipv6Addr>().is_ok()
        && !zone.is_empty()
    {
        return refuse("zone id is not a part of ipv6 address");
    }
    match text.parse::<Ipv6Addr>() {
        Ok(_) => Ok(()),
        Err(_) => refuse(format!("ParseAddr({}): unable to parse IP", fitout_go_template::quote(text.as_bytes()))),
    }
}

pub(super) fn hostname(text: &str) -> Checked {
    let text = text.strip_suffix('.').unwrap_or(text);
    if text.len() > 253 {
        return refuse("more than 253 characters long");
    }
    for label in text.split('.') {
        if label.is_empty() || label.len() > 63 {
            return refuse("label must be 1 to 63 characters long");
        }
        if label.starts_with('-') {
            return refuse("label starts with hyphen");
        }
        if label.ends_with('-') {
            return refuse("label ends with hyphen");
        }
        if let Some(c) = label.chars().find(|c| !c.is_ascii_alphanumeric() && *c != '-') {
            return refuse(format!("invalid character {}", shown(c)));
        }
    }
    Ok(())
}

pub(super) fn email(text: &str) -> Checked {
    if text.len() > 254 {
        return refuse("more than 255 characters long");
    }
    let Some((local, domain)) = text.rsplit_once('@') else { return refuse("missing @") };
    if local.len() > 64 {
        return refuse("local part more than 64 characters long");
    }
    local_part(local)?;
    if let Some(inner) = domain.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return match inner.strip_prefix("IPv6:") {
            Some(address) => ipv6(address).map_err(|why| format!("invalid ipv6 address: {why}")),
            None => ipv4(inner).map_err(|why| format!("invalid ipv4 address: {why}")),
        };
    }
    hostname(domain).map_err(|why| format!("invalid domain: {why}"))
}

fn local_part(local: &str) -> Checked {
    if local.len() > 1
        && let Some(inner) = local.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'))
    {
        if inner.contains(['\\', '"']) {
            return refuse("backslash and quote are not allowed within quoted local part");
        }
        return Ok(());
    }
    if local.starts_with('.') {
        return refuse("starts with dot");
    }
    if local.ends_with('.') {
        return refuse("ends with dot");
    }
    if local.contains("..") {
        return refuse("consecutive dots");
    }
    let allowed = |c: char| c.is_ascii_alphanumeric() || ".!#$%&'*+-/=?^_`{|}~".contains(c);
    match local.chars().find(|c| !allowed(*c)) {
        Some(c) => refuse(format!("invalid character {}", shown(c))),
        None => Ok(()),
    }
}
