//! Charts on disk.

use std::fs::{self, DirEntry};
use std::io::{self, Read};
use std::path::Path;

use fitout_helm_chart::{Chart, File, Rules, Warnings};

/// Loads the chart in a directory or in an archive.
pub fn load(path: &Path, warnings: &mut Warnings) -> Result<Chart, String> {
    let shown = path.display();
    let about = fs::metadata(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => format!("path {shown:?} not found"),
        _ => format!("read {shown}: {error}"),
    })?;
    if about.is_dir() {
        return Chart::from_directory(files(path, warnings)?, warnings).map_err(|error| error.to_string());
    }
    let bytes = fs::read(path).map_err(|error| format!("read {shown}: {error}"))?;
    Chart::from_archive_file(&shown.to_string(), &bytes, warnings).map_err(|error| error.to_string())
}

/// The files of a directory that its `.helmignore` does not ignore; links are followed.
fn files(dir: &Path, warnings: &mut Warnings) -> Result<Vec<File>, String> {
    let ignored = dir.join(Rules::FILE);
    let rules = match fs::read(&ignored) {
        Ok(text) => Rules::parse(&text).map_err(|error| error.to_string())?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Rules::default(),
        Err(error) => return Err(format!("read {}: {error}", ignored.display())),
    };
    let mut walk = Walk { rules, warnings, found: Vec::new(), buffer: Vec::new() };
    walk.directory(dir, "").map(|()| walk.found)
}

struct Walk<'w> {
    rules: Rules,
    warnings: &'w mut Warnings,
    found: Vec<File>,
    /// What is being read: one for all files, since each is copied to a place of its size anyway.
    buffer: Vec<u8>,
}

impl Walk<'_> {
    fn directory(&mut self, dir: &Path, prefix: &str) -> Result<(), String> {
        let failed = |error: io::Error| format!("read {}: {error}", dir.display());
        let mut entries = fs::read_dir(dir).and_then(Iterator::collect::<io::Result<Vec<DirEntry>>>).map_err(failed)?;
        entries.sort_by_key(DirEntry::file_name);
        for entry in entries {
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            self.entry(&entry, name)?;
        }
        Ok(())
    }

    fn entry(&mut self, entry: &DirEntry, name: String) -> Result<(), String> {
        let path = &entry.path();
        let shown = path.display();
        let failed = |error: io::Error| format!("error reading {shown}: {error}");
        let mut kind = entry.file_type().map_err(failed)?;
        if kind.is_symlink() {
            let resolved =
                fs::canonicalize(path).map_err(|error| format!("error evaluating symlink {shown}: {error}"))?;
            let resolved = resolved.display();
            self.warnings.push(format!("{shown} is a symbolic link: what is in {resolved} is used"));
            kind = fs::metadata(path).map_err(failed)?.file_type();
        }
        if self.rules.ignores(&name, kind.is_dir()) {
            return Ok(());
        }
        if kind.is_dir() {
            return self.directory(path, &format!("{name}/"));
        }
        if !kind.is_file() {
            return Err(format!("cannot load irregular file {shown} as it has file mode type bits set"));
        }
        self.buffer.clear();
        // Without a limit, but also without asking for the size first.
        let read = fs::File::open(path).and_then(|file| file.take(u64::MAX).read_to_end(&mut self.buffer));
        read.map_err(failed)?;
        self.found.push(File::new(name, &*self.buffer));
        Ok(())
    }
}
