//! Leader election: the replica that holds the Lease leads, the others wait.
//!
//! A leader that cannot renew stops writing before another replica may acquire the Lease. So does a process that was
//! frozen: the fence is a point in time. A replica that waits uses its own clock alone: a Lease that has not changed
//! for its duration has expired.

use std::pin::pin;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use fitout_cluster_client::Fence;
use futures::StreamExt;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::Timestamp;
use kube::api::{ListParams, ObjectMeta, PostParams};
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client, ResourceExt};
use tokio::time::{sleep, timeout};

use crate::SYSTEM;

const NAME: &str = "fitout-hub";

pub(crate) struct LeaderElection {
    leases: Api<Lease>,
    identity: String,
    /// The duration of a Lease that is not renewed.
    duration: Duration,
    fence: Fence,
}

impl LeaderElection {
    /// The client must not be fenced: the Lease is written before anything else may be.
    pub(crate) fn new(client: Client, identity: String, duration: Duration, fence: Fence) -> Self {
        Self { leases: Api::namespaced(client, SYSTEM), identity, duration, fence }
    }

    /// Waits until this replica has acquired the Lease.
    pub(crate) async fn acquire(&self) -> Result<Lease> {
        let config = watcher::Config::default().fields(&format!("metadata.name={NAME}"));
        let mut events = pin!(watcher(self.leases.clone(), config).default_backoff());
        let mut found: Option<Lease> = None;
        loop {
            // Every event of the Lease starts its duration again.
            let duration = found.as_ref().and_then(lease_duration).unwrap_or(self.duration);
            match timeout(duration, events.next()).await {
                Ok(Some(Ok(Event::Apply(lease) | Event::InitApply(lease)))) => {
                    let free = holder(&lease).is_empty() || holder(&lease) == self.identity;
                    found = Some(lease);
                    if !free {
                        continue;
                    }
                }
                Ok(Some(Ok(Event::Delete(_)))) => found = None,
                Ok(Some(Ok(Event::InitDone))) if found.is_none() => {}
                // The known Lease has expired.
                Err(_) if found.is_some() => {}
                Ok(Some(Err(error))) => {
                    tracing::debug!(%error, "failed to watch lease");
                    continue;
                }
                Ok(None) => bail!("the watch on the lease has ended"),
                _ => continue,
            }
            match self.take(found.as_ref()).await {
                Ok(lease) => return Ok(lease),
                // Another replica was faster, or the server did not answer: wait for the next event.
                Err(error) => tracing::debug!(%error, "failed to acquire lease"),
            }
        }
    }

    /// Renews the Lease. Returns an error when it is lost.
    pub(crate) async fn keep(&self, lease: &mut Lease) -> Result<()> {
        loop {
            sleep(self.duration / 3).await;
            loop {
                match self.take(Some(lease)).await {
                    Ok(renewed) => {
                        *lease = renewed;
                        break;
                    }
                    Err(kube::Error::Api(status)) if status.code == 409 => bail!("another hub has taken the lease"),
                    Err(error) if self.fence.allows_writes() => {
                        tracing::warn!(%error, "failed to renew lease");
                        sleep(self.duration / 15).await;
                    }
                    Err(error) => bail!("the lease could not be renewed in time: {error}"),
                }
            }
        }
    }

    /// Releases the Lease, so that another replica can acquire it at once.
    pub(crate) async fn release(&self, lease: Lease) -> Result<()> {
        self.fence.extend(Instant::now());
        match self.clear_holder(lease).await {
            // A renewal was under way when the hub was stopped, and its answer was not read.
            Err(kube::Error::Api(status)) if status.code == 409 => {
                let params = ListParams::default().fields(&format!("metadata.name={NAME}"));
                let found =
                    self.leases.list(&params).await?.items.into_iter().find(|lease| holder(lease) == self.identity);
                match found {
                    Some(lease) => Ok(self.clear_holder(lease).await?),
                    None => Ok(()),
                }
            }
            result => Ok(result?),
        }
    }

    async fn clear_holder(&self, mut lease: Lease) -> kube::Result<()> {
        lease.spec.get_or_insert_default().holder_identity = None;
        self.leases.replace(NAME, &PostParams::default(), &lease).await.map(drop)
    }

    async fn take(&self, found: Option<&Lease>) -> kube::Result<Lease> {
        let began = Instant::now();
        let before = found.and_then(|lease| lease.spec.clone()).unwrap_or_default();
        let ours = before.holder_identity.as_deref() == Some(&self.identity);
        let now = MicroTime(Timestamp::now());
        let transitions = before.lease_transitions.unwrap_or(0) + i32::from(!ours);
        let lease = Lease {
            metadata: ObjectMeta {
                name: Some(NAME.to_owned()),
                resource_version: found.and_then(ResourceExt::resource_version),
                ..ObjectMeta::default()
            },
            spec: Some(LeaseSpec {
                holder_identity: Some(self.identity.clone()),
                lease_duration_seconds: i32::try_from(self.duration.as_secs()).ok().filter(|seconds| *seconds > 0),
                acquire_time: if ours { before.acquire_time } else { Some(now.clone()) },
                renew_time: Some(now),
                lease_transitions: Some(transitions),
                ..LeaseSpec::default()
            }),
        };
        let params = PostParams::default();
        let lease = match found {
            Some(_) => self.leases.replace(NAME, &params, &lease).await?,
            None => self.leases.create(&params, &lease).await?,
        };
        // A fifth less than the others wait, because clocks run at different speeds.
        self.fence.extend(began + self.duration * 4 / 5);
        Ok(lease)
    }
}

/// The duration that the holder has set.
fn lease_duration(lease: &Lease) -> Option<Duration> {
    let seconds = lease.spec.as_ref()?.lease_duration_seconds?;
    Some(Duration::from_secs(u64::try_from(seconds).ok()?))
}

fn holder(lease: &Lease) -> &str {
    lease.spec.as_ref().and_then(|spec| spec.holder_identity.as_deref()).unwrap_or_default()
}
