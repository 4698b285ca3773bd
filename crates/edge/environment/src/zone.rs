//! The name of the local time zone.

use std::path::Path;
use std::{env, fs};

/// The name of the local time zone, from where Go reads the zone: `TZ`, or the target of `/etc/localtime`.
pub(crate) fn local() -> String {
    let name = match env::var("TZ") {
        Ok(zone) => zone.strip_prefix(':').unwrap_or(&zone).to_owned(),
        Err(_) => from_link().or_else(from_file).unwrap_or_default(),
    };
    match name.split_once("zoneinfo/") {
        Some((_, name)) => name.to_owned(),
        None if name.is_empty() => "UTC".to_owned(),
        None => name,
    }
}

fn from_link() -> Option<String> {
    fs::canonicalize(Path::new("/etc/localtime"))
        .ok()?
        .to_str()
        .map(str::to_owned)
        .filter(|path| path.contains("zoneinfo/"))
}

/// The name in `/etc/timezone`, for systems where `/etc/localtime` is a copy.
fn from_file() -> Option<String> {
    fs::read_to_string("/etc/timezone").ok().map(|name| name.trim().to_owned())
}
