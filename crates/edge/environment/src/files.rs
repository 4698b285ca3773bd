//! Loads charts from disk.

use std::fs::{self, DirEntry};
use std::io::{self, Read};
use std::path::Path;

use fitout_helm_chart::{Chart, File, Rules, Warnings};

use crate::LoadError;

/// Loads a chart from a directory or an archive.
pub fn load(path: &Path, warnings: &mut Warnings) -> Result<Chart, LoadError> {
    let read_error = |error: io::Error| LoadError::Read { path: path.to_owned(), error };
    let metadata = fs::metadata(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => LoadError::NotFound(path.to_owned()),
        _ => read_error(error),
    })?;
    if metadata.is_dir() {
        return Chart::from_directory(files(path, warnings)?, warnings).map_err(LoadError::Chart);
    }
    let bytes = fs::read(path).map_err(read_error)?;
    Chart::from_archive_file(&path.display().to_string(), &bytes, warnings).map_err(LoadError::Chart)
}

/// Reads the files of a directory except those that its `.helmignore` excludes; follows symbolic links.
fn files(dir: &Path, warnings: &mut Warnings) -> Result<Vec<File>, LoadError> {
    let ignore_file = dir.join(Rules::FILE);
    let rules = match fs::read(&ignore_file) {
        Ok(text) => Rules::parse(&text).map_err(LoadError::Chart)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Rules::default(),
        Err(error) => return Err(LoadError::Read { path: ignore_file, error }),
    };
    let mut walk = Walk { rules, warnings, files: Vec::new(), buffer: Vec::new() };
    walk.directory(dir, "").map(|()| walk.files)
}

struct Walk<'w> {
    rules: Rules,
    warnings: &'w mut Warnings,
    files: Vec<File>,
    /// The buffer for all files; each is copied into an allocation of its size anyway.
    buffer: Vec<u8>,
}

impl Walk<'_> {
    fn directory(&mut self, dir: &Path, prefix: &str) -> Result<(), LoadError> {
        let read_error = |error: io::Error| LoadError::Read { path: dir.to_owned(), error };
        let entries = fs::read_dir(dir).and_then(Iterator::collect::<io::Result<Vec<DirEntry>>>);
        let mut entries = entries.map_err(read_error)?;
        entries.sort_by_key(DirEntry::file_name);
        for entry in entries {
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            self.entry(&entry, name)?;
        }
        Ok(())
    }

    fn entry(&mut self, entry: &DirEntry, name: String) -> Result<(), LoadError> {
        let path = &entry.path();
        let read_error = |error: io::Error| LoadError::ChartFile { path: path.clone(), error };
        let mut kind = entry.file_type().map_err(read_error)?;
        if kind.is_symlink() {
            let target = fs::canonicalize(path).map_err(|error| LoadError::Symlink { path: path.clone(), error })?;
            let (link, target) = (path.display(), target.display());
            self.warnings.push(format!("{link} is a symbolic link: the content of {target} is used"));
            kind = fs::metadata(path).map_err(read_error)?.file_type();
        }
        if self.rules.ignores(&name, kind.is_dir()) {
            return Ok(());
        }
        if kind.is_dir() {
            return self.directory(path, &format!("{name}/"));
        }
        if !kind.is_file() {
            return Err(LoadError::Irregular(path.clone()));
        }
        self.buffer.clear();
        // `take` avoids the metadata call by which `File` sizes the buffer.
        let read = fs::File::open(path).and_then(|file| file.take(u64::MAX).read_to_end(&mut self.buffer));
        read.map_err(read_error)?;
        self.files.push(File::new(name, &*self.buffer));
        Ok(())
    }
}
