//! What is to be installed: chosen, had, rendered once, or brought back.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use fitout_api::{ExtensionInstance, FailurePolicy, IgnoredFields, Policy};
use fitout_cluster_client::ClusterInfo;
use fitout_content::{Error as ContentError, Packed};
use fitout_model::{Digest, ObjectId, Packages};
use fitout_plan::{
    Environment, Ignore, Lookup, Mask, RenderError, RenderProgress, RenderedRelease, Request, ResolvedPackage,
    RiskKind, adopted, crd_risks, kept, resolve,
};
use fitout_reconcile::{Action, Outcome, RecordStatus, Revision};
use kube::ResourceExt;
use serde_json::{Value, json};

use crate::blocking::run_blocking;
use crate::compute::layers;
use crate::compute::values::no_catalog;
use crate::reconcile::state::{Worker, catalog_namespace, owner};

/// How often templates may ask for something more of the cluster.
const LOOKUPS: usize = 16;

impl Worker {
    /// What is wanted of an instance; of one that is to go, what it has.
    pub(crate) async fn rendered_for(
        &mut self,
        instance: &ExtensionInstance,
    ) -> Result<Arc<RenderedRelease>, RenderError> {
        self.prepare_again(None);
        if instance.metadata.deletion_timestamp.is_none() {
            return self.prepare(instance).await;
        }
        let hooks = |last: &&Revision| !last.hooks.is_empty() && !instance.spec.skip_delete_hooks;
        let last = self.recorded.revisions.last().filter(hooks);
        let Some(last) = last else { return Err(RenderError::Invalid("it is being removed".to_owned())) };
        let key = last.artifact.clone();
        if let Some((_, prepared)) = self.prepared.as_ref().filter(|(made_from, _)| *made_from == key) {
            return prepared.clone();
        }
        let prepared = self.bring_back(instance, last.number).await.map(Arc::new);
        self.prepared = Some((key, prepared.clone()));
        prepared
    }

    /// `RenderedRelease` again only when something that goes into it has changed.
    async fn prepare(&mut self, instance: &ExtensionInstance) -> Result<Arc<RenderedRelease>, RenderError> {
        let info = self.target.info();
        let catalog = &instance.spec.extension.catalog;
        let of = catalog_namespace(instance);
        self.hub.catalogs.known(&of, catalog).await;
        let packages = self.hub.catalogs.get(&of, catalog);
        let installed = self.installed().cloned();
        if let Some(other) = self.rival(instance) {
            let release = instance.spec.release_name();
            let sentence = format!("release {release} is instance {other}'s; choose another release name or namespace");
            return Err(RenderError::Invalid(sentence));
        }
        let values = layers::values(&self.hub.cache, instance).map_err(RenderError::Invalid)?;
        let from = json!([
            instance.spec,
            values,
            info.version,
            installed,
            self.has_failed(),
            packages.as_ref().map(|packages| {
                packages.packages.iter().map(|package| package.digest.to_string()).collect::<Vec<_>>()
            })
        ]);
        let key = Digest::of_value(&from);
        if let Some((made_from, prepared)) = &self.prepared
            && *made_from == key
            && prepared.is_ok()
        {
            return prepared.clone();
        }
        let prepared = match (instance.spec.rollback_to, packages) {
            (Some(number), packages) => self.roll_back(instance, number, packages.as_deref()).await,
            (None, Some(packages)) => {
                let request = self.request(instance, &values, &info);
                match resolve(&request, &packages) {
                    Ok(chosen) => self.rendered(instance, &request, chosen, &of).await,
                    Err(unresolved) => Err(unresolved),
                }
            }
            (None, None) => Err(no_catalog(catalog)),
        };
        let prepared = prepared.map_err(|unprepared| self.without_secrets(unprepared, instance));
        let prepared = prepared.map(|mut prepared| {
            prepared.ignore = instance.spec.drift.ignore.iter().cloned().map(ignore).collect();
            Arc::new(prepared)
        });
        self.prepared = Some((key, prepared.clone()));
        prepared
    }

    /// What a chart finds wrong may quote the value. What came from a secret is told to nobody.
    fn without_secrets(&self, unprepared: RenderError, instance: &ExtensionInstance) -> RenderError {
        let RenderError::Invalid(sentence) = &unprepared else { return unprepared };
        let secrets = layers::secrets(&self.hub.cache, instance).unwrap_or_default();
        if !Mask::default().secrets(&secrets).hides(&json!(sentence)) {
            return unprepared;
        }
        let name = instance.name_any();
        RenderError::Invalid(format!(
            "its values are refused, and why may name a secret, so it is not said here; `fitout values {name} --explain` shows \
             which of them come from valuesFrom"
        ))
    }

    /// What is asked for with these values.
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
            installed: self.installed().map(String::as_str),
            values,
            owner: owner(instance),
            revision: self.next_number(),
            kubernetes: &info.version,
            apis: &info.apis,
        }
    }

    /// The number of the revision that would be made: one that was never begun gives way to it.
    fn next_number(&self) -> u32 {
        let begun = |last: &Revision| last.outcome.is_some() || self.records.contains_key(&last.number);
        self.recorded.revisions.last().map_or(1, |last| last.number + u32::from(begun(last)))
    }

    fn prepare_again(&self, due: Option<Instant>) {
        *self.due.lock().unwrap_or_else(PoisonError::into_inner) = due;
    }

    /// Rendered from what was published, if it was.
    async fn rendered(
        &self,
        instance: &ExtensionInstance,
        request: &Request<'_>,
        chosen: ResolvedPackage,
        catalog: &str,
    ) -> Result<RenderedRelease, RenderError> {
        let archive = self.hub.archive(catalog, &chosen.package).await.map_err(|absent| {
            self.prepare_again(Some(absent.due));
            absent.why
        })?;
        let published = archive.is_some();
        let rendered = self.rendered_once(instance, request, ResolvedPackage { archive, ..chosen }).await;
        // Whoever has published it may mend it, and does not tell us.
        if published && matches!(rendered, Err(RenderError::Invalid(_))) {
            self.prepare_again(Some(Instant::now() + self.hub.options.fetch_retry_interval));
        }
        rendered
    }

    /// Rendered once for the same inputs: what was kept of the newest revision is what is wanted, as long as they are its
    /// own.
    async fn rendered_once(
        &self,
        instance: &ExtensionInstance,
        request: &Request<'_>,
        chosen: ResolvedPackage,
    ) -> Result<RenderedRelease, RenderError> {
        let inputs = chosen.inputs(request);
        if let Some((failed, good)) = self.good_instead(instance, &inputs) {
            let mut prepared = self.bring_back(instance, good).await?;
            prepared.why = format!(
                "revision {failed} has failed, so what was installed before is back; it stays until something else is wanted"
            );
            return Ok(prepared);
        }
        let last = self.recorded.revisions.last();
        if let Some(last) =
            last.filter(|last| self.inputs.get(&last.number).map(String::as_str) == Some(inputs.as_str()))
            && let Some(kept) = self.kept(instance, &last.artifact).await?
        {
            return chosen.again(&kept, request);
        }
        let mut answers: BTreeMap<Lookup, Value> = BTreeMap::new();
        for _ in 0..LOOKUPS {
            match render(&chosen, request, &answers)? {
                RenderProgress::Ready(prepared) => {
                    self.ensure_safe(instance, &prepared).await?;
                    return Ok(*prepared);
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
        let message =
            format!("its templates look up ever more of the cluster, more than {LOOKUPS} times; mend the chart");
        Err(RenderError::Invalid(message))
    }

    /// Where these inputs have failed and a failure brings back what was there: the revision that failed, and the one that
    /// was.
    fn good_instead(&self, instance: &ExtensionInstance, inputs: &Digest) -> Option<(u32, u32)> {
        if instance.spec.on_failure != FailurePolicy::Rollback {
            return None;
        }
        let failed = |revision: &&Revision| {
            self.inputs.get(&revision.number).map(String::as_str) == Some(inputs.as_str())
                && self.records.get(&revision.number) == Some(&RecordStatus::Failed)
        };
        let failed = self.recorded.revisions.iter().rev().find(failed)?;
        let good = self
            .recorded
            .revisions
            .iter()
            .rev()
            .find(|revision| revision.outcome == Some(Outcome::Deployed) || revision.action == Action::Rollback);
        good.map(|good| (failed.number, good.number))
    }

    /// Refuses to change definitions of custom resources so that what is stored is lost, unless that was asked for by name.
    async fn ensure_safe(&self, instance: &ExtensionInstance, prepared: &RenderedRelease) -> Result<(), RenderError> {
        let content = &prepared.content;
        let definitions = content.crds.iter().chain(&content.objects);
        for new in definitions.filter(|object| object["kind"] == "CustomResourceDefinition") {
            let Some(id) = ObjectId::of(new).filter(|id| !instance.spec.allow_data_loss.contains(&id.name)) else {
                continue;
            };
            let read = self.target.read(&id).await;
            let Some(old) = read.map_err(|refusal| RenderError::Unavailable(refusal.to_string()))? else { continue };
            let danger = crd_risks(&old, new)
                .into_iter()
                .find(|danger| matches!(danger.harm, RiskKind::Impossible | RiskKind::Loss));
            if let Some(danger) = danger {
                let sentence = format!("{id}: {danger}; stay at this version, or name {} in allowDataLoss", id.name);
                return Err(RenderError::Invalid(sentence));
            }
        }
        Ok(())
    }

    async fn roll_back(
        &self,
        instance: &ExtensionInstance,
        number: u32,
        packages: Option<&Packages>,
    ) -> Result<RenderedRelease, RenderError> {
        let mut found = self.bring_back(instance, number).await?;
        // Only Helm's tables show it; where the catalog has forgotten the version, they show none.
        let mut known = packages.into_iter().flat_map(|packages| &packages.packages).map(|package| &package.definition);
        let app_version = known.find(|definition| {
            definition.extension == instance.spec.extension.name && definition.version.to_string() == found.version
        });
        found.app_version = app_version.and_then(|definition| definition.app_version.clone()).unwrap_or_default();
        Ok(found)
    }

    /// The version that is installed.
    pub(crate) fn installed(&self) -> Option<&String> {
        let mut newest_first = self.recorded.revisions.iter().rev();
        let deployed = newest_first.find(|revision| revision.outcome == Some(Outcome::Deployed));
        deployed.and_then(|revision| self.versions.get(&revision.number))
    }

    /// Another instance that has the same release: the one that is installed keeps it, or else the older.
    fn rival(&self, instance: &ExtensionInstance) -> Option<String> {
        let age = |instance: &ExtensionInstance| (instance.metadata.creation_timestamp.clone(), instance.uid());
        let installed = |other: &ExtensionInstance| other.status.as_ref().is_some_and(|said| said.revision.is_some());
        let ours = (self.recorded.revisions.is_empty(), age(instance));
        let others = self.hub.cache.instances_of_release(instance);
        let rival = others.iter().find(|other| (!installed(other), age(other)) < ours);
        rival.map(|other| other.name_any())
    }

    /// The artifact of an earlier revision: the very thing that was applied then. Of one that another hand made, what its
    /// record says.
    pub(crate) async fn bring_back(
        &self,
        instance: &ExtensionInstance,
        number: u32,
    ) -> Result<RenderedRelease, RenderError> {
        let revision = self.recorded.revisions.iter().find(|revision| revision.number == number);
        if revision.is_none() && self.records.contains_key(&number) {
            return self.bring_back_record(instance, number).await;
        }
        // Once it was brought back, the newest revision has the same content and the old one may be forgotten.
        let revision = revision
            .or(self.recorded.revisions.last())
            .ok_or_else(|| RenderError::Invalid("there is no revision yet".to_owned()))?;
        let lost = || RenderError::Invalid(ContentError::Missing(revision.artifact.clone()).to_string());
        let mut prepared = kept(&self.kept(instance, &revision.artifact).await?.ok_or_else(lost)?, Some(number))?;
        prepared.version = self.versions.get(&revision.number).cloned().unwrap_or_default();
        prepared.inputs = self.inputs.get(&revision.number).cloned().map(Digest::from);
        prepared.why = format!("revision {number} was asked for");
        Ok(prepared)
    }

    async fn bring_back_record(
        &self,
        instance: &ExtensionInstance,
        number: u32,
    ) -> Result<RenderedRelease, RenderError> {
        let records = self.target.records(instance.spec.release_name(), &instance.spec.namespace).await;
        let mut records = records.map_err(|refusal| RenderError::Invalid(refusal.to_string()))?;
        let gone = || RenderError::Invalid(format!("the record of revision {number} is gone; choose another revision"));
        let record = records.remove(&number).ok_or_else(gone)?;
        let mut prepared = adopted(&record.release, owner(instance), &self.target.info().apis)?;
        prepared.artifact.rolls_back_to = Some(number);
        prepared.why = format!("revision {number} was asked for");
        Ok(prepared)
    }

    /// The content of an artifact, if it is not lost: what was prepared last need not be read.
    async fn kept(&self, instance: &ExtensionInstance, artifact: &Digest) -> Result<Option<String>, RenderError> {
        let last = self.prepared.as_ref().and_then(|(_, prepared)| prepared.as_ref().ok());
        let last =
            last.filter(|prepared| prepared.artifact.digest == *artifact).map(|prepared| prepared.content.text());
        // An older hub may have written the same in another way.
        if let Some(text) = last.filter(|text| Digest::of(text) == *artifact) {
            return Ok(Some(text));
        }
        match self.hub.content.get(artifact).await {
            Ok(content) => Ok(String::from_utf8(content).ok()),
            Err(error @ ContentError::Hub(_)) => Err(RenderError::Unavailable(error.to_string())),
            Err(_) => self.kept_by_record(instance, artifact).await,
        }
    }

    /// The same, where the hub ended before it kept it: the record of a revision holds what the revision installs. It is on
    /// the cluster, where others may write, so it counts for nothing unless it is the very same.
    async fn kept_by_record(
        &self,
        instance: &ExtensionInstance,
        artifact: &Digest,
    ) -> Result<Option<String>, RenderError> {
        let records = self.target.records(instance.spec.release_name(), &instance.spec.namespace).await;
        let mut records = records.map_err(|refusal| RenderError::Unavailable(refusal.to_string()))?;
        let of = self.recorded.revisions.iter().rev().filter(|revision| revision.artifact == *artifact);
        let apis = &self.target.info().apis;
        let made = of
            .filter_map(|revision| records.remove(&revision.number))
            .filter_map(|record| adopted(&record.release, owner(instance), apis).ok());
        let text = made.into_iter().find(|made| made.artifact.digest == *artifact).map(|made| made.content.text());
        if let Some(text) = &text {
            self.hub.deferred_writes.keep(Packed::new(text.as_bytes()));
        }
        Ok(text)
    }
}

/// Renders on this thread: what templates see does not slot it.
fn render(
    chosen: &ResolvedPackage,
    request: &Request,
    answers: &BTreeMap<Lookup, Value>,
) -> Result<RenderProgress, RenderError> {
    let world: Rc<dyn Environment> = Rc::new(fitout_environment::HostEnvironment);
    run_blocking(chosen.size(), || chosen.render(request, answers, &world))
}

fn ignore(fields: IgnoredFields) -> Ignore {
    let IgnoredFields { kind, name, pointers } = fields;
    Ignore { kind, name, pointers }
}
