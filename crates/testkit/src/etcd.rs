//! etcd, the store of API servers.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;

use crate::{KubeVersion, Process, Sandbox};

/// A running etcd. Clusters can share one, each under its own prefix.
#[derive(Clone, Debug)]
pub struct Etcd(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    process: Process,
    address: String,
    /// The sandbox of a shared etcd, which ends when the last cluster that shares it has ended.
    _sandbox: Option<Sandbox>,
}

impl Etcd {
    /// Starts an etcd for several clusters.
    pub fn start() -> Result<Self> {
        let sandbox = Sandbox::claim()?;
        let (process, address) = launch(&sandbox)?;
        Ok(Self(Arc::new(Inner { process, address, _sandbox: Some(sandbox) })))
    }

    /// Starts an etcd in the sandbox of a cluster.
    pub(crate) fn start_in(sandbox: &Sandbox) -> Result<Self> {
        let (process, address) = launch(sandbox)?;
        Ok(Self(Arc::new(Inner { process, address, _sandbox: None })))
    }

    /// Its address.
    pub fn address(&self) -> &str {
        &self.0.address
    }

    /// Its process.
    pub fn process(&self) -> &Process {
        &self.0.process
    }

    /// Compacts the history up to now: a watch from an earlier revision has to list again.
    pub fn compact(&self) -> Result<()> {
        let ask = |path: &str, body: serde_json::Value| -> Result<serde_json::Value> {
            Ok(ureq::post(format!("{}{path}", self.0.address)).send_json(body)?.body_mut().read_json()?)
        };
        let status = ask("/v3/maintenance/status", serde_json::json!({}))?;
        let revision = &status["header"]["revision"];
        ask("/v3/kv/compaction", serde_json::json!({ "revision": revision, "physical": true })).map(drop)
    }

    /// Keeps it running after this program has ended.
    pub(crate) fn leave(self) {
        std::mem::forget(self);
    }
}

fn launch(sandbox: &Sandbox) -> Result<(Process, String)> {
    let client = format!("http://{}:2379", sandbox.address_block().loopback());
    let peer = format!("http://{}:2380", sandbox.address_block().loopback());
    let command = [
        sandbox.programs().kubebox(KubeVersion::NEWEST).to_string_lossy().into_owned(),
        "etcd".to_owned(),
        format!("--data-dir={}", sandbox.path("etcd")),
        format!("--listen-client-urls={client}"),
        format!("--advertise-client-urls={client}"),
        format!("--listen-peer-urls={peer}"),
        format!("--initial-advertise-peer-urls={peer}"),
        format!("--initial-cluster=default={peer}"),
        // A lone member elects itself after one election time-out: the default makes every start a second slower.
        "--heartbeat-interval=10".to_owned(),
        "--election-timeout=50".to_owned(),
        // Test data need not survive a power cut.
        "--unsafe-no-fsync".to_owned(),
        "--log-level=warn".to_owned(),
    ];
    let mut process = Process::start(sandbox, "etcd", &command)?;
    process.until_ready(Duration::from_secs(30), || {
        let mut answer = ureq::get(format!("{client}/health")).call()?;
        let text = answer.body_mut().read_to_string()?;
        if text.contains(r#""health":"true""#) { Ok(()) } else { Err(anyhow::anyhow!("{text}")) }
    })?;
    Ok((process, client))
}
