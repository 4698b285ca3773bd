//! How fast releases of a chart are installed: by Fitout, by Flux, by a loop of `helm install`, and by a bare client that
//! sends nothing but the writes there is no way around. Each has an API server that nobody has used before, on the same
//! machine and in the same run.

#![allow(missing_docs, unreachable_pub, reason = "a benchmark")]

mod bare;
mod bars;
mod client;
mod crowd;
mod fitout;
mod flux;
mod helm;
mod measured;
mod sample;
mod shelf;
mod unchanged;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, ValueEnum};
use fitout_testkit::{Cluster, Programs, Spec};
use tokio::runtime::Runtime;

use measured::Measured;
use sample::Sample;

#[derive(Parser)]
#[command(name = "cargo xtask bench releases", about = "Releases of podinfo without replicas, one in each namespace")]
struct Options {
    /// How many releases; each number is a run of its own
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_values_t = [100, 500])]
    count: Vec<usize>,
    /// Whom to measure; all if nobody is named
    #[arg(long, value_name = "WHO,…", value_enum, value_delimiter = ',')]
    only: Vec<Contender>,
    /// How often everybody is measured, in turn: the middle of it counts. 3 times if nothing is said, 9 with `--crds`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    rounds: Option<u8>,
    /// Fitout alone, with so many kinds in the cluster and without
    #[arg(long, value_name = "N", conflicts_with = "only")]
    crds: Option<usize>,
    /// Fitout alone: releases whose values change so that the same is rendered, over and over
    #[arg(long, conflicts_with_all = ["only", "crds", "manifests"])]
    unchanged: bool,
    /// Fitout gets what the chart renders to as plain manifests, in place of the chart
    #[arg(long)]
    manifests: bool,
    /// Said by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

/// Who is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
enum Contender {
    /// A plain client that sends the same writes
    Bare,
    /// The same client, which waits for what it wrote to be healthy: for comparison, no bar is held against it
    BareHealthy,
    /// A loop of `helm install`
    Helm,
    /// Flux, told not to wait for what it installs: for comparison, no bar is held against it
    FluxUnwaiting,
    /// Flux's helm-controller and source-controller
    Flux,
    /// The hub
    Fitout,
}

/// What all contenders have in common.
struct Stage {
    runtime: Runtime,
    chart: PathBuf,
    sample: Sample,
    /// Whether Fitout gets plain manifests.
    manifests: bool,
    /// Whether it gets the chart without its tests, whose names are made by chance at each rendering.
    untested: bool,
}

/// How many requests or releases there are under way at once, for those who can be told.
const AT_ONCE: usize = 10;

/// How often everybody is measured.
const ROUNDS: u8 = 3;

/// The same where many kinds are in the cluster: there the times of single runs differ by half, most likely by whether the API
/// server, which then keeps gigabytes in mind, collects its garbage within these three seconds.
const ROUNDS_CROWDED: u8 = 9;

/// The name of the chart, and of each release of it.
const PODINFO: &str = "podinfo";

/// The namespace of a release.
fn namespace(release: usize) -> String {
    format!("r{release}")
}

fn main() -> Result<ExitCode> {
    let options = Options::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let chart = Programs::get()?.chart(PODINFO);
    let stage = Stage {
        sample: Sample::take(&chart)?,
        runtime,
        chart,
        manifests: options.manifests,
        untested: options.unchanged,
    };
    let rounds = options.rounds.unwrap_or(if options.crds.is_some() { ROUNDS_CROWDED } else { ROUNDS });
    let mut missed = 0;
    for &count in &options.count {
        missed += match options.crds {
            None if options.unchanged => unchanged::run(&stage, count, rounds)?,
            Some(crds) => stage.crowded(count, crds, rounds)?,
            None => stage.contest(count, &options.only, rounds)?,
        };
    }
    if missed > 0 {
        eprintln!("bars that are missed: {missed}");
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

impl Stage {
    /// Metrics all who are named, or everybody, and says how many bars are missed.
    fn contest(&self, count: usize, only: &[Contender], rounds: u8) -> Result<usize> {
        println!("\n{count} releases of podinfo, {} objects each, {AT_ONCE} at once", self.sample.objects.len());
        println!("{}", measured::HEAD);
        let mut results = BTreeMap::<Contender, Vec<Measured>>::new();
        for _ in 0..rounds {
            for contender in Contender::value_variants() {
                if only.is_empty() || only.contains(contender) {
                    let measured = self.measure(*contender, count)?;
                    println!("{}", measured.line(self.title(*contender), count));
                    results.entry(*contender).or_default().push(measured);
                }
            }
        }
        let middle = |(contender, all): (Contender, Vec<Measured>)| (contender, Measured::middle(&all));
        Ok(bars::contest(&results.into_iter().map(middle).collect()))
    }

    fn measure(&self, contender: Contender, count: usize) -> Result<Measured> {
        match contender {
            Contender::Bare => bare::run(self, count, bare::Done::Written),
            Contender::BareHealthy => bare::run(self, count, bare::Done::Healthy),
            Contender::Helm => helm::run(self, count),
            Contender::FluxUnwaiting => flux::run(self, count, flux::Ready::Applied),
            Contender::Flux => flux::run(self, count, flux::Ready::Healthy),
            Contender::Fitout => fitout::run(self, count, 0),
        }
    }

    fn title(&self, contender: Contender) -> &'static str {
        match contender {
            Contender::Bare => "bare limit",
            Contender::BareHealthy => "bare, to health",
            Contender::Helm => "helm, 4 at once",
            Contender::FluxUnwaiting => "flux, unwaiting",
            Contender::Flux => "flux",
            Contender::Fitout if self.manifests => "fitout (manifests)",
            Contender::Fitout => "fitout",
        }
    }

    /// Metrics Fitout with many kinds in the cluster and without, and says how many bars are missed.
    fn crowded(&self, count: usize, crds: usize, rounds: u8) -> Result<usize> {
        println!("\n{count} releases of podinfo, with {crds} more kinds in the cluster and without");
        println!("{}", measured::HEAD);
        let more = format!("  {crds} kinds more");
        let (mut alone, mut crowded) = (vec![], vec![]);
        for _ in 0..rounds {
            for (all, crds, title) in [(&mut alone, 0, self.title(Contender::Fitout)), (&mut crowded, crds, &more)] {
                let measured = fitout::run(self, count, crds)?;
                println!("{}", measured.line(title, count));
                all.push(measured);
            }
        }
        Ok(bars::crowd(&Measured::middle(&alone), &Measured::middle(&crowded)))
    }
}

/// An API server that nobody has used before, as it comes: it keeps no record of what it is asked. All need the
/// controllers: who waits for a Deployment waits for them. Everybody shows a token, as whoever runs in a cluster does: a
/// certificate is checked anew at every request.
fn fresh() -> Result<Cluster> {
    let cluster = Cluster::start(Spec { audit: false, ..Spec::default() })?;
    let shown = cluster.kubeconfig_with(&cluster.admin_token()?)?;
    fs::write(cluster.kubeconfig(), shown)?;
    Ok(cluster)
}
