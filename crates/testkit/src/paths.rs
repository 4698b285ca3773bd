//! Directories outside the checkout.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The cache directory, which keeps built programs: `$FITOUT_CACHE`, else `fitout` in the user's cache directory.
pub fn cache() -> Result<PathBuf> {
    if let Some(dir) = env::var_os("FITOUT_CACHE") {
        return Ok(dir.into());
    }
    let base = env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| env::var_os("HOME").map(|home| Path::new(&home).join(".cache")))
        .context("no cache directory: set FITOUT_CACHE, XDG_CACHE_HOME or HOME")?;
    Ok(base.join("fitout"))
}

/// The directory of all sandboxes of this user. Its path is short, because that of a Unix socket has at most 107 bytes.
pub fn sandboxes() -> PathBuf {
    let user = rustix::process::geteuid().as_raw();
    env::temp_dir().join(format!("{SANDBOXES}{user}"))
}

/// The prefix of every user's directory of sandboxes.
pub(crate) const SANDBOXES: &str = "fitout-testbed-";

/// The checkout that this program was built from.
pub fn checkout() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap_or(Path::new("."))
}

/// The Go modules of the testbed.
pub(crate) fn testbed_sources() -> PathBuf {
    checkout().join("testbed")
}
