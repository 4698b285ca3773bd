//! The one door to every chore: `cargo xtask`.

mod bench;
mod conformance;
mod coverage;
mod fuzz;
mod generate;
mod hub;
mod image;
mod lint;
mod mutation_test;
mod packages;
#[cfg(test)]
mod purity_ratio;
mod suite;
mod testbed;
mod up;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use fitout_testkit::Part;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Every chore of the project", disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Start a real local Kubernetes and the hub on it, building the testbed first where it has to be
    Up,
    /// End what `up` started
    Down,
    /// Run everything that has to pass: formats, lints, unit tests, real clusters
    Test(suite::Options),
    /// Check formats, lints, licences and sources
    Lint,
    /// Write the files that are made from code: CRDs, and the parts of the chart that are made from others
    Generate(generate::Options),
    /// Build the hub's container image
    Image(image::Options),
    /// Measure ours against theirs
    Bench {
        /// What to measure
        #[command(subcommand)]
        bench: bench::Bench,
    },
    /// Compare what we do with what the originals do
    Conformance(conformance::Options),
    /// See that every line of the originals that a fuzzer never reaches has its reason
    Coverage(coverage::Options),
    /// Give what reads the input of strangers anything at all, for a time
    Fuzz(fuzz::Options),
    /// Plant mistakes in a copy of the code, and have the fuzzer find each
    #[command(alias = "mistakes")]
    MutationTest(mutation_test::Options),
    /// Build the testbed: Kubernetes, Helm and the workloads that tests run
    Testbed,
}

fn main() -> ExitCode {
    let result = match Arguments::parse().chore {
        Chore::Up => up::up(),
        Chore::Down => up::down(),
        Chore::Test(options) => suite::run(&options),
        Chore::Lint => lint::run(),
        Chore::Generate(options) => generate::run(&options),
        Chore::Image(options) => image::run(&options),
        Chore::Bench { bench } => bench::run(bench),
        Chore::Conformance(options) => conformance::run(&options),
        Chore::Coverage(options) => coverage::run(&options),
        Chore::Fuzz(options) => fuzz::run(&options),
        Chore::MutationTest(options) => mutation_test::run(&options),
        Chore::Testbed => testbed::build(&Part::ALL).map(|_| ()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
