//! Running the real `kubectl` and `helm`.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::sandbox;

/// A command-line tool, configured for one cluster and without the user's own configuration.
#[derive(Clone, Debug)]
pub struct Tool {
    program: PathBuf,
    first: Vec<String>,
    kubeconfig: PathBuf,
    home: PathBuf,
}

impl Tool {
    pub(crate) fn new(program: PathBuf, first: &[&str], kubeconfig: &Path, home: &Path) -> Self {
        let first = first.iter().map(|&word| word.to_owned()).collect();
        Self { program, first, kubeconfig: kubeconfig.to_owned(), home: home.join("home") }
    }

    /// The same tool with another kubeconfig.
    #[must_use]
    pub fn with_kubeconfig(&self, kubeconfig: &Path) -> Self {
        Self { kubeconfig: kubeconfig.to_owned(), ..self.clone() }
    }

    /// Runs it and returns its standard output. Where it fails, the error has its standard error.
    pub fn run<A: AsRef<OsStr>>(&self, args: &[A]) -> Result<String> {
        self.run_with_input(args, "")
    }

    /// Runs it with this text on its standard input.
    pub fn run_with_input<A: AsRef<OsStr>>(&self, args: &[A], input: &str) -> Result<String> {
        let output = self.output(args, input)?;
        if !output.status.success() {
            let name = self.first.first().map_or_else(|| self.program.display().to_string(), String::clone);
            let words: Vec<_> = args.iter().map(|arg| arg.as_ref().to_string_lossy()).collect();
            let stderr = String::from_utf8_lossy(&output.stderr);
            bail!("{name} {}: {}{}", words.join(" "), String::from_utf8_lossy(&output.stdout), stderr.trim());
        }
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Runs it and parses its standard output as JSON.
    pub fn json<A: AsRef<OsStr>>(&self, args: &[A]) -> Result<Value> {
        let text = self.run(args)?;
        serde_json::from_str(&text).with_context(|| format!("not JSON: {text}"))
    }

    /// Runs it and returns its output, whether it succeeds or not.
    pub fn output<A: AsRef<OsStr>>(&self, args: &[A], input: &str) -> Result<Output> {
        let mut child = Command::new(&self.program)
            .args(&self.first)
            .args(args)
            .env_clear()
            .envs(sandbox::environment(&self.home))
            .env("KUBECONFIG", &self.kubeconfig)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("run {}", self.program.display()))?;
        if let Some(mut stdin) = child.stdin.take() {
            // A tool that does not read to the end reports its reason itself.
            let _ = stdin.write_all(input.as_bytes());
        }
        Ok(child.wait_with_output()?)
    }
}
