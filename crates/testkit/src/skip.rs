//! Tests that cannot run on this machine, and samples of cases.

use std::env;
use std::fmt::Display;
use std::fs::File;
use std::io::Write;

/// The environment variable that names the file in which skipped tests are recorded.
pub const RECORD: &str = "FITOUT_SKIPPED";

/// Records that the calling test cannot run on this machine, and why. The test then returns.
pub fn skip(reason: &impl Display) {
    let thread = std::thread::current();
    let line = format!("{}: {reason}", thread.name().unwrap_or("a test"));
    println!("skipped {line}");
    if let Some(path) = env::var_os(RECORD) {
        let recorded = File::options().append(true).create(true).open(path).and_then(|mut file| {
            // One write, so that tests that run side by side do not mix their lines.
            file.write_all(format!("{line}\n").as_bytes())
        });
        if let Err(error) = recorded {
            println!("the skip could not be recorded: {error}");
        }
    }
}

/// Whether `cargo xtask test --full` asks for all cases.
pub fn full() -> bool {
    env::var_os("FITOUT_FULL").is_some()
}

/// A sample of the cases, or all of them under `cargo xtask test --full`. `FITOUT_SEED` selects the sample, so that a
/// failure can be reproduced.
pub fn sample<T>(cases: Vec<T>, count: usize) -> Vec<T> {
    if full() {
        return cases;
    }
    let seed = env::var("FITOUT_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    take(cases, count, seed)
}

fn take<T>(mut cases: Vec<T>, count: usize, seed: u64) -> Vec<T> {
    // A linear congruential generator: it only has to reach every case.
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    let mut taken = Vec::new();
    while taken.len() < count && !cases.is_empty() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let index = usize::try_from(state >> 33).unwrap_or(0) % cases.len();
        taken.push(cases.swap_remove(index));
    }
    taken
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_seed_takes_the_same_cases_again() {
        let cases = || (0..100).collect::<Vec<_>>();
        assert_eq!(take(cases(), 5, 7), take(cases(), 5, 7));
        assert_ne!(take(cases(), 5, 7), take(cases(), 5, 8));
    }

    #[test]
    fn a_sample_has_each_case_at_most_once() {
        assert_eq!(take(vec!['a', 'b', 'c'], 10, 1).into_iter().collect::<BTreeSet<_>>().len(), 3);
    }

    #[test]
    fn every_case_is_taken_by_some_seed() {
        let seen: BTreeSet<_> = (0..200).flat_map(|seed| take((0..10).collect::<Vec<_>>(), 1, seed)).collect();
        assert_eq!(seen.len(), 10);
    }
}
