//! Many clusters: side by side, and one after the other.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use fitout_testkit::{Cluster, Spec};

/// One test, because the two would take the processors from each other.
#[test]
fn clusters_are_cheap() -> Result<()> {
    eight_side_by_side()?;
    twenty_in_turn()
}

fn eight_side_by_side() -> Result<()> {
    let began = Instant::now();
    let starting: Vec<_> = (0..8).map(|_| thread::spawn(|| Cluster::start(Spec::default()))).collect();
    let clusters: Vec<Cluster> =
        starting.into_iter().map(|thread| thread.join().ok().context("a thread panicked")?).collect::<Result<_>>()?;
    let took = began.elapsed();
    for cluster in &clusters {
        cluster.client().get("/api/v1/namespaces/default")?;
    }
    let memory: u64 = clusters.iter().map(Cluster::memory).sum::<Result<_>>()?;
    eprintln!("  8 side by side: {:.1} s, {} MB", took.as_secs_f32(), memory >> 20);
    assert!(took < Duration::from_mins(1), "{took:?}");
    assert!(memory < 4 << 30, "{memory}");
    Ok(())
}

fn twenty_in_turn() -> Result<()> {
    let mut times = Vec::new();
    for _ in 0..20 {
        let began = Instant::now();
        let cluster = Cluster::start(Spec::default())?;
        times.push(began.elapsed());
        cluster.namespace("mine")?;
    }
    times.sort();
    eprintln!("  20 in turn: {:.1} s in the middle, {:.1} s at most", times[10].as_secs_f32(), times[19].as_secs_f32());
    assert!(times[19] < Duration::from_secs(4), "{times:?}");
    Ok(())
}
