//! The command `fitout`: a person's way to the hub.
//!
//! It talks to the hub's Kubernetes API with the user's own kubeconfig and rights, writes what a person wants, and shows
//! what the hub says about it. It decides nothing that the hub decides. What is written and what is shown are functions
//! from values to values; what talks to the hub is in `changes`, `clusters`, `views` and `following`.

mod ages;
mod arguments;
mod catalog_lookup;
mod changes;
mod charts;
mod cluster_wait;
mod clusters;
mod connection;
mod display;
mod failure;
mod hub;
mod instance;
mod kubeconfig;
mod logging;
mod organizations;
mod output;
mod plan_text;
mod plans;
mod progress;
mod revisions;
mod settings;
mod tables;
mod values;
mod views;
mod wait;
mod wait_outcome;

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use fitout_api::Choice;
use tikv_jemallocator::Jemalloc;

use arguments::{Arguments, Command};
use connection::Session;
use failure::{Code, Failure};
use output::Paint;

/// The hub makes and drops many small things, and stays for months.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

/// What a command has to say in the end, and how it ended.
struct Answer {
    text: String,
    code: Code,
}

impl From<String> for Answer {
    fn from(text: String) -> Self {
        Self { text, code: Code::Done }
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let plain = arguments.no_color || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let paint = Paint::new(!plain && std::io::stdout().is_terminal());
    let ended = match arguments.command {
        // Nothing is waited for, so nothing is started.
        Command::Chart { command } => return end(charts::run(&command, arguments.output, paint), plain),
        _ => match tokio::runtime::Builder::new_multi_thread().worker_threads(workers()).enable_all().build() {
            Ok(runtime) => runtime.block_on(run(arguments, paint)),
            Err(error) => Err(Failure::new(format!("cannot start threads: {error}"))),
        },
    };
    end(ended, plain)
}

/// How many threads work: half as many as can run. More would wake each other to wait for the same API server, which often runs
/// beside them; what takes long computes on a thread of its own.
fn workers() -> usize {
    std::thread::available_parallelism().map_or(1, |all| all.get().div_ceil(2))
}

fn end(ended: Result<Answer, Failure>, plain: bool) -> ExitCode {
    match ended {
        Ok(answer) => {
            // Who does not read to the end has read enough.
            let _ = std::io::stdout().write_all(answer.text.as_bytes());
            ExitCode::from(answer.code as u8)
        }
        Err(failure) => {
            let paint = Paint::new(!plain && std::io::stderr().is_terminal());
            let _ = std::io::stderr().write_all(failure.shown(paint).as_bytes());
            ExitCode::from(failure.code as u8)
        }
    }
}

async fn run(arguments: Arguments, paint: Paint) -> Result<Answer, Failure> {
    let Arguments { command, organization, output, .. } = arguments;
    let session = || Session::open(organization.as_deref(), output, paint);
    match command {
        Command::Hub(hub) => {
            Ok(Answer { text: String::new(), code: Box::pin(hub::run(connection::config().await?, &hub)).await })
        }
        Command::Install(install) => changes::install(&session().await?, &install).await,
        Command::Upgrade(upgrade) => changes::upgrade(&session().await?, &upgrade).await,
        Command::Rollback(rollback) => changes::rollback(&session().await?, &rollback).await,
        Command::Uninstall(uninstall) => changes::uninstall(&session().await?, &uninstall).await,
        Command::Adopt(asked) => changes::take_over(&session().await?, &asked, Choice::Adopt).await,
        Command::Test(asked) => changes::test(&session().await?, &asked).await,
        Command::Reassert(asked) => changes::take_over(&session().await?, &asked, Choice::Reassert).await,
        Command::Plan(plan) => plans::run(&session().await?, &plan).await,
        Command::Values(asked) => values::run(&session().await?, &asked).await,
        Command::List(list) => views::list(&session().await?, &list).await,
        Command::Status(status) => views::status(&session().await?, &status).await,
        Command::History { instance } => views::history(&session().await?, &instance).await,
        Command::Catalog { command } => views::catalog(&session().await?, &command).await,
        Command::Extension { command } => views::extension(&session().await?, &command).await,
        Command::Cluster { command } => clusters::run(&session().await?, command).await,
        Command::Chart { command } => charts::run(&command, output, paint),
        Command::Completions { shell } => Ok(completions(shell).into()),
        Command::Version => Ok(views::version(output).into()),
    }
}

fn completions(shell: clap_complete::Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "fitout", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}
