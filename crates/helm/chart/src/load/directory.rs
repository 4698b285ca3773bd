//! The files of a directory that belong to a chart.

use super::{MAX_SIZE, Rules, without_bom};
use crate::chart::File;
use crate::error::Error;

/// The files that are not ignored, in the order in which Helm walks a directory.
pub(crate) fn chosen(mut files: Vec<File>) -> Result<Vec<File>, Error> {
    let rules = match files.iter().find(|file| &*file.name == Rules::FILE) {
        Some(file) => Rules::parse(&file.data)?,
        None => Rules::default(),
    };
    files.sort_by(|one, other| one.name.split('/').cmp(other.name.split('/')));
    let mut left = MAX_SIZE;
    let mut chosen = Vec::with_capacity(files.len());
    for file in files {
        if rules.ignores_file(&file.name) {
            continue;
        }
        left = left.checked_sub(file.data.len()).ok_or_else(|| {
            let name = &file.name;
            Error::new(format!("error reading {name}: chart exceeds maximum decompressed size of {MAX_SIZE} bytes"))
        })?;
        let data = without_bom(&file.data);
        chosen.push(if data.len() == file.data.len() { file } else { File::new(file.name, data) });
    }
    Ok(chosen)
}
