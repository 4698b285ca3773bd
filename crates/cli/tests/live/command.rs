//! Running the real program, as a script does.

#![allow(dead_code, unreachable_pub, missing_docs, reason = "shared by several test programs")]

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

/// What came of a command.
#[derive(Debug)]
pub struct Ended {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// Runs the program, with a kubeconfig for the hub.
pub fn fitout(kubeconfig: &Path, organization: Option<&str>, words: &[&str]) -> Result<Ended> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fitout"));
    command.args(words).env("KUBECONFIG", kubeconfig).env_remove("FITOUT_ORGANIZATION");
    command.envs(organization.map(|name| ("FITOUT_ORGANIZATION", name)));
    let output = command.output()?;
    Ok(Ended {
        code: output.status.code().context("an exit code")?,
        out: String::from_utf8(output.stdout)?,
        err: String::from_utf8(output.stderr)?,
    })
}

impl Ended {
    #[track_caller]
    pub fn well(self) -> String {
        assert_eq!(self.code, 0, "{self:?}");
        self.out
    }

    #[track_caller]
    pub fn refused(self, code: i32, sentences: &str) {
        assert_eq!((self.code, self.err.as_str(), self.out.as_str()), (code, sentences, ""));
    }

    /// All that a person sees of it that is the same each time: neither the steps that went by nor how long ago things were.
    pub fn shown(&self) -> String {
        let lines = self.err.lines().filter(|line| !line.contains(": step ")).chain(self.out.lines());
        let lines = lines.map(|line| match line.rsplit_once(' ') {
            Some((before, last)) if is_age(last) => format!("{before} [age]\n"),
            _ => format!("{line}\n"),
        });
        format!("{}exit {}\n", lines.collect::<String>(), self.code)
    }
}

/// Whether it is a number of seconds, as in `12s`.
fn is_age(word: &str) -> bool {
    word.strip_suffix('s').is_some_and(|number| number.parse::<u32>().is_ok())
}
