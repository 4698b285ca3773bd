//! `cargo xtask`: every chore of the project.

mod bench;
mod conformance;
mod coverage;
mod discovery;
mod fuzz;
mod generate;
mod hub;
#[cfg(test)]
mod idioms;
mod image;
#[cfg(test)]
mod layering;
mod lint;
mod mutation_test;
mod packages;
#[cfg(test)]
mod purity_ratio;
mod suite;
mod testbed;
mod up;
#[cfg(test)]
mod walk;

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
    /// Start a local Kubernetes cluster with the hub, and build what they need first
    Up,
    /// Stop the cluster that `up` started, and remove its files
    Down,
    /// Run everything that has to pass: formats, lints, unit tests, tests on real clusters
    Test(suite::Options),
    /// Check formats, lints, licences and sources of dependencies
    Lint,
    /// Write the generated files: CRDs and parts of the chart
    Generate(generate::Options),
    /// Build the container image of the hub
    Image(image::Options),
    /// Run a benchmark against Helm, Flux, Go or a bare client
    Bench {
        /// The benchmark
        #[command(subcommand)]
        bench: bench::Bench,
    },
    /// Compare our output with that of Helm, on real charts
    Conformance(conformance::Options),
    /// Check that every line of Go code that a fuzzer never reaches has a recorded reason
    Coverage(coverage::Options),
    /// Fuzz the parsers of untrusted input
    Fuzz(fuzz::Options),
    /// Plant mistakes in a copy of the code, and check that the fuzzer finds each
    #[command(alias = "mistakes")]
    MutationTest(mutation_test::Options),
    /// Build the whole testbed: Kubernetes, Helm, oracles and the workloads that tests run
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
