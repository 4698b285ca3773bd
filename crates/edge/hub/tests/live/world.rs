//! A hub that runs in this process, and a target.

#![allow(clippy::unwrap_used, dead_code, unreachable_pub, missing_docs, reason = "a benchmark uses it too")]

use std::fs;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use fitout_hub::{MetricsHandle, Options};
use fitout_testkit::{Cluster, Installation, Proxy, Spec};
use kube::Config;
use kube::config::{KubeConfigOptions, Kubeconfig};
use tokio::runtime::{Builder, Runtime};

pub const LIMIT: Duration = Duration::from_secs(30);

/// A hub and a target, and the hub running.
pub struct World {
    installation: Installation,
    pub runtime: Runtime,
}

impl Deref for World {
    type Target = Installation;

    fn deref(&self) -> &Installation {
        &self.installation
    }
}

impl DerefMut for World {
    fn deref_mut(&mut self) -> &mut Installation {
        &mut self.installation
    }
}

impl World {
    /// With a catalog to install from, and a target that only has a Node object.
    pub fn start() -> Result<Self> {
        let world = Self::start_with(false)?;
        world.offer()?;
        Ok(world)
    }

    /// With a real node or without, and no catalog yet.
    pub fn start_with(node: bool) -> Result<Self> {
        Self::run(Installation::start(node)?)
    }

    /// With one cluster that is both, and no catalog yet.
    pub fn start_on_itself() -> Result<Self> {
        let both = Arc::new(Cluster::start(Spec::default())?);
        Self::start_on(Arc::clone(&both), both)
    }

    /// With these two, which may be one, and no catalog yet.
    pub fn start_on(hub: Arc<Cluster>, target: Arc<Cluster>) -> Result<Self> {
        Self::run(Installation::prepare(hub, target)?)
    }

    fn run(installation: Installation) -> Result<Self> {
        let world = Self { runtime: run_hub(direct(&installation)?)?, installation };
        world.register()?;
        Ok(world)
    }

    /// Aborts the hub, and starts another.
    pub fn restart_hub(self) -> Result<Self> {
        let Self { installation, runtime } = self;
        runtime.shutdown_background();
        Ok(Self { runtime: run_hub(direct(&installation)?)?, installation })
    }

    /// Aborts the hub, and starts another, whose requests to its API server go through a proxy.
    pub fn restart_hub_behind(self, proxy: &Proxy, token: &str) -> Result<Self> {
        let Self { installation, runtime } = self;
        runtime.shutdown_background();
        let kubeconfig = serde_json::from_value(proxy.kubeconfig(token))?;
        Ok(Self { runtime: run_hub(kubeconfig)?, installation })
    }
}

fn direct(installation: &Installation) -> Result<Kubeconfig> {
    Ok(Kubeconfig::from_yaml(&fs::read_to_string(installation.hub.kubeconfig())?)?)
}

fn run_hub(kubeconfig: Kubeconfig) -> Result<Runtime> {
    let (content_gc_grace, lease) = (Duration::from_secs(1), Duration::from_secs(2));
    let options = Options { history: 5, content_gc_grace, lease, ..Options::default() };
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.spawn(async move {
        let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
        if let Err(error) = fitout_hub::run(config, options, &MetricsHandle::default(), std::future::pending()).await {
            eprintln!("the hub ended: {error:#}");
        }
    });
    Ok(runtime)
}
