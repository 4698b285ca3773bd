//! `.helmignore`.

use super::{glob, without_bom};
use crate::error::Error;

/// Which files of a directory do not belong to its chart.
#[derive(Clone, Debug)]
pub struct Rules {
    patterns: Vec<Pattern>,
}

#[derive(Clone, Debug)]
struct Pattern {
    /// Without what is said by the fields below.
    text: String,
    /// What does *not* match is ignored.
    negated: bool,
    only_directories: bool,
    /// Whether only the last part of a path is looked at.
    anywhere: bool,
}

impl Default for Rules {
    /// What is ignored without anybody saying so: files in `templates/` that begin with a dot.
    fn default() -> Self {
        Self { patterns: pattern("templates/.?*").ok().flatten().into_iter().collect() }
    }
}

impl Rules {
    /// The file that has the rules.
    pub const FILE: &str = ".helmignore";

    /// The rules of a text, a line each, and those that always hold.
    pub fn parse(text: &[u8]) -> Result<Self, Error> {
        let mut patterns = Vec::new();
        for line in without_bom(text).split(|byte| *byte == b'\n') {
            patterns.extend(pattern(&String::from_utf8_lossy(line))?);
        }
        patterns.extend(Self::default().patterns);
        Ok(Self { patterns })
    }

    /// Whether a file or a directory is ignored, by its path alone. All that is in an ignored directory is.
    pub fn ignores(&self, path: &str, is_directory: bool) -> bool {
        if matches!(path, "" | "." | "./") {
            return false;
        }
        for pattern in &self.patterns {
            let matches = || glob::matches(&pattern.text, if pattern.anywhere { base(path) } else { path });
            let fits = (is_directory || !pattern.only_directories) && matches().unwrap_or(false);
            if fits != pattern.negated {
                return true;
            }
        }
        false
    }

    /// Whether a file, or any directory it is in, is ignored.
    pub(crate) fn ignores_file(&self, path: &str) -> bool {
        let within = path.match_indices('/').any(|(end, _)| self.ignores(&path[..end], true));
        within || self.ignores(path, false)
    }
}

fn pattern(line: &str) -> Result<Option<Pattern>, Error> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    if line.contains("**") {
        return Err(Error::new("double-star (**) syntax is not supported"));
    }
    glob::matches(line, "abc").map_err(|glob::Bad| Error::new("syntax error in pattern"))?;
    let (negated, rule) = line.strip_prefix('!').map_or((false, line), |rest| (true, rest));
    let (only_directories, rule) = rule.strip_suffix('/').map_or((false, rule), |rest| (true, rest));
    let (rooted, rule) = rule.strip_prefix('/').map_or((false, rule), |rest| (true, rest));
    let anywhere = !rooted && !rule.contains('/');
    Ok(Some(Pattern { text: rule.to_owned(), negated, only_directories, anywhere }))
}

/// The last part of a path.
fn base(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    if path.is_empty() { "/" } else { path.rsplit('/').next().unwrap_or(path) }
}
