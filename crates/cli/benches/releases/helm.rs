//! A loop of `helm install`, as a script would have it. It does not wait for what it installs to be healthy.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use anyhow::{Result, anyhow};
use fitout_testkit::cpu_of_children;

use crate::measured::{Measured, calm_cluster};
use crate::sample::SET;
use crate::{PODINFO, Stage, fresh, namespace};

const AT_ONCE: usize = 4;

pub fn run(stage: &Stage, count: usize) -> Result<Measured> {
    let cluster = fresh()?;
    calm_cluster(&cluster)?;
    let (helm, chart, next) = (cluster.helm(), stage.chart.to_string_lossy(), AtomicUsize::new(0));
    let install = || -> Result<()> {
        loop {
            let release = next.fetch_add(1, Ordering::Relaxed);
            if release >= count {
                return Ok(());
            }
            let namespace = namespace(release);
            helm.run(&["install", PODINFO, &chart, "--create-namespace", "--namespace", &namespace, "--set", SET])?;
        }
    };
    let before = cpu_of_children()?;
    let began = Instant::now();
    thread::scope(|scope| -> Result<()> {
        let loops: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(install)).collect();
        loops.into_iter().try_for_each(|one| one.join().map_err(|_| anyhow!("a loop panicked"))?)
    })?;
    let took = began.elapsed();
    Ok(Measured { took, cpu: cpu_of_children()?.saturating_sub(before), memory: None })
}
