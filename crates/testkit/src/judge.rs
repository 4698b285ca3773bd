//! Go, which is asked many times.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value as Json;

use crate::Programs;

/// A running judge: a small program over a Go library. It ends when nobody asks it any more.
#[derive(Debug)]
pub struct Judge {
    process: Child,
    questions: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Judge {
    /// Starts a judge by its name, such as `judge-template`: from the directory that `FITOUT_JUDGES` names, where somebody
    /// has built them in another way, else from the testbed.
    pub fn start(name: &str) -> Result<Self> {
        let program = match env::var_os("FITOUT_JUDGES") {
            Some(dir) => Path::new(&dir).join(name),
            None => Programs::get()?.judge(name),
        };
        let mut process = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let questions = process.stdin.take();
        let answers = BufReader::new(process.stdout.take().context("the judge has no output")?);
        Ok(Self { process, questions, answers })
    }

    /// An answer to each question. The judge reads all questions before it answers, so neither waits for the other.
    pub fn ask(&mut self, questions: &[Json]) -> Result<Vec<Json>> {
        let mut asked = serde_json::to_vec(questions)?;
        asked.push(b'\n');
        self.questions.as_mut().context("the judge has no input")?.write_all(&asked)?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        let answers: Vec<Json> = serde_json::from_str(&line).context("the judge has failed")?;
        ensure!(answers.len() == questions.len(), "the judge answered {} questions", answers.len());
        Ok(answers)
    }
}

impl Drop for Judge {
    fn drop(&mut self) {
        self.questions = None;
        if let Err(error) = self.process.wait() {
            println!("the judge did not end: {error}");
        }
    }
}
