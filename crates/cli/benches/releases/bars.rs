//! What has to be reached.

use std::collections::BTreeMap;

use crate::Contender;
use crate::measured::Measured;

/// A ratio of ours to theirs, and the bar it is held against.
struct Bar {
    what: &'static str,
    ratio: f64,
    limit: Limit,
}

enum Limit {
    AtLeast(f64),
    AtMost(f64),
}

impl Bar {
    /// Prints it, and says whether it is missed.
    fn missed(&self) -> bool {
        let Self { what, ratio, limit } = self;
        let (holds, words) = match limit {
            Limit::AtLeast(least) => (ratio >= least, format!("at least {least:.2}")),
            Limit::AtMost(most) => (ratio <= most, format!("at most {most:.2}")),
        };
        // One that is missed by a hair is to be seen to be.
        println!("    {what:38} {ratio:>7.3}   {words:14} {}", if holds { "holds" } else { "MISSED" });
        !holds
    }
}

/// How many bars are missed among those who were measured.
pub fn contest(results: &BTreeMap<Contender, Measured>) -> usize {
    let Some(ours) = results.get(&Contender::Fitout) else { return 0 };
    let mut bars = vec![];
    if let Some(flux) = results.get(&Contender::Flux) {
        bars.extend([
            Bar { what: "rate, to that of flux", ratio: time(flux, ours), limit: Limit::AtLeast(5.0) },
            Bar { what: "memory, to that of flux", ratio: memory(ours, flux), limit: Limit::AtMost(1.0 / 3.0) },
            Bar { what: "CPU, to that of flux", ratio: cpu(ours, flux), limit: Limit::AtMost(0.25) },
        ]);
    }
    if let Some(helm) = results.get(&Contender::Helm) {
        println!("    {:38} {:>7.3}", "rate, to that of helm", time(helm, ours));
    }
    if let Some(bare) = results.get(&Contender::Bare) {
        bars.push(Bar { what: "rate, to the bare limit", ratio: time(bare, ours), limit: Limit::AtLeast(0.5) });
    }
    if let Some(bare) = results.get(&Contender::BareHealthy) {
        println!("    {:38} {:>7.3}", "rate, to that of bare to health", time(bare, ours));
    }
    bars.iter().filter(|bar| bar.missed()).count()
}

/// How many bars are missed with many kinds in the cluster.
pub fn crowd(alone: &Measured, crowded: &Measured) -> usize {
    let bars = [
        Bar { what: "time, to that without them", ratio: time(crowded, alone), limit: Limit::AtMost(1.2) },
        Bar { what: "memory, to that without them", ratio: memory(crowded, alone), limit: Limit::AtMost(1.2) },
    ];
    bars.iter().filter(|bar| bar.missed()).count()
}

/// Whether the bar of changes that change nothing is missed.
pub fn unchanged(per_second: f64) -> usize {
    let bar = Bar { what: "per CPU second of the hub", ratio: per_second, limit: Limit::AtLeast(500.0) };
    usize::from(bar.missed())
}

fn time(one: &Measured, other: &Measured) -> f64 {
    one.took.as_secs_f64() / other.took.as_secs_f64()
}

fn cpu(one: &Measured, other: &Measured) -> f64 {
    one.cpu.as_secs_f64() / other.cpu.as_secs_f64()
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn memory(one: &Measured, other: &Measured) -> f64 {
    let bytes = |of: &Measured| of.memory.unwrap_or_default() as f64;
    bytes(one) / bytes(other)
}
