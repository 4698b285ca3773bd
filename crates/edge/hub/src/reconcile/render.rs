//! The desired release: resolved, fetched, rendered once, or restored from an earlier revision.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fitout_api::{ExtensionInstance, Policy};
use fitout_cluster_client::ClusterInfo;
use fitout_content::{Error as ContentError, Packed};
use fitout_model::Digest;
use fitout_plan::{
    Environment, Lookup, Mask, RenderError, RenderProgress, RenderedRelease, Request, ResolvedPackage, adopted,
    from_stored_content,
};
use fitout_reconcile::{Claim, Revision, crds_to_check, refuse_crd_change, release_owner, restore};
use kube::ResourceExt;
use serde_json::{Value, json};

use crate::blocking::run_blocking;
use crate::compute::layers;
use crate::reconcile::convert::{self, catalog_namespace, failure_policy, owner};
use crate::reconcile::worker::Worker;

/// How many rounds of lookups the templates of a chart may ask for.
const LOOKUPS: usize = 16;

/// The pause before a definition that could not be read from the content store is read again.
const CONTENT_RETRY: Duration = Duration::from_secs(2);

/// The last rendered release of a worker.
#[derive(Default)]
pub(crate) struct RenderCache {
    /// The result, with the digest of everything that it depends on.
    last: Option<(Digest, Result<Arc<RenderedRelease>, RenderError>)>,
    /// When a chart that could not be fetched or rendered is fetched again.
    retry_at: Option<Instant>,
}

impl RenderCache {
    /// Forgets the last result.
    pub(crate) fn clear(&mut self) {
        self.last = None;
    }

    /// The time left until a failed chart is fetched again.
    pub(crate) fn retry_in(&self) -> Option<Duration> {
        self.retry_at.map(|at| at.saturating_duration_since(Instant::now()))
    }

    fn get(&self, key: &Digest) -> Option<&Result<Arc<RenderedRelease>, RenderError>> {
        self.last.as_ref().filter(|(from, _)| from == key).map(|(_, result)| result)
    }

    /// The content of the last rendered release, if it is this artifact.
    fn content(&self, artifact: &Digest) -> Option<String> {
        let (_, result) = self.last.as_ref()?;
        let rendered = result.as_ref().ok().filter(|rendered| rendered.artifact.digest == *artifact)?;
        // An older hub may have serialized the same content differently.
        Some(rendered.content.text()).filter(|text| Digest::of(text) == *artifact)
    }
}

/// A failed attempt to render, and when another one may succeed although nothing that the hub watches has changed.
struct FailedAttempt {
    error: RenderError,
    retry_at: Option<Instant>,
}

impl From<RenderError> for FailedAttempt {
    fn from(error: RenderError) -> Self {
        Self { error, retry_at: None }
    }
}

impl Worker {
    /// The desired release of an instance. For an instance that is being deleted, the installed one with its delete hooks.
    pub(crate) async fn render(&mut self, instance: &ExtensionInstance) -> Result<Arc<RenderedRelease>, RenderError> {
        self.render_cache.retry_at = None;
        if instance.metadata.deletion_timestamp.is_none() {
            return self.render_desired(instance).await;
        }
        let has_hooks = |last: &&Revision| !last.hooks.is_empty() && !instance.spec.skip_delete_hooks;
        let Some(last) = self.recorded.revisions.last().filter(has_hooks) else {
            return Err(RenderError::Invalid("the instance is being deleted".to_owned()));
        };
        let (key, number) = (last.artifact.clone(), last.number);
        if let Some(result) = self.render_cache.get(&key) {
            return result.clone();
        }
        let result = self.restored(instance, number).await.map(Arc::new);
        self.render_cache.last = Some((key, result.clone()));
        result
    }

    /// Renders the desired release, unless none of its inputs has changed.
    async fn render_desired(&mut self, instance: &ExtensionInstance) -> Result<Arc<RenderedRelease>, RenderError> {
        let info = self.target.info();
        let versions = self.versions(instance).await;
        self.ensure_release_is_ours(instance)?;
        let values = layers::values(&self.hub.cache, instance)?;
        let key = Digest::of_value(&json!([
            instance.spec,
            values,
            info.version,
            self.installed(),
            self.recorded.has_failed(&self.records.statuses),
            versions.fingerprint(),
        ]));
        if let Some(Ok(rendered)) = self.render_cache.get(&key) {
            return Ok(Arc::clone(rendered));
        }
        let attempt = if let Some(number) = instance.spec.rollback_to {
            self.roll_back(instance, number).await.map_err(Into::into)
        } else {
            let request = self.request(instance, &values, &info);
            match self.resolve(&request, &versions).await {
                Ok(chosen) => self.fetch_and_render(instance, &request, chosen).await,
                Err(error) => {
                    let is_transient = matches!(error, RenderError::Unavailable(_));
                    let retry_at = is_transient.then(|| Instant::now() + CONTENT_RETRY);
                    Err(FailedAttempt { error, retry_at })
                }
            }
        };
        let result = match attempt {
            Ok(mut rendered) => {
                rendered.ignore = instance.spec.drift.ignore.iter().map(convert::ignore).collect();
                Ok(Arc::new(rendered))
            }
            Err(FailedAttempt { error, retry_at }) => {
                self.render_cache.retry_at = retry_at;
                Err(self.without_secrets(error, instance))
            }
        };
        self.render_cache.last = Some((key, result.clone()));
        result
    }

    /// Refuses to render for a release that belongs to another instance.
    fn ensure_release_is_ours(&self, instance: &ExtensionInstance) -> Result<(), RenderError> {
        let others = self.hub.cache.instances_of_release(instance);
        let others: Vec<_> =
            others.iter().map(|other| (other.name_any(), other.uid().unwrap_or_default(), other)).collect();
        let claims = others.iter().map(|(name, uid, other)| Claim {
            instance: name,
            installed: other.status.as_ref().is_some_and(|status| status.revision.is_some()),
            created: &other.metadata.creation_timestamp,
            uid,
        });
        let own = Claim {
            instance: &self.name,
            installed: !self.recorded.revisions.is_empty(),
            created: &instance.metadata.creation_timestamp,
            uid: &instance.uid().unwrap_or_default(),
        };
        match release_owner(&own, claims) {
            None => Ok(()),
            Some(other) => Err(RenderError::Invalid(format!(
                "release {} belongs to instance {other}; choose another release name or namespace",
                instance.spec.release_name()
            ))),
        }
    }

    /// Hides a chart's message that may quote a value from a secret.
    fn without_secrets(&self, error: RenderError, instance: &ExtensionInstance) -> RenderError {
        let RenderError::Invalid(message) = &error else { return error };
        let secrets = layers::secrets(&self.hub.cache, instance).unwrap_or_default();
        if !Mask::default().secrets(&secrets).hides(&json!(message)) {
            return error;
        }
        let name = instance.name_any();
        RenderError::Invalid(format!(
            "the chart refuses its values; the reason is hidden, because it may contain a secret; `fitout values {name} \
             --explain` shows which values come from valuesFrom"
        ))
    }

    /// The request to resolve and render an instance with these values.
    pub(crate) fn request<'a>(
        &'a self,
        instance: &'a ExtensionInstance,
        values: &'a Value,
        info: &'a ClusterInfo,
    ) -> Request<'a> {
        let spec = &instance.spec;
        Request {
            extension: &spec.extension.name,
            version: spec.version.as_deref(),
            latest: spec.upgrade.policy == Policy::Latest,
            stays_on_withdrawn: spec.upgrade.policy == Policy::Manual,
            installed: self.installed(),
            values,
            owner: owner(instance),
            revision: self.recorded.next_number(&self.records.statuses),
            kubernetes: &info.version,
            apis: &info.apis,
        }
    }

    /// Fetches the chart of a resolved package, if it has one, and renders it.
    async fn fetch_and_render(
        &self,
        instance: &ExtensionInstance,
        request: &Request<'_>,
        chosen: ResolvedPackage,
    ) -> Result<RenderedRelease, FailedAttempt> {
        let archive = self.hub.archive(&catalog_namespace(instance), &chosen.package).await;
        let archive = archive.map_err(|failed| FailedAttempt { error: failed.why, retry_at: Some(failed.due) })?;
        let published = archive.is_some();
        let rendered = self.render_once(instance, request, ResolvedPackage { archive, ..chosen }).await;
        rendered.map_err(|error| {
            // The publisher may correct the chart without any notification.
            let correctable = published && matches!(error, RenderError::Invalid(_));
            let retry_at = correctable.then(|| Instant::now() + self.hub.options.fetch_retry_interval);
            FailedAttempt { error, retry_at }
        })
    }

    /// Renders a resolved package, unless the newest revision was rendered from the same inputs.
    async fn render_once(
        &self,
        instance: &ExtensionInstance,
        request: &Request<'_>,
        chosen: ResolvedPackage,
    ) -> Result<RenderedRelease, RenderError> {
        let inputs = chosen.inputs(request);
        let policy = failure_policy(instance.spec.on_failure);
        if let Some(choice) = restore(policy, &inputs, &self.recorded, &self.records.statuses) {
            let mut rendered = self.restored(instance, choice.revision).await?;
            rendered.why = format!(
                "revision {} failed, so the release before it was restored; it stays until the instance changes",
                choice.failed
            );
            return Ok(rendered);
        }
        if let Some(last) = self.recorded.revisions.last().filter(|last| last.inputs.as_ref() == Some(&inputs))
            && let Some(content) = self.content(instance, &last.artifact).await?
        {
            return chosen.reuse_stored(&content, request);
        }
        let mut answers: BTreeMap<Lookup, Value> = BTreeMap::new();
        for _ in 0..LOOKUPS {
            match render(&chosen, request, &answers)? {
                RenderProgress::Ready(rendered) => {
                    self.ensure_crds_are_safe(instance, &rendered).await?;
                    return Ok(*rendered);
                }
                RenderProgress::Need(lookups) => {
                    for lookup in lookups {
                        let answer = self.target.lookup(&lookup).await;
                        let answer = answer.map_err(|refusal| RenderError::Invalid(format!("lookup: {refusal}")))?;
                        answers.insert(lookup, answer);
                    }
                }
            }
        }
        Err(RenderError::Invalid(format!(
            "the templates of the chart still look up objects after {LOOKUPS} rounds; correct the chart"
        )))
    }

    /// Refuses CRD changes that would lose stored objects, unless the instance allows them by name.
    async fn ensure_crds_are_safe(
        &self,
        instance: &ExtensionInstance,
        rendered: &RenderedRelease,
    ) -> Result<(), RenderError> {
        for (id, desired) in crds_to_check(&rendered.content, &instance.spec.allow_data_loss) {
            let live = self.target.read(&id).await;
            let Some(live) = live.map_err(|refusal| RenderError::Unavailable(refusal.to_string()))? else { continue };
            if let Some(refusal) = refuse_crd_change(&id, &live, desired) {
                return Err(RenderError::Invalid(refusal));
            }
        }
        Ok(())
    }

    async fn roll_back(&self, instance: &ExtensionInstance, number: u32) -> Result<RenderedRelease, RenderError> {
        let mut rendered = self.restored(instance, number).await?;
        // Only Helm's tables show the app version; it is empty for a revision of an older hub, without its package.
        if let Some(pack) = &rendered.pack {
            let package = self.hub.package(&rendered.definition, pack).await.ok();
            rendered.app_version =
                package.and_then(|package| package.definition.app_version.clone()).unwrap_or_default();
        }
        Ok(rendered)
    }

    /// The installed version.
    pub(crate) fn installed(&self) -> Option<&str> {
        self.recorded.deployed().map(|revision| revision.version.as_str())
    }

    /// The artifact of an earlier revision, exactly as it was applied. For a revision of another client, the content of its
    /// release record.
    pub(crate) async fn restored(
        &self,
        instance: &ExtensionInstance,
        number: u32,
    ) -> Result<RenderedRelease, RenderError> {
        let revision = self.recorded.revisions.iter().find(|revision| revision.number == number);
        if revision.is_none() && self.records.statuses.contains_key(&number) {
            return self.restored_from_record(instance, number).await;
        }
        // After a rollback the newest revision has the same artifact, and the old revision may have been removed.
        let revision = revision
            .or(self.recorded.revisions.last())
            .ok_or_else(|| RenderError::Invalid("the instance has no revision yet".to_owned()))?;
        let lost = || RenderError::Invalid(ContentError::Missing(revision.artifact.clone()).to_string());
        let mut rendered =
            from_stored_content(&self.content(instance, &revision.artifact).await?.ok_or_else(lost)?, Some(number))?;
        rendered.version.clone_from(&revision.version);
        rendered.definition.clone_from(&revision.definition);
        rendered.pack.clone_from(&revision.pack);
        rendered.inputs.clone_from(&revision.inputs);
        rendered.why = format!("a rollback to revision {number} was requested");
        Ok(rendered)
    }

    async fn restored_from_record(
        &self,
        instance: &ExtensionInstance,
        number: u32,
    ) -> Result<RenderedRelease, RenderError> {
        let records = self.target.records(instance.spec.release_name(), &instance.spec.namespace).await;
        let mut records = records.map_err(|refusal| RenderError::Invalid(refusal.to_string()))?;
        let gone = || {
            RenderError::Invalid(format!("the release record of revision {number} is gone; choose another revision"))
        };
        let record = records.remove(&number).ok_or_else(gone)?;
        let mut rendered = adopted(&record.release, owner(instance), &self.target.info().apis)?;
        rendered.artifact.rolls_back_to = Some(number);
        rendered.why = format!("a rollback to revision {number} was requested");
        Ok(rendered)
    }

    /// The content of an artifact, unless it is lost.
    async fn content(&self, instance: &ExtensionInstance, artifact: &Digest) -> Result<Option<String>, RenderError> {
        if let Some(text) = self.render_cache.content(artifact) {
            return Ok(Some(text));
        }
        match self.hub.content.get(artifact).await {
            Ok(content) => Ok(String::from_utf8(content).ok()),
            Err(error @ ContentError::Hub(_)) => Err(RenderError::Unavailable(error.to_string())),
            Err(_) => self.content_from_record(instance, artifact).await,
        }
    }

    /// The content of an artifact from the release record of its revision, where the hub ended before it stored it. Other
    /// clients can write records, so the content counts only if it has the recorded digest.
    async fn content_from_record(
        &self,
        instance: &ExtensionInstance,
        artifact: &Digest,
    ) -> Result<Option<String>, RenderError> {
        let records = self.target.records(instance.spec.release_name(), &instance.spec.namespace).await;
        let mut records = records.map_err(|refusal| RenderError::Unavailable(refusal.to_string()))?;
        let of = self.recorded.revisions.iter().rev().filter(|revision| revision.artifact == *artifact);
        let apis = &self.target.info().apis;
        let releases = of
            .filter_map(|revision| records.remove(&revision.number))
            .filter_map(|record| adopted(&record.release, owner(instance), apis).ok());
        let same = releases.into_iter().find(|release| release.artifact.digest == *artifact);
        let text = same.map(|release| release.content.text());
        if let Some(text) = &text {
            self.hub.deferred_writes.keep(Packed::new(text.as_bytes()));
        }
        Ok(text)
    }
}

/// Renders on this thread: a template's environment is not `Send`.
fn render(
    chosen: &ResolvedPackage,
    request: &Request,
    answers: &BTreeMap<Lookup, Value>,
) -> Result<RenderProgress, RenderError> {
    let environment: Rc<dyn Environment> = Rc::new(fitout_environment::HostEnvironment);
    run_blocking(chosen.size(), || chosen.render(request, answers, &environment))
}
