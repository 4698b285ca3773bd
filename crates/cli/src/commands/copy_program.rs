//! `fitout copy-program`: brings this program into a container of another image, which may have no program at all.

use std::env;
use std::fs;
use std::path::PathBuf;

use clap::Args;

use crate::Answer;
use crate::failure::Failure;

#[derive(Args)]
pub(crate) struct CopyProgram {
    /// The directory to copy it to
    directory: PathBuf,
}

/// Copies the running program into the directory, as `fitout`, with its permissions.
pub(crate) fn run(copy: &CopyProgram) -> Result<Answer, Failure> {
    let to = copy.directory.join("fitout");
    env::current_exe()
        .and_then(|program| fs::copy(program, &to))
        .map_err(|error| Failure::new(format!("cannot copy this program to {}: {error}", to.display())))?;
    Ok(String::new().into())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn copied_program_is_executable() {
        let directory = env::temp_dir().join(format!("fitout-copy-program-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        run(&CopyProgram { directory: directory.clone() }).unwrap();
        let copied = directory.join("fitout").metadata().unwrap();
        fs::remove_dir_all(&directory).unwrap();
        assert_eq!(copied.len(), env::current_exe().unwrap().metadata().unwrap().len());
        assert_eq!(copied.permissions().mode() & 0o111, 0o111);

        let missing = run(&CopyProgram { directory }).err().unwrap();
        assert!(missing.sentence.starts_with("cannot copy this program to "), "{missing}");
    }
}
