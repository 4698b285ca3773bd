//! `mutation-test`: plants mistakes in a copy of the code, one at a time, and checks that the fuzzer finds each.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;
use fitout_testkit::{paths, until};
use serde_json::Value;

const LIST: &str = include_str!("../mutations.txt");
/// The time limit of the fuzzer for a mistake.
const SECONDS: u64 = 120;
/// How much longer the fuzzer may run. A mistake that makes it hang counts as found.
const GRACE: Duration = Duration::from_secs(30);
const FUZZER: &str = "templates_make_the_same_of_values";

#[derive(Args)]
pub(crate) struct Options {
    /// Only mistakes in files whose path contains this, without a run on the unchanged code
    #[arg(long, default_value = "")]
    only: String,
}

/// A text in a file, and its wrong replacement.
#[derive(Debug, PartialEq, Eq)]
struct Mistake<'l> {
    file: &'l str,
    right: &'l str,
    wrong: &'l str,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let all = mistakes(LIST)?;
    let chosen: Vec<_> = all.iter().filter(|mistake| mistake.file.contains(&options.only)).collect();
    ensure!(!chosen.is_empty(), "no mistake is in a file whose path contains {:?}", options.only);
    let copy = paths::cache()?.join("mistakes");
    copy_checkout(&copy)?;
    if options.only.is_empty() {
        let log = copy.join("found-0.txt");
        ensure!(fuzz(&copy, &log)?.is_none(), "the fuzzer finds a difference without a mistake: see {}", log.display());
        println!("the fuzzer finds nothing in the unchanged code");
    }
    let mut missed = Vec::new();
    for (index, mistake) in chosen.iter().enumerate() {
        let found = planted(&copy, mistake, index + 1)?;
        let said = found.map_or("NOT FOUND".to_owned(), |after| format!("found after {:.0} s", after.as_secs_f32()));
        println!("{:>2}/{} {said}: {}: {}", index + 1, chosen.len(), mistake.file, mistake.wrong);
        if found.is_none() {
            missed.push(mistake);
        }
    }
    ensure!(missed.is_empty(), "{} of {} were not found within {SECONDS} s", missed.len(), chosen.len());
    Ok(())
}

fn mistakes(list: &str) -> Result<Vec<Mistake<'_>>> {
    let mut lines = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut all = Vec::new();
    while let Some(file) = lines.next() {
        let mut marked = |mark: &str| {
            let line = lines.next().and_then(|line| line.strip_prefix(mark));
            line.with_context(|| format!("xtask/mutations.txt: {file}: a line that begins with {mark:?} is missing"))
        };
        all.push(Mistake { file, right: marked("- ")?, wrong: marked("+ ")? });
    }
    Ok(all)
}

impl Mistake<'_> {
    fn plant(&self, code: &str) -> Result<String> {
        let count = code.matches(self.right).count();
        ensure!(
            count == 1,
            "{}: {:?} occurs {count} times instead of once: correct xtask/mutations.txt",
            self.file,
            self.right
        );
        Ok(code.replace(self.right, self.wrong))
    }
}

/// Copies the tracked files. A file that is the same is not written, so that it is not compiled again.
fn copy_checkout(copy: &Path) -> Result<()> {
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(paths::checkout()).output()?;
    ensure!(listed.status.success(), "git ls-files: {}", String::from_utf8_lossy(&listed.stderr));
    for name in String::from_utf8(listed.stdout)?.split_terminator('\0') {
        let (from, to) = (paths::checkout().join(name), copy.join(name));
        let content = fs::read(&from).with_context(|| format!("read {}", from.display()))?;
        if fs::read(&to).ok().as_ref() != Some(&content) {
            fs::create_dir_all(to.parent().context("a file is in a directory")?)?;
            fs::write(&to, content).with_context(|| format!("write {}", to.display()))?;
        }
    }
    Ok(())
}

/// Plants a mistake and returns after which time the fuzzer finds it, if it does.
fn planted(copy: &Path, mistake: &Mistake<'_>, number: usize) -> Result<Option<Duration>> {
    let path = copy.join(mistake.file);
    let code = fs::read_to_string(&path).with_context(|| format!("read {}", mistake.file))?;
    fs::write(&path, mistake.plant(&code)?)?;
    let found = fuzz(copy, &copy.join(format!("found-{number}.txt")));
    fs::write(&path, code)?;
    found.with_context(|| format!("{}: {}", mistake.file, mistake.wrong))
}

/// Builds and runs the fuzzer. Returns the time until it found a difference, which is in the log.
fn fuzz(copy: &Path, log: &Path) -> Result<Option<Duration>> {
    let program = build(copy)?;
    let output = File::create(log)?;
    let began = Instant::now();
    let mut child = Command::new(program)
        .args(["--exact", FUZZER, "--nocapture"])
        .current_dir(copy.join("crates/helm/functions"))
        .env("FITOUT_FUZZ_SECONDS", SECONDS.to_string())
        .stdout(output.try_clone()?)
        .stderr(output)
        .spawn()?;
    let ended = until("the fuzzer ends", Duration::from_secs(SECONDS) + GRACE, || match child.try_wait() {
        Ok(Some(status)) => Ok(status.success()),
        Ok(None) => Err("it still runs".to_owned()),
        Err(error) => Err(error.to_string()),
    });
    let Ok(nothing) = ended else {
        child.kill()?;
        child.wait()?;
        return Ok(Some(began.elapsed()));
    };
    let said = String::from_utf8_lossy(&fs::read(log)?).into_owned();
    ensure!(
        nothing || !said.contains("the testbed is not built"),
        "the testbed is not built: run `cargo xtask testbed`"
    );
    Ok((!nothing).then(|| began.elapsed()))
}

/// Builds the fuzzer, in a target directory of its own because Cargo would mix up the copy and the checkout.
fn build(copy: &Path) -> Result<PathBuf> {
    let output = Command::new(env!("CARGO"))
        .args(["test", "--package", "fitout-helm-functions", "--test", "live_oracle", "--locked", "--no-run"])
        .args(["--message-format=json-render-diagnostics", "--quiet"])
        .current_dir(copy)
        .env("CARGO_TARGET_DIR", copy.join("target"))
        .stderr(Stdio::piped())
        .output()
        .context("run cargo")?;
    ensure!(output.status.success(), "the fuzzer does not compile:\n{}", String::from_utf8_lossy(&output.stderr));
    let messages = String::from_utf8(output.stdout)?;
    let programs = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut tests = programs.filter(|message| message["profile"]["test"] == true);
    let program = tests.find_map(|message| message["executable"].as_str().map(PathBuf::from));
    program.context("cargo built no test program")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mistake_occurs_once() -> Result<()> {
        let all = mistakes(LIST)?;
        assert!(all.len() >= 20, "{}", all.len());
        for mistake in all {
            let code = fs::read_to_string(paths::checkout().join(mistake.file))?;
            assert_ne!(mistake.plant(&code)?, code, "{mistake:?}");
        }
        Ok(())
    }

    #[test]
    fn missing_text_is_reported() {
        let [mistake] = &mistakes("# c\n\na.rs\n- x < y\n+ x <= y\n").unwrap()[..] else {
            panic!("expected one mistake")
        };
        assert_eq!(mistake.plant("if x < y {").unwrap(), "if x <= y {");
        let error = mistake.plant("if y > x {").unwrap_err().to_string();
        assert!(error.contains("a.rs") && error.contains("0 times"), "{error}");
    }
}
