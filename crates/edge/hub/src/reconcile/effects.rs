//! Carrying out effects: the writes to the hub and to the target.

use std::sync::{Arc, PoisonError};

use anyhow::{Context, Result, anyhow};
use fitout_api::{ExtensionInstance, ExtensionRevision, ExtensionRevisionSpec, ObjectName, Test, TestResult};
use fitout_cluster_client::Refusal;
use fitout_content::Packed;
use fitout_helm_release::{HookEvent, Release, SharedChart, Stamp, fitting_secret};
use fitout_model::{Digest, ObjectId};
use fitout_plan::{Ignored, PlannedHook, RenderError, RenderedRelease, adopted};
use fitout_reconcile::record::{self, Earlier};
use fitout_reconcile::{Action, Effect, HookPhase, HookRun, Outcome, RecordStatus, Revision, hook_failure_message};
use futures::future::join_all;
use kube::api::PostParams;
use kube::{Api, ResourceExt};
use serde_json::Value;
use time::OffsetDateTime;

use crate::blocking::run_blocking;
use crate::cache::consistency;
use crate::cache::indexes::{Key, key};
use crate::cache::pending_writes::{Expected, version};
use crate::controllers::finalizers::{self, set_finalizer};
use crate::reconcile::retry::{Backoff, ReconcileError, StaleState};
use crate::reconcile::state::{Adopted, Worker, owner};
use crate::storage::api_writes;
use crate::storage::write_ahead_log::{self, Entry};

impl Worker {
    /// Carries out all effects side by side. The first failure is the one that is told; the others are tried again too.
    pub(crate) async fn carry_out(
        &mut self,
        effects: &[Effect],
        instance: &ExtensionInstance,
        prepared: Option<&Arc<RenderedRelease>>,
    ) -> Option<ReconcileError> {
        let done = join_all(effects.iter().map(|effect| self.perform(effect, instance, prepared))).await;
        let mut failure: Option<ReconcileError> = None;
        for (effect, result) in effects.iter().zip(done) {
            match result {
                Ok(Some(adopted)) => self.note_adopted(adopted),
                Ok(None) => self.note(effect, prepared),
                Err(error) => {
                    let trouble = ReconcileError::of(&error);
                    if self.is_fixed(effect, &error, instance) {
                        continue;
                    }
                    let unsure = trouble.unsure || failure.as_ref().is_some_and(|first| first.unsure);
                    failure = Some(ReconcileError { unsure, ..failure.unwrap_or(trouble) });
                }
            }
        }
        failure
    }

    /// Whether an object was refused that may be made recreate: then that comes next.
    fn is_fixed(&mut self, effect: &Effect, error: &anyhow::Error, instance: &ExtensionInstance) -> bool {
        let refused = error.downcast_ref::<Refusal>().is_some_and(|refusal| refusal.invalid);
        let Effect::Apply(id) = effect else { return false };
        let named = [format!("{}/{}", id.gvk.kind, id.name), id.to_string()];
        let allowed = instance.spec.recreate.iter().any(|allowed| named.contains(allowed));
        refused && allowed && self.fixed.insert(id.clone())
    }

    /// What is known once a revision that another hand made is on record.
    fn note_adopted(&mut self, adopted: Adopted) {
        let Adopted { revision, version, inputs } = adopted;
        self.foreign = None;
        self.versions.insert(revision.number, version);
        self.times.insert(revision.number, api_writes::now());
        self.inputs.extend(inputs.map(|inputs| (revision.number, inputs.to_string())));
        // What the objects hold is to be compared with what another hand made of them.
        self.unprimed.extend(revision.inventory.iter().cloned());
        self.recorded.revisions.push(revision);
        self.prepared = None;
        self.runs.clear();
    }

    /// What is known once an effect has been carried out.
    pub(crate) fn note(&mut self, effect: &Effect, prepared: Option<&Arc<RenderedRelease>>) {
        if let (Effect::WriteRevision { number, .. }, Some(prepared)) = (effect, prepared) {
            self.versions.insert(*number, prepared.version.clone());
            self.times.insert(*number, api_writes::now());
            self.inputs.extend(prepared.inputs.as_ref().map(|inputs| (*number, inputs.to_string())));
        }
        match effect {
            // What has waited for its turn has all its time from now on.
            Effect::WriteRecord { number, status: RecordStatus::PendingInstall } => {
                self.times.insert(*number, api_writes::now());
            }
            Effect::WriteHookRun { run, .. } if run.phase == HookPhase::Running => self.patience.begin(),
            Effect::WriteHookRun { run, .. } if run.phase == HookPhase::Succeeded => self.patience = Backoff::default(),
            Effect::WriteRevision { .. } => self.patience = Backoff::default(),
            Effect::Apply(id) => drop(self.fixed.remove(id)),
            _ => {}
        }
        let artifact = prepared.map(|prepared| &prepared.artifact);
        fitout_reconcile::note(effect, artifact, &mut self.recorded, &mut self.records, &mut self.runs);
    }

    /// Carries out one effect. Doing it again does no harm.
    pub(crate) async fn perform(
        &self,
        effect: &Effect,
        instance: &ExtensionInstance,
        prepared: Option<&Arc<RenderedRelease>>,
    ) -> Result<Option<Adopted>> {
        if let Effect::Adopt { number, keep } = effect {
            let wanted = prepared.context("nothing is prepared")?;
            return self.adopt(instance, wanted, *number, *keep).await.map(Some);
        }
        self.write(effect, instance, prepared).await.map(|()| None)
    }

    async fn write(
        &self,
        effect: &Effect,
        instance: &ExtensionInstance,
        prepared: Option<&Arc<RenderedRelease>>,
    ) -> Result<()> {
        let release = instance.spec.release_name();
        let namespace = &instance.spec.namespace;
        let prepared = || prepared.context("nothing is prepared");
        match effect {
            Effect::AddFinalizer => self.hold(instance, true).await,
            Effect::RemoveFinalizer => {
                // What a revision wrote that nobody knows would stay for ever.
                let next = self.versions.keys().next_back().map_or(1, |last| last + 1);
                consistency::ensure_known(&self.hub, instance, next).await?;
                self.hold(instance, false).await
            }
            Effect::WriteRevision { number, action } => {
                let (prepared, action) = (prepared()?, *action);
                let inputs = prepared.inputs.as_ref();
                self.write_revision(instance, prepared, *number, action, inputs).await
            }
            // The one has an answer of its own; the other is said by the instance's status, which is written when there is
            // nothing left to do.
            Effect::Adopt { .. } | Effect::FinishRevision(_) => Ok(()),
            Effect::RemoveRevision(number) => self.remove_revision(*number).await,
            Effect::WriteRecord { number, status } => {
                self.write_record(instance, prepared().ok(), *number, *status).await
            }
            Effect::RemoveRecord(number) => {
                self.target.remove_record(release, namespace, *number).await?;
                // There will be word of its end, and no more than that.
                self.know(*number, u64::MAX);
                Ok(())
            }
            Effect::Apply(id) => {
                let prepared = prepared()?;
                let object = prepared.object(id).with_context(|| format!("{id} is not in the artifact"))?;
                Ok(self.target.apply(id, object, &prepared.ignored(id)).await?)
            }
            Effect::WriteHookRun { number, hook, run } => {
                if run.phase == HookPhase::Failed {
                    let failed = prepared()?.artifact.hooks.get(*hook).context("there is no such hook")?;
                    // Before its policies take away what could tell.
                    let cause = self.target.cause(&failed.id).await.ok().flatten();
                    *self.hook_cause.lock().unwrap_or_else(PoisonError::into_inner) = cause;
                }
                self.write_run(instance, prepared().ok(), *number, *hook, run).await
            }
            Effect::CreateHook(hook) => {
                let kept = prepared()?.content.hooks.get(*hook).context("there is no such hook in the artifact")?;
                let id = ObjectId::of(&kept.object).context("a hook has no name")?;
                Ok(self.target.apply(&id, &kept.object, &Ignored::default()).await?)
            }
            Effect::BeginTests { number, run } => {
                let mut release = self.record(instance, *number, None).await?;
                record::forget_tests(&mut release);
                self.replace(&mut release, *number, OffsetDateTime::now_utc()).await?;
                self.say_tested(instance, |_| {
                    let message = format!("the tests of revision {number} run");
                    let (result, at) = (TestResult::Running, api_writes::now());
                    Some(Test { run: *run, revision: *number, result, message, at })
                })
                .await
            }
            Effect::EndTests { failed } => {
                let (result, message) = self.tested(prepared()?, failed.as_ref()).await;
                self.say_tested(instance, |test| Some(Test { result, message, ..test? })).await
            }
            Effect::Delete(id) => Ok(self.target.delete(id).await?),
        }
    }

    /// How the tests went, and why one failed where it did.
    async fn tested(&self, prepared: &RenderedRelease, failed: Option<&ObjectId>) -> (TestResult, String) {
        let Some(id) = failed else {
            let is_test = |hook: &&PlannedHook| hook.events.contains(&HookEvent::Test);
            let message = match prepared.artifact.hooks.iter().filter(is_test).count() {
                0 => format!("{} has no tests", prepared.version),
                1 => "1 test passed".to_owned(),
                count => format!("{count} tests passed"),
            };
            return (TestResult::Passed, message);
        };
        let known = self.hook_cause.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let cause = match known {
            Some(cause) => Some(cause),
            None => self.target.cause(id).await.ok().flatten(),
        };
        (TestResult::Failed, hook_failure_message(id, &HookEvent::Test, cause.as_deref()))
    }

    /// Says on the hub how tests go, and leaves all else as it was said.
    async fn say_tested(
        &self,
        instance: &ExtensionInstance,
        change: impl FnOnce(Option<Test>) -> Option<Test>,
    ) -> Result<()> {
        let said = || self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let mut status = said().clone().unwrap_or_default();
        status.test = change(status.test);
        let api: Api<ExtensionInstance> = Api::namespaced(self.hub.client.clone(), &self.namespace);
        self.hub
            .cache
            .expect_instance(&self.key(), api_writes::patch_status(&api, &instance.name_any(), &status).await?);
        *said() = Some(status);
        Ok(())
    }

    async fn hold(&self, instance: &ExtensionInstance, hold: bool) -> Result<()> {
        let api: Api<ExtensionInstance> = Api::namespaced(self.hub.client.clone(), &self.namespace);
        Ok(set_finalizer(&api, instance, hold).await?)
    }

    fn revisions(&self) -> Api<ExtensionRevision> {
        Api::namespaced(self.hub.client.clone(), &self.namespace)
    }

    async fn write_revision(
        &self,
        instance: &ExtensionInstance,
        prepared: &RenderedRelease,
        number: u32,
        action: Action,
        inputs: Option<&Digest>,
    ) -> Result<()> {
        if !self.hub.cache.names_content(&prepared.artifact.digest) {
            let text = prepared.content.text();
            let content = run_blocking(text.len(), || Packed::new(text.as_bytes()));
            if prepared.fits_a_record() {
                self.hub.deferred_writes.keep(content);
            } else {
                self.hub.content.put_packed(&content).await?;
            }
        }
        let archive = prepared.chosen.as_ref().and_then(|chosen| chosen.archive.as_ref());
        if let Some(archive) = archive.filter(|archive| !self.hub.cache.names_content(&archive.digest)) {
            self.hub.content.put(&archive.content).await?;
        }
        let spec = ExtensionRevisionSpec {
            instance: self.name.clone(),
            number,
            action: match action {
                Action::Install => fitout_api::Action::Install,
                Action::Upgrade => fitout_api::Action::Upgrade,
                Action::Rollback => fitout_api::Action::Rollback,
                Action::Adopt => fitout_api::Action::Adopt,
            },
            version: prepared.version.clone(),
            definition_digest: prepared.definition.to_string(),
            artifact_digest: Some(prepared.artifact.digest.to_string()),
            values_digest: Some(Digest::of_value(&prepared.values).to_string()),
            input_digest: inputs.map(ToString::to_string),
            chart_digest: archive.map(|archive| archive.digest.to_string()),
            inventory: prepared.artifact.inventory().iter().map(object_name).collect(),
            hooks: prepared.artifact.hooks.iter().map(|hook| object_name(&hook.id)).collect(),
        };
        // Who has no turn yet only writes down what is to come.
        if let Some(entry) = Entry::new(instance, &spec).filter(|_| self.slot.is_none()) {
            self.hub.write_ahead_log.append(&self.hub.client, entry).await?;
            self.hub.deferred_writes.settle();
            return Ok(());
        }
        self.settle().await?;
        let revision = write_ahead_log::object(instance.namespace(), spec.clone());
        match self.revisions().create(&PostParams::default(), &revision).await {
            Ok(written) => {
                self.hub.cache.expect_revision(&key(&written), Expected::Present(version(&written)));
                Ok(())
            }
            Err(kube::Error::Api(status)) if status.code == 409 => {
                // Written before a crash, or by somebody else: the same record is ours.
                let name = ExtensionRevision::name_of(&self.name, number);
                let found = self.revisions().get(&name).await?;
                if found.spec == spec {
                    self.hub.cache.expect_revision(&key(&found), Expected::Present(version(&found)));
                    Ok(())
                } else {
                    Err(StaleState(format!("ExtensionRevision/{name}: another one has this number")).into())
                }
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Has what is in the journal of this instance made an object.
    async fn settle(&self) -> kube::Result<()> {
        self.hub.write_ahead_log.settle(&self.hub, &self.key()).await.map(drop)
    }

    pub(crate) fn key(&self) -> Key {
        (self.namespace.clone(), self.name.clone())
    }

    /// What it alone has named is swept up later.
    async fn remove_revision(&self, number: u32) -> Result<()> {
        self.settle().await?;
        let name = ExtensionRevision::name_of(&self.name, number);
        if let Some(revision) = self.revisions().get_opt(&name).await? {
            finalizers::remove_revision(&self.hub, &revision).await?;
        }
        // It is still there where no object could be made of it.
        self.hub.write_ahead_log.forget(&self.key()).await;
        self.hub.content_gc.notify_one();
        Ok(())
    }

    async fn write_record(
        &self,
        instance: &ExtensionInstance,
        prepared: Option<&Arc<RenderedRelease>>,
        number: u32,
        status: RecordStatus,
    ) -> Result<()> {
        let now = OffsetDateTime::now_utc();
        let namespace = &instance.spec.namespace;
        let exists = self.records.contains_key(&number);
        let mut release = if exists {
            self.record(instance, number, prepared).await?
        } else {
            let prepared = prepared.context("nothing is prepared")?;
            let earlier = self.earlier(instance, prepared).await?;
            record::release(&instance.spec.extension.name, owner(instance), prepared, number, earlier, now)
        };
        record::advance(&mut release, status);
        if exists {
            self.replace(&mut release, number, now).await?;
        } else {
            // Records are in the release's namespace: that comes first.
            let there = match self.namespaces.get(namespace) {
                Some(&there) => there,
                None => self.target.has_namespace(namespace).await?,
            };
            if !there {
                self.target.make_namespace(namespace).await?;
            }
            let secret = packed(&mut release, Stamp::Created(now))?;
            self.know(number, self.target.create_record(&secret).await?);
        }
        // What is deployed stays so for long: it is not worth its memory.
        let soon = status != RecordStatus::Deployed;
        *self.written.lock().unwrap_or_else(PoisonError::into_inner) = soon.then_some(release);
        Ok(())
    }

    /// What of earlier records goes on in a new one: what is installed again has the chart and the values that it had.
    async fn earlier(&self, instance: &ExtensionInstance, prepared: &RenderedRelease) -> Result<Earlier> {
        let given = &instance.spec.release_labels;
        let labels = if given.is_empty() { &self.labels } else { given }.clone();
        let earlier = Earlier { first_deployed: self.first_deployed, labels, ..Earlier::default() };
        let Some(number) = prepared.artifact.rolls_back_to else { return Ok(earlier) };
        let mut found = self.target.records(instance.spec.release_name(), &instance.spec.namespace).await?;
        let Some(record) = found.remove(&number) else { return Ok(earlier) };
        Ok(Earlier { chart: record.release.chart, config: Some(record.release.config), ..earlier })
    }

    async fn write_run(
        &self,
        instance: &ExtensionInstance,
        prepared: Option<&Arc<RenderedRelease>>,
        number: u32,
        hook: usize,
        run: &HookRun,
    ) -> Result<()> {
        let now = OffsetDateTime::now_utc();
        let mut release = self.record(instance, number, prepared).await?;
        record::set_run(&mut release, hook, run, now);
        self.replace(&mut release, number, now).await?;
        *self.written.lock().unwrap_or_else(PoisonError::into_inner) = Some(release);
        Ok(())
    }

    /// A record as it is on the target: from memory, where we wrote it last. Where another session has left the files of its
    /// chart for later and what it is of is prepared, it has them.
    async fn record(
        &self,
        instance: &ExtensionInstance,
        number: u32,
        prepared: Option<&Arc<RenderedRelease>>,
    ) -> Result<Release> {
        let written = self.written.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(release) = written.filter(|release| release.revision == u64::from(number)) {
            return Ok(release);
        }
        let mut found = self.target.records(instance.spec.release_name(), &instance.spec.namespace).await?;
        let found = found.remove(&number).ok_or_else(|| StaleState(format!("release record {number} is gone")))?;
        let mut release = found.release;
        let artifact = self.recorded.revisions.iter().find(|revision| revision.number == number);
        let artifact = artifact.map(|revision| &revision.artifact);
        let prepared = prepared.filter(|prepared| artifact == Some(&prepared.artifact.digest));
        if let Some(prepared) = prepared.filter(|_| release.chart.as_ref().is_some_and(SharedChart::is_brief)) {
            let chart = self.earlier(instance, prepared).await?.chart.or_else(|| record::chart(prepared));
            release.chart = chart.or(release.chart);
        }
        Ok(release)
    }

    async fn replace(&self, release: &mut Release, number: u32, now: OffsetDateTime) -> Result<()> {
        let known = self.record_versions.lock().unwrap_or_else(PoisonError::into_inner).get(&number).copied();
        let secret = packed(release, Stamp::Modified(now))?;
        self.know(number, self.target.replace_record(secret, known).await?);
        Ok(())
    }

    /// Takes note of the version that a record has by our own hand.
    fn know(&self, number: u32, version: u64) {
        self.record_versions.lock().unwrap_or_else(PoisonError::into_inner).insert(number, version);
    }

    /// Puts a revision that another hand made on record, as the target has it. Where it is to be kept, it counts as what is
    /// wanted now.
    async fn adopt(
        &self,
        instance: &ExtensionInstance,
        wanted: &RenderedRelease,
        number: u32,
        keep: bool,
    ) -> Result<Adopted> {
        let release = self.record(instance, number, None).await?;
        let wrong = |unprepared: RenderError| match unprepared {
            RenderError::Invalid(sentence) | RenderError::Unresolved(sentence) | RenderError::Unavailable(sentence) => {
                anyhow!(sentence)
            }
        };
        let mut theirs = adopted(&release, owner(instance), &self.target.info().apis).map_err(wrong)?;
        // The hub counts versions as the definition does, which a chart need not.
        theirs.version.clone_from(&wanted.version);
        theirs.definition = wanted.definition.clone();
        let inputs = wanted.inputs.clone().filter(|_| keep);
        self.write_revision(instance, &theirs, number, Action::Adopt, inputs.as_ref()).await?;
        let deployed = record::status(&release) == RecordStatus::Deployed;
        let revision = Revision {
            number,
            action: Action::Adopt,
            artifact: theirs.artifact.digest.clone(),
            inventory: theirs.artifact.inventory(),
            hooks: theirs.artifact.hooks.iter().map(|hook| hook.id.clone()).collect(),
            outcome: deployed.then_some(Outcome::Deployed),
        };
        Ok(Adopted { revision, version: theirs.version, inputs })
    }
}

/// The Secret that a release is recorded in.
fn packed(release: &mut Release, stamp: Stamp) -> Result<Value> {
    Ok(run_blocking(release.size(), || fitting_secret(release, stamp))?)
}

fn object_name(id: &ObjectId) -> ObjectName {
    ObjectName {
        api_version: id.gvk.api_version(),
        kind: id.gvk.kind.clone(),
        namespace: Some(id.namespace.clone()).filter(|namespace| !namespace.is_empty()),
        name: id.name.clone(),
    }
}
