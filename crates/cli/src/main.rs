//! The command `fitout`: the command-line client of the hub, and the hub itself.
//!
//! The client talks to the hub's Kubernetes API with the user's own kubeconfig and rights. It writes what the user asks
//! for and shows what the hub reports; every decision is the hub's. Each command is in `commands/NOUN/VERB.rs`. What is
//! written and what is shown are functions from values to values.

mod arguments;
mod catalog_lookup;
mod cluster_wait;
mod commands;
mod connection;
mod display;
mod durations;
mod failure;
mod file_tree;
mod logging;
mod organization;
mod output;
mod plan_text;
mod plans;
mod progress;
mod questions;
mod registry_access;
mod settings;
mod tables;
mod values;
mod wait;
mod wait_outcome;

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use clap::Parser;
use tikv_jemallocator::Jemalloc;

use arguments::Arguments;
use commands::Command;
use failure::{Code, Failure};
use output::Paint;
use tables::Layout;

/// The hub allocates and frees many small values, and runs for months.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

/// The text that a command prints at its end, and its exit code.
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
    let layout = Layout::new(arguments.output, output::terminal_width());
    let result = match arguments.command {
        // Charts are rendered without I/O to wait for, so no runtime is started.
        Command::Chart { command } if !command.needs_network() => {
            commands::chart::run(&command, arguments.output, paint, layout)
        }
        _ => match tokio::runtime::Builder::new_multi_thread().worker_threads(workers()).enable_all().build() {
            Ok(runtime) => runtime.block_on(commands::run(arguments, paint, layout)),
            Err(error) => Err(Failure::new(format!("cannot start threads: {error}"))),
        },
    };
    finish(result, plain)
}

/// The number of worker threads: half of the available ones. More would only wake each other while they wait for the same
/// API server, which often runs on the same machine; long computations get a thread of their own.
fn workers() -> usize {
    std::thread::available_parallelism().map_or(1, |all| all.get().div_ceil(2))
}

fn finish(result: Result<Answer, Failure>, plain: bool) -> ExitCode {
    match result {
        Ok(answer) => {
            // A reader that closes the pipe early, such as `head`, is no error.
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
