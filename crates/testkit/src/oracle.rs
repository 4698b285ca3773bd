//! Oracles: programs that answer how a Go library understands its input.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value as Json;

use crate::Programs;

/// A running oracle. It ends when it is dropped.
#[derive(Debug)]
pub struct Oracle {
    process: Child,
    questions: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Oracle {
    /// Starts an oracle by its name, such as `oracle-template`, from the directory in `FITOUT_ORACLES` or else from the
    /// testbed. `cargo xtask coverage` sets the variable to oracles that count what they execute.
    pub fn start(name: &str) -> Result<Self> {
        let program = match env::var_os("FITOUT_ORACLES") {
            Some(dir) => Path::new(&dir).join(name),
            None => Programs::get()?.oracle(name)?,
        };
        let mut process = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let questions = process.stdin.take();
        let answers = BufReader::new(process.stdout.take().context("the oracle has no output")?);
        Ok(Self { process, questions, answers })
    }

    /// One answer for each question. The oracle reads all questions before it answers, so the pipes cannot block.
    pub fn ask(&mut self, questions: &[Json]) -> Result<Vec<Json>> {
        let mut asked = serde_json::to_vec(questions)?;
        asked.push(b'\n');
        self.questions.as_mut().context("the oracle has no input")?.write_all(&asked)?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        let answers: Vec<Json> = serde_json::from_str(&line).context("the oracle has failed")?;
        ensure!(answers.len() == questions.len(), "the oracle answered {} questions", answers.len());
        Ok(answers)
    }
}

impl Drop for Oracle {
    fn drop(&mut self) {
        self.questions = None;
        if let Err(error) = self.process.wait() {
            println!("the oracle did not end: {error}");
        }
    }
}
