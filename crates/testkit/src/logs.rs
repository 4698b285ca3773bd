//! Saves the logs of clusters when a test fails.

use std::fs;
use std::panic;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};

use crate::paths;

static WATCHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Saves the logs of this sandbox at every panic in this process from now on.
pub(crate) fn watch(sandbox: &Path) {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            before(info);
            save_all();
        }));
    });
    WATCHED.lock().unwrap_or_else(PoisonError::into_inner).push(sandbox.to_owned());
}

pub(crate) fn unwatch(sandbox: &Path) {
    WATCHED.lock().unwrap_or_else(PoisonError::into_inner).retain(|watched| watched != sandbox);
}

fn save_all() {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("unnamed").replace("::", ".");
    for sandbox in WATCHED.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        let number = sandbox.file_name().unwrap_or_default();
        let target = directory().join(&test).join(number);
        match save(sandbox, &target) {
            Ok(()) => eprintln!("the logs of cluster {} are in {}", number.display(), target.display()),
            Err(error) => eprintln!("the logs of cluster {} could not be saved: {error}", number.display()),
        }
    }
}

fn save(sandbox: &Path, target: &Path) -> std::io::Result<()> {
    fs::create_dir_all(target)?;
    for entry in fs::read_dir(sandbox)? {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == "log")
            && let Some(name) = path.file_name()
        {
            fs::copy(&path, target.join(name))?;
        }
    }
    Ok(())
}

/// The directory of saved logs: in the target directory, where `cargo clean` removes them.
fn directory() -> PathBuf {
    let target = std::env::current_exe().ok().and_then(|exe| exe.ancestors().nth(3).map(Path::to_owned));
    target.unwrap_or_else(|| paths::checkout().join("target")).join("testbed-logs")
}
