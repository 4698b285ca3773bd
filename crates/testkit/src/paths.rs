//! Where things are kept, outside the checkout.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Where built programs are kept between runs: `$FITOUT_CACHE`, else `fitout` in the user's cache directory.
pub fn cache() -> Result<PathBuf> {
    if let Some(dir) = env::var_os("FITOUT_CACHE") {
        return Ok(dir.into());
    }
    let base = env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| env::var_os("HOME").map(|home| Path::new(&home).join(".cache")))
        .context("neither FITOUT_CACHE, XDG_CACHE_HOME nor HOME says where to keep the built testbed")?;
    Ok(base.join("fitout"))
}

/// Where clusters live while they run: one directory, so that nothing of ours is anywhere else. Short, because the
/// path of a Unix socket has at most 107 bytes.
pub fn sandboxes() -> PathBuf {
    let user = rustix::process::geteuid().as_raw();
    env::temp_dir().join(format!("{SANDBOXES}{user}"))
}

/// What the directory of every user's clusters begins with.
pub(crate) const SANDBOXES: &str = "fitout-testbed-";

/// The checkout that this was built from.
pub fn checkout() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap_or(Path::new("."))
}

/// The Go modules of the testbed.
pub(crate) fn testbed_sources() -> PathBuf {
    checkout().join("testbed")
}
