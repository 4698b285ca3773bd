//! Trees of files: read into memory and written, by path with slashes.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Component, Path};

use crate::failure::Failure;

/// The most bytes of a tree, as much as a chart may have.
const LIMIT: usize = 100 << 20;

/// The files of a directory, by path. Hidden directories, such as that of git, are left out. Symbolic links are followed to files, not to directories, so that the walk ends.
pub(crate) fn read(directory: &Path) -> Result<BTreeMap<String, Vec<u8>>, Failure> {
    let mut files = BTreeMap::new();
    walk(directory, "", &mut files, &mut 0)?;
    Ok(files)
}

fn walk(
    directory: &Path,
    prefix: &str,
    files: &mut BTreeMap<String, Vec<u8>>,
    size: &mut usize,
) -> Result<(), Failure> {
    let failed = |path: &Path, error: std::io::Error| Failure::new(format!("cannot read {}: {error}", path.display()));
    for entry in fs::read_dir(directory).map_err(|error| failed(directory, error))? {
        let entry = entry.map_err(|error| failed(directory, error))?;
        let (path, name) = (entry.path(), format!("{prefix}{}", entry.file_name().to_string_lossy()));
        let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
        let kind = entry.file_type().map_err(|error| failed(&path, error))?;
        if kind.is_dir() && is_hidden {
            continue;
        }
        if kind.is_dir() {
            walk(&path, &format!("{name}/"), files, size)?;
        } else if path.is_file() {
            // Read no further than the limit, whatever the size of the file is.
            let file = File::open(&path).map_err(|error| failed(&path, error))?;
            let mut content = Vec::new();
            let read = file.take((LIMIT - *size) as u64 + 1).read_to_end(&mut content);
            *size += read.map_err(|error| failed(&path, error))?;
            if *size > LIMIT {
                let message = format!("the files up to {} have more than {} MB", path.display(), LIMIT >> 20);
                return Err(Failure::new(message).hint("make it smaller, or give the directory of one definition"));
            }
            files.insert(name, content);
        }
    }
    Ok(())
}

/// Writes files into a directory, which is created. Returns the paths of the files, in order.
pub(crate) fn write(directory: &Path, files: &BTreeMap<String, Vec<u8>>) -> Result<Vec<String>, Failure> {
    let mut written = Vec::new();
    for (name, content) in files {
        // The name may come from a chart, which is untrusted input.
        if !Path::new(name).components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(Failure::new(format!("{name} is not a path within a directory, so it is not written")));
        }
        let path = directory.join(name);
        let failed = |error| Failure::new(format!("cannot write {}: {error}", path.display()));
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        fs::write(&path, content).map_err(failed)?;
        written.push(path.display().to_string());
    }
    Ok(written)
}

/// The answer of a command that has written these files.
pub(crate) fn report(written: &[String]) -> String {
    written.iter().fold(String::new(), |text, path| text + "wrote " + path + "\n")
}

/// Refuses to write into a directory that has files, unless `force` is set.
pub(crate) fn ensure_empty(directory: &Path, force: bool) -> Result<(), Failure> {
    let is_empty = fs::read_dir(directory).map_or(true, |mut entries| entries.next().is_none());
    if is_empty || force {
        return Ok(());
    }
    let message = format!("{} exists and is not empty", directory.display());
    Err(Failure::new(message).hint("remove it, or replace its files with --force"))
}
