//! How soon drift is corrected. The suite runs this module alone, because it measures time.

use std::time::Instant;

use anyhow::{Result, anyhow};
use fitout_testkit::{sample, until};
use serde_json::json;

use crate::world::{LIMIT, World};

#[test]
fn drift_is_corrected_within_a_second() -> Result<()> {
    let world = World::start()?;
    world.want(&json!({}))?;
    world.ready(1)?;
    let kept = "/api/v1/namespaces/thing/configmaps/kept";
    let client = world.target.client();
    let mut times = Vec::new();
    for trial in sample((0..100).collect(), 20) {
        let before = client.get(kept)?;
        if trial % 2 == 0 {
            client.delete(kept)?;
        } else {
            let mut edited = before.clone();
            edited["data"]["size"] = "edited".into();
            client.replace(kept, &edited)?;
        }
        let began = Instant::now();
        until("it is back", LIMIT, || match client.find(kept)? {
            Some(now) if now["data"] == before["data"] => Ok(()),
            other => Err(anyhow!("{other:?}")),
        })?;
        times.push(began.elapsed());
    }
    times.sort();
    let p95 = times[times.len() * 95 / 100];
    eprintln!(
        "  drift: {} trials, 95 of 100 within {:.3} s, the slowest {:.3} s",
        times.len(),
        p95.as_secs_f32(),
        times[times.len() - 1].as_secs_f32()
    );
    assert!(p95.as_secs() < 1, "{times:?}");
    Ok(())
}
