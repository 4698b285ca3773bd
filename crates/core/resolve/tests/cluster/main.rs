//! Resolutions of many small random clusters, compared with those of a brute-force search.

#![allow(clippy::unwrap_used, reason = "tests")]
#![allow(clippy::similar_names, clippy::unused_self, reason = "the specification, as close to its words as can be")]

mod brute;
mod facts;
mod random;

use fitout_resolve::cluster::{Fact, Index, Outcome, resolve};

/// So many clusters, each with catalogs of its own. `FITOUT_RESOLVE_CASES` has another number.
const CASES: u64 = 3000;

fn cases() -> u64 {
    std::env::var("FITOUT_RESOLVE_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(CASES)
}

#[test]
fn resolutions_are_those_of_a_brute_force_search() {
    let (mut set_aside, mut added, mut together, mut hops, mut circles) = (0, 0, 0, 0, 0);
    for seed in 0..cases() {
        let world = random::World::new(seed);
        let (extensions, problem) = (world.extensions(), world.problem());
        let index = Index::new(extensions.clone());
        let resolution = resolve(&index, &problem).unwrap();
        let expected = brute::resolve(&extensions, &problem);
        let found = brute::Answer::of(&resolution);
        assert_eq!(found, expected, "seed {seed}\n{extensions:#?}\n{problem:#?}");
        facts::check(&extensions, &problem, &resolution, seed);
        for instance in &resolution.instances {
            match &instance.outcome {
                Outcome::SetAside { why, .. } => {
                    set_aside += 1;
                    together += usize::from(why.facts.iter().any(|it| matches!(it, Fact::Together { .. })));
                    circles += usize::from(why.facts.iter().any(|it| matches!(it, Fact::Circle { .. })));
                }
                Outcome::Version { hops: between, .. } => hops += usize::from(!between.is_empty()),
            }
        }
        added += resolution.additions.len();
    }
    println!("{set_aside} set aside ({together} together, {circles} circles), {added} added, {hops} with hops");
    // The catalogs are such that all of it happens.
    assert!(set_aside > 100 && added > 100 && hops > 10 && circles > 0);
}
