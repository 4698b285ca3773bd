//! The name of the local zone.

use std::path::Path;
use std::{env, fs};

/// The name of the local zone, found where Go finds the zone itself: in `TZ`, or in what `/etc/localtime` points to.
pub(crate) fn local() -> String {
    let name = match env::var("TZ") {
        Ok(zone) => zone.strip_prefix(':').unwrap_or(&zone).to_owned(),
        Err(_) => linked().or_else(written).unwrap_or_default(),
    };
    match name.split_once("zoneinfo/") {
        Some((_, name)) => name.to_owned(),
        None if name.is_empty() => "UTC".to_owned(),
        None => name,
    }
}

fn linked() -> Option<String> {
    fs::canonicalize(Path::new("/etc/localtime"))
        .ok()?
        .to_str()
        .map(str::to_owned)
        .filter(|path| path.contains("zoneinfo/"))
}

/// Where the file is a copy, some systems have its name beside it.
fn written() -> Option<String> {
    fs::read_to_string("/etc/timezone").ok().map(|name| name.trim().to_owned())
}
