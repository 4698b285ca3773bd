//! Go, which is asked many times.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, ensure};
use fitout_testkit::Programs;
use serde_json::Value as Json;

use crate::rows::{Answer, Question};

/// A running judge. It ends when nobody asks it any more.
pub(crate) struct Judge {
    process: Child,
    questions: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Judge {
    pub(crate) fn start() -> Result<Self> {
        let program = Programs::get()?.judge("judge-template");
        let mut process = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let questions = process.stdin.take();
        let answers = BufReader::new(process.stdout.take().context("the judge has no output")?);
        Ok(Self { process, questions, answers })
    }

    /// Go's answers to anything. The judge reads all questions before it answers, so neither waits for the other.
    pub(crate) fn ask_json(&mut self, questions: &[Json]) -> Result<Vec<Json>> {
        let mut asked = serde_json::to_vec(questions)?;
        asked.push(b'\n');
        self.questions.as_mut().context("the judge has no input")?.write_all(&asked)?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        let answers: Vec<Json> = serde_json::from_str(&line).context("the judge has failed")?;
        ensure!(answers.len() == questions.len(), "the judge answered {} questions", answers.len());
        Ok(answers)
    }

    /// What Go makes of templates.
    pub(crate) fn ask(&mut self, questions: &[Question]) -> Result<Vec<Answer>> {
        let questions: Vec<_> = questions.iter().map(|question| question.to_json("run", 1)).collect();
        self.ask_json(&questions)?.iter().map(answer).collect()
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

fn answer(answer: &Json) -> Result<Answer> {
    let field = |name: &str| answer[name].as_str().map(str::to_owned);
    field("text")
        .map(Answer::Text)
        .or_else(|| field("hex").map(Answer::Hex))
        .or_else(|| field("error").map(Answer::Refusal))
        .context("an answer has one of three fields")
}
