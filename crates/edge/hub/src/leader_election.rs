//! One hub works, the others wait: who holds the Lease leads.
//!
//! A leader that cannot renew stops writing before anybody else may begin, and so does one that was stopped and goes on:
//! its fence is a moment in time. Who waits goes by its own clock alone: a Lease that has not changed for as long as it
//! lasts is nobody's.

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
    /// Who we are.
    me: String,
    /// How long a Lease lasts that is not renewed.
    lasts: Duration,
    fence: Fence,
}

impl LeaderElection {
    /// For a client that the fence does not hold back.
    pub(crate) fn new(client: Client, me: String, lasts: Duration, fence: Fence) -> Self {
        Self { leases: Api::namespaced(client, SYSTEM), me, lasts, fence }
    }

    /// Waits until we lead.
    pub(crate) async fn acquire(&self) -> Result<Lease> {
        let only = watcher::Config::default().fields(&format!("metadata.name={NAME}"));
        let mut events = pin!(watcher(self.leases.clone(), only).default_backoff());
        let mut found: Option<Lease> = None;
        loop {
            // What is said of it keeps it alive; when nothing is said for as long as it lasts, it is over.
            let lasts = found.as_ref().and_then(duration).unwrap_or(self.lasts);
            match timeout(lasts, events.next()).await {
                Ok(Some(Ok(Event::Apply(lease) | Event::InitApply(lease)))) => {
                    let free = holder(&lease).is_empty() || holder(&lease) == self.me;
                    found = Some(lease);
                    if !free {
                        continue;
                    }
                }
                Ok(Some(Ok(Event::Delete(_)))) => found = None,
                Ok(Some(Ok(Event::InitDone))) if found.is_none() => {}
                // Silence, where there was an answer before.
                Err(_) if found.is_some() => {}
                Ok(Some(Err(error))) => {
                    tracing::debug!(%error, "watch the lease");
                    continue;
                }
                Ok(None) => bail!("the watch on the lease has ended"),
                _ => continue,
            }
            match self.take(found.as_ref()).await {
                Ok(lease) => return Ok(lease),
                // Somebody else was faster, or the server did not answer: what it says next is waited for.
                Err(error) => tracing::debug!(%error, "take the lease"),
            }
        }
    }

    /// Renews for as long as we lead; an error when we no longer do.
    pub(crate) async fn keep(&self, lease: &mut Lease) -> Result<()> {
        loop {
            sleep(self.lasts / 3).await;
            loop {
                match self.take(Some(lease)).await {
                    Ok(renewed) => {
                        *lease = renewed;
                        break;
                    }
                    Err(kube::Error::Api(status)) if status.code == 409 => bail!("another hub has taken the lease"),
                    Err(error) if self.fence.allows_writes() => {
                        tracing::warn!(%error, "renew the lease");
                        sleep(self.lasts / 15).await;
                    }
                    Err(error) => bail!("the lease could not be renewed in time: {error}"),
                }
            }
        }
    }

    /// Lets somebody else lead at once.
    pub(crate) async fn release(&self, lease: Lease) -> Result<()> {
        self.fence.extend(Instant::now());
        match self.let_go(lease).await {
            // It was being renewed when we were told to stop, and the answer was not waited for.
            Err(kube::Error::Api(status)) if status.code == 409 => {
                let only = ListParams::default().fields(&format!("metadata.name={NAME}"));
                let found = self.leases.list(&only).await?.items.into_iter().find(|lease| holder(lease) == self.me);
                match found {
                    Some(lease) => Ok(self.let_go(lease).await?),
                    None => Ok(()),
                }
            }
            done => Ok(done?),
        }
    }

    async fn let_go(&self, mut lease: Lease) -> kube::Result<()> {
        lease.spec.get_or_insert_default().holder_identity = None;
        self.leases.replace(NAME, &PostParams::default(), &lease).await.map(drop)
    }

    async fn take(&self, found: Option<&Lease>) -> kube::Result<Lease> {
        let began = Instant::now();
        let before = found.and_then(|lease| lease.spec.clone()).unwrap_or_default();
        let ours = before.holder_identity.as_deref() == Some(&self.me);
        let now = MicroTime(Timestamp::now());
        let turns = before.lease_transitions.unwrap_or(0) + i32::from(!ours);
        let lease = Lease {
            metadata: ObjectMeta {
                name: Some(NAME.to_owned()),
                resource_version: found.and_then(ResourceExt::resource_version),
                ..ObjectMeta::default()
            },
            spec: Some(LeaseSpec {
                holder_identity: Some(self.me.clone()),
                lease_duration_seconds: i32::try_from(self.lasts.as_secs()).ok().filter(|seconds| *seconds > 0),
                acquire_time: if ours { before.acquire_time } else { Some(now.clone()) },
                renew_time: Some(now),
                lease_transitions: Some(turns),
                ..LeaseSpec::default()
            }),
        };
        let params = PostParams::default();
        let lease = match found {
            Some(_) => self.leases.replace(NAME, &params, &lease).await?,
            None => self.leases.create(&params, &lease).await?,
        };
        // A fifth less than others wait: clocks do not run quite alike.
        self.fence.extend(began + self.lasts * 4 / 5);
        Ok(lease)
    }
}

/// How long its holder said that it lasts.
fn duration(lease: &Lease) -> Option<Duration> {
    let seconds = lease.spec.as_ref()?.lease_duration_seconds?;
    Some(Duration::from_secs(u64::try_from(seconds).ok()?))
}

fn holder(lease: &Lease) -> &str {
    lease.spec.as_ref().and_then(|spec| spec.holder_identity.as_deref()).unwrap_or_default()
}
