//! The test programs that cargo builds, cut into jobs: a live program runs module by module.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context, Result, bail, ensure};
use fitout_testkit::paths;
use serde_json::Value;

/// The jobs that run while no other job does, and why: `FOLDER_OF_THE_CRATE MODULE`, or the name of the test file where a
/// program is one job. A test that measures time or CPU, or that other tests disturb, belongs here.
const ALONE: [(&str, &str); 13] = [
    ("chart limits", "limits the time that hostile charts take"),
    ("functions format_limits", "limits the time that hostile input takes"),
    ("repositories memory", "measures time and memory"),
    ("cli chaos", "three replicas and sixty instances load all processors"),
    ("cli connectivity", "a lost cluster is named within 10 s, and work ends 5 s after its return"),
    ("cli chart_deployment", "during an upgrade another hub leads within 5 s"),
    ("cli idle", "measures the CPU and the memory of an idle hub"),
    ("cli metrics", "another replica leads within 5 s"),
    ("hub clean_install", "a busy machine makes Kubernetes write warnings"),
    ("hub drift_latency", "drift is corrected within 1 s"),
    ("hub helm_interchange", "a foreign revision is reported within 1 s"),
    ("testkit cleanup", "asserts what is left before the next start of a cluster cleans it up"),
    ("testkit startup_cost", "measures how long a cluster takes to start"),
];

/// The folder of the test target that is split into modules, and the name that cargo gives to that target.
const SPLIT: &str = "live";

/// A program that cargo built from tests.
#[derive(Debug)]
pub(super) struct Program {
    /// The folder of its crate.
    folder: String,
    /// The test target.
    target: String,
    /// Whether its tests need the testbed: the target's name begins with `live`.
    pub(super) live: bool,
    path: PathBuf,
    /// The directory that tests expect to be in, as under `cargo test`.
    directory: PathBuf,
}

/// Tests that run in a process of their own.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) name: String,
    path: PathBuf,
    directory: PathBuf,
    /// The names of the tests; all tests of the program where it is empty.
    tests: Vec<String>,
    /// The number of its tests that run at a time.
    pub(super) threads: usize,
}

/// The number of processors, which is how many tests the harness runs at a time by itself.
pub(super) fn cores() -> usize {
    thread::available_parallelism().map_or(1, Into::into)
}

impl Job {
    /// A whole program.
    pub(super) fn whole(program: &Program) -> Self {
        Self::new(program, &program.target, vec![], cores())
    }

    fn new(program: &Program, name: &str, tests: Vec<String>, threads: usize) -> Self {
        let name = format!("{} {name}", program.folder);
        Self { name, path: program.path.clone(), directory: program.directory.clone(), tests, threads }
    }

    pub(super) fn runs_alone(&self) -> bool {
        ALONE.iter().any(|(name, _)| *name == self.name)
    }

    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.current_dir(&self.directory).arg(format!("--test-threads={}", self.threads));
        if !self.tests.is_empty() {
            command.arg("--exact").args(&self.tests);
        }
        command
    }
}

/// Builds all tests and returns the programs, in the order of their names.
pub(super) fn build() -> Result<Vec<Program>> {
    let output = Command::new(env!("CARGO"))
        .args(["test", "--workspace", "--locked", "--no-run", "--message-format=json-render-diagnostics"])
        .current_dir(paths::checkout())
        .stderr(Stdio::inherit())
        .output()
        .context("run cargo")?;
    if !output.status.success() {
        bail!("the tests do not compile");
    }
    let text = String::from_utf8(output.stdout)?;
    let mut programs: Vec<Program> = text.lines().filter_map(program).collect();
    programs.sort_by(|a, b| (&a.folder, &a.target).cmp(&(&b.folder, &b.target)));
    Ok(programs)
}

fn program(message: &str) -> Option<Program> {
    let message: Value = serde_json::from_str(message).ok()?;
    if message["reason"] != "compiler-artifact" || message["profile"]["test"] != true {
        return None;
    }
    let package = Path::new(message["manifest_path"].as_str()?).parent()?;
    let target = message["target"]["name"].as_str()?;
    Some(Program {
        folder: package.file_name()?.display().to_string(),
        target: target.to_owned(),
        live: target.starts_with("live"),
        path: message["executable"].as_str()?.into(),
        directory: package.to_owned(),
    })
}

/// The jobs of a live program: one for each module, or the program where it has no modules.
pub(super) fn modules(program: &Program) -> Result<Vec<Job>> {
    if program.target != SPLIT {
        return Ok(vec![Job::whole(program)]);
    }
    let output = Command::new(&program.path).args(["--list", "--format=terse"]).output();
    let output = output.with_context(|| format!("run {}", program.path.display()))?;
    ensure!(output.status.success(), "{} --list: {}", program.path.display(), output.status);
    Ok(split(program, &String::from_utf8(output.stdout)?))
}

/// Groups the tests of a list by their module.
fn split(program: &Program, list: &str) -> Vec<Job> {
    let mut jobs: Vec<(&str, Vec<String>)> = Vec::new();
    for test in list.lines().filter_map(|line| line.strip_suffix(": test")) {
        let module = test.split_once("::").map_or(SPLIT, |(module, _)| module);
        match jobs.iter_mut().find(|(name, _)| *name == module) {
            Some((_, tests)) => tests.push(test.to_owned()),
            None => jobs.push((module, vec![test.to_owned()])),
        }
    }
    let job = |(module, tests): (&str, Vec<String>)| {
        let threads = tests.len().min(cores());
        Job::new(program, module, tests, threads)
    };
    jobs.into_iter().map(job).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use std::fs;

    use super::*;

    /// A job that prints what the harness prints of one test that has passed.
    pub(in super::super) fn job(name: &str, threads: usize) -> Job {
        let tests = vec!["\ntest result: ok. 1 passed; 0 failed".to_owned()];
        Job { name: name.to_owned(), path: "/bin/echo".into(), directory: "/".into(), tests, threads }
    }

    const MESSAGE: &str = r#"{"reason":"compiler-artifact","manifest_path":"/x/testkit/Cargo.toml","executable":"/t/live-1","target":{"name":"live"},"profile":{"test":true}}"#;

    #[test]
    fn only_test_programs_are_taken_from_cargos_messages() {
        let found = program(MESSAGE).unwrap();
        assert_eq!((found.folder.as_str(), found.target.as_str(), found.live), ("testkit", "live", true));
        assert!(!program(&MESSAGE.replace(r#""name":"live""#, r#""name":"limits""#)).unwrap().live);
        assert!(program(&MESSAGE.replace(r#""test":true"#, r#""test":false"#)).is_none());
        assert!(program("not json").is_none());
    }

    #[test]
    fn live_tests_are_grouped_by_module_and_none_is_lost() {
        let list =
            "charts::one: test\nbad_charts::two: test\nbad_charts::inner::three: test\nfour: test\nfive: benchmark\n";
        let jobs = split(&program(MESSAGE).unwrap(), list);
        let found: Vec<_> = jobs.iter().map(|job| (job.name.as_str(), job.tests.join(" "))).collect();
        assert_eq!(
            found,
            [
                ("testkit charts", "charts::one".to_owned()),
                ("testkit bad_charts", "bad_charts::two bad_charts::inner::three".to_owned()),
                ("testkit live", "four".to_owned()),
            ]
        );
    }

    /// A filter would also run the tests of modules whose names end alike.
    #[test]
    fn a_module_runs_by_the_exact_names_of_its_tests() {
        let jobs = split(&program(MESSAGE).unwrap(), "charts::one: test\n");
        let arguments: Vec<_> = jobs[0].command().get_args().map(|word| word.to_string_lossy().into_owned()).collect();
        assert_eq!(arguments, ["--test-threads=1", "--exact", "charts::one"]);
    }

    #[test]
    fn every_job_that_runs_alone_has_its_file() {
        for (name, _) in ALONE {
            let (folder, module) = name.split_once(' ').unwrap();
            let crates = paths::checkout().join("crates");
            let groups = fs::read_dir(&crates).unwrap().map(|entry| entry.unwrap().path());
            let places: Vec<_> = groups.chain([crates]).map(|group| group.join(folder).join("tests")).collect();
            let files = [format!("live/{module}.rs"), format!("{module}.rs")];
            let found = places.iter().any(|tests| files.iter().any(|file| tests.join(file).exists()));
            assert!(found, "{name}: no such test file");
        }
    }
}
