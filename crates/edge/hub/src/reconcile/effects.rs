//! Effects: the writes to the hub and to the target cluster that the core has decided on.

use std::collections::BTreeSet;
use std::sync::Arc;

use fitout_api::{
    ExtensionInstance, ExtensionInstanceStatus, ExtensionRevision, ExtensionRevisionSpec, Test, TestResult,
};
use fitout_cluster_client::ErrorCause;
use fitout_content::Packed;
use fitout_helm_release::HookEvent;
use fitout_model::{Digest, ObjectId, Package};
use fitout_plan::{Ignored, PlannedHook, RenderedRelease, adopted};
use fitout_reconcile::namespace::{self, NamespaceDecision};
use fitout_reconcile::{Action, Effect, HookPhase, Outcome, RecordStatus, Revision, hook_failure_message, record};
use fitout_snapshot::Pack;
use futures::future::join_all;
use kube::api::PostParams;
use kube::{Api, ResourceExt};

use crate::blocking::run_blocking;
use crate::cache::consistency;
use crate::cache::indexes::{Key, key};
use crate::cache::pending_writes::{Expected, version};
use crate::controllers::finalizers::{self, set_finalizer};
use crate::reconcile::convert::{self, object_name, owner};
use crate::reconcile::records::WrittenRecord;
use crate::reconcile::retry::{HookRetry, ReconcileError};
use crate::reconcile::worker::Worker;
use crate::storage::api_writes;
use crate::storage::write_ahead_log::{self, Entry};

/// The facts that an effect has established, also if it failed in the end. The worker notes them once all effects of a round
/// have ended, so effects run concurrently without locks.
#[derive(Default)]
struct Performed {
    record: Option<WrittenRecord>,
    adopted: Option<Revision>,
    hook_failure: Option<HookFailure>,
    status: Option<ExtensionInstanceStatus>,
    /// A message for the user about the removal.
    notice: Option<String>,
}

/// A hook that failed, with the cause if the cluster knows it.
struct HookFailure {
    cause: Option<String>,
}

impl Worker {
    /// Carries out effects concurrently, and notes the results. All are attempted; the first error is returned.
    pub(crate) async fn carry_out(
        &mut self,
        effects: &[Effect],
        instance: &ExtensionInstance,
        rendered: Option<&Arc<RenderedRelease>>,
    ) -> Result<(), ReconcileError> {
        let results = join_all(effects.iter().map(async |effect| {
            let mut performed = Performed::default();
            let result = self.perform(effect, instance, rendered, &mut performed).await;
            (performed, result)
        }));
        let mut failure: Option<ReconcileError> = None;
        for (effect, (performed, result)) in effects.iter().zip(results.await) {
            // Also where the effect failed after its first write.
            let adopted = self.note_performed(performed);
            match result {
                Ok(()) => self.note(effect, adopted, rendered),
                Err(error) if self.recreates(effect, &error, instance) => {}
                Err(error) => {
                    failure = Some(match failure {
                        Some(first) => first.and(&error),
                        None => error,
                    });
                }
            }
        }
        failure.map_or(Ok(()), Err)
    }

    /// Whether the cluster refused to change an object that the user allows to be recreated: the next round does that.
    fn recreates(&mut self, effect: &Effect, error: &ReconcileError, instance: &ExtensionInstance) -> bool {
        let refused = matches!(error, ReconcileError::Cluster(error) if error.cause == ErrorCause::Invalid);
        let Effect::Apply(id) = effect else { return false };
        let names = [format!("{}/{}", id.gvk.kind, id.name), id.to_string()];
        let allowed = instance.spec.recreate.iter().any(|allowed| names.contains(allowed));
        refused && allowed && self.objects.recreate.insert(id.clone())
    }

    /// Notes the facts that an effect has established. Returns an adopted revision.
    fn note_performed(&mut self, performed: Performed) -> Option<Revision> {
        if let Some(written) = performed.record {
            self.records.note(written);
        }
        if let Some(HookFailure { cause }) = performed.hook_failure {
            self.retry.hook_cause = cause;
        }
        if let Some(status) = performed.status {
            self.reporter.note_written(status);
        }
        if let Some(notice) = performed.notice {
            self.reporter.set_notice(notice);
        }
        performed.adopted
    }

    /// Notes that an effect was carried out.
    fn note(&mut self, effect: &Effect, adopted: Option<Revision>, rendered: Option<&Arc<RenderedRelease>>) {
        if let Some(revision) = adopted {
            return self.note_adopted(revision);
        }
        match effect {
            Effect::WriteHookRun { run, .. } if run.phase == HookPhase::Running => self.retry.hook.start(),
            Effect::WriteHookRun { run, .. } if run.phase == HookPhase::Succeeded => {
                self.retry.hook = HookRetry::default();
            }
            Effect::WriteRevision { .. } => self.retry.hook = HookRetry::default(),
            Effect::Apply(id) => drop(self.objects.recreate.remove(id)),
            _ => {}
        }
        let artifact = rendered.map(|rendered| &rendered.artifact);
        let records = &mut self.records;
        fitout_reconcile::note(effect, artifact, &mut self.recorded, &mut records.statuses, &mut records.runs);
        match effect {
            Effect::WriteRevision { number, .. } => {
                self.newest_revision = *number;
                self.started.insert(*number, api_writes::now());
                if let (Some(revision), Some(rendered)) = (self.recorded.revisions.last_mut(), rendered) {
                    revision.version.clone_from(&rendered.version);
                    revision.definition.clone_from(&rendered.definition);
                    revision.pack.clone_from(&rendered.pack);
                    revision.inputs.clone_from(&rendered.inputs);
                }
            }
            // The deadline counts from here, not from the time that the install waited for a slot.
            Effect::WriteRecord { number, status: RecordStatus::PendingInstall } => {
                self.started.insert(*number, api_writes::now());
            }
            _ => {}
        }
    }

    /// Notes a revision of another client that was adopted.
    fn note_adopted(&mut self, revision: Revision) {
        self.records.foreign = None;
        self.records.runs.clear();
        self.newest_revision = revision.number;
        self.started.insert(revision.number, api_writes::now());
        // The objects are compared with the adopted artifact.
        self.objects.unprimed.extend(revision.inventory.iter().cloned());
        self.recorded.revisions.push(revision);
        self.render_cache.clear();
    }

    /// Carries out one effect. Every effect is idempotent.
    async fn perform(
        &self,
        effect: &Effect,
        instance: &ExtensionInstance,
        rendered: Option<&Arc<RenderedRelease>>,
        performed: &mut Performed,
    ) -> Result<(), ReconcileError> {
        let release = instance.spec.release_name();
        let namespace = &instance.spec.namespace;
        let required = || rendered.ok_or_else(|| ReconcileError::Incomplete("artifact".to_owned()));
        match effect {
            Effect::AddFinalizer => self.set_finalizer(instance, true).await?,
            Effect::RemoveFinalizer => {
                // A revision that the worker does not know would leave its objects behind.
                consistency::ensure_known(&self.hub, instance, self.newest_revision + 1).await?;
                self.set_finalizer(instance, false).await?;
            }
            Effect::WriteRevision { number, action } => {
                let rendered = required()?;
                let package = rendered.chosen.as_ref().map(|chosen| &chosen.package);
                self.write_revision(instance, rendered, package, *number, *action, rendered.inputs.as_ref()).await?;
            }
            Effect::Adopt { number, keep } => {
                performed.adopted = Some(self.adopt(instance, required()?, *number, *keep).await?);
            }
            // The status of the instance says so, which is written when nothing is left to do.
            Effect::FinishRevision(_) => {}
            Effect::RemoveRevision(number) => self.remove_revision(*number).await?,
            Effect::WriteRecord { number, status } => {
                performed.record = Some(self.write_record(instance, rendered, *number, *status).await?);
            }
            Effect::RemoveRecord(number) => {
                self.target.remove_record(release, namespace, *number).await?;
                performed.record = Some(WrittenRecord::removed(*number));
            }
            Effect::Apply(id) => {
                let rendered = required()?;
                let object = rendered.object(id).ok_or_else(|| ReconcileError::Incomplete(format!("object {id}")))?;
                self.target.apply(id, object, &rendered.ignored(id)).await?;
            }
            Effect::WriteHookRun { number, hook, run } => {
                let failed = run.phase == HookPhase::Failed;
                // Read before the delete policies of the hook remove its pods.
                if failed {
                    performed.hook_failure = Some(self.hook_failure(required()?, *hook).await?);
                }
                let change = |release: &mut _, now| record::set_run(release, *hook, run, now);
                performed.record = Some(self.update_record(instance, rendered, *number, change).await?);
            }
            Effect::CreateHook(hook) => {
                let missing = || ReconcileError::Incomplete(format!("hook {hook}"));
                let kept = required()?.content.hooks.get(*hook).ok_or_else(missing)?;
                let id = ObjectId::of(&kept.object).ok_or_else(missing)?;
                self.target.apply(&id, &kept.object, &Ignored::default()).await?;
            }
            Effect::BeginTests { number, run } => {
                let forget = |release: &mut _, _| record::forget_tests(release);
                performed.record = Some(self.update_record(instance, None, *number, forget).await?);
                let message = format!("the tests of revision {number} are running");
                let (result, at) = (TestResult::Running, api_writes::now());
                let test = Test { run: *run, revision: *number, result, message, at };
                performed.status = Some(self.write_test(instance, |_| Some(test)).await?);
            }
            Effect::EndTests { failed } => {
                let (result, message) = self.test_result(required()?, failed.as_ref()).await;
                let change = |test: Option<Test>| Some(Test { result, message, ..test? });
                performed.status = Some(self.write_test(instance, change).await?);
            }
            Effect::Delete(id) => self.target.delete(id).await?,
            Effect::DeleteUnusedNamespace => {
                performed.notice = self.delete_unused_namespace(instance).await?;
            }
        }
        Ok(())
    }

    async fn hook_failure(&self, rendered: &RenderedRelease, hook: usize) -> Result<HookFailure, ReconcileError> {
        let failed = rendered.artifact.hooks.get(hook);
        let failed = failed.ok_or_else(|| ReconcileError::Incomplete(format!("hook {hook}")))?;
        Ok(HookFailure { cause: self.target.cause(&failed.id).await.ok().flatten() })
    }

    /// The result of a test run in a sentence, with the cause of a failure.
    async fn test_result(&self, rendered: &RenderedRelease, failed: Option<&ObjectId>) -> (TestResult, String) {
        let Some(id) = failed else {
            let is_test = |hook: &&PlannedHook| hook.events.contains(&HookEvent::Test);
            let message = match rendered.artifact.hooks.iter().filter(is_test).count() {
                0 => format!("{} has no tests", rendered.version),
                1 => "1 test passed".to_owned(),
                count => format!("{count} tests passed"),
            };
            return (TestResult::Passed, message);
        };
        let cause = match self.retry.hook_cause.clone() {
            Some(cause) => Some(cause),
            None => self.target.cause(id).await.ok().flatten(),
        };
        (TestResult::Failed, hook_failure_message(id, &HookEvent::Test, cause.as_deref()))
    }

    /// Writes the state of a test run to the status, and changes nothing else of it.
    async fn write_test(
        &self,
        instance: &ExtensionInstance,
        change: impl FnOnce(Option<Test>) -> Option<Test>,
    ) -> Result<ExtensionInstanceStatus, ReconcileError> {
        let mut status = self.reporter.last().cloned().unwrap_or_default();
        status.test = change(status.test);
        let api: Api<ExtensionInstance> = Api::namespaced(self.hub.client.clone(), &self.namespace);
        let version = api_writes::patch_status(&api, &instance.name_any(), &status).await?;
        self.hub.cache.expect_instance(&self.key(), version);
        Ok(status)
    }

    async fn set_finalizer(&self, instance: &ExtensionInstance, present: bool) -> kube::Result<()> {
        let api: Api<ExtensionInstance> = Api::namespaced(self.hub.client.clone(), &self.namespace);
        set_finalizer(&api, instance, present).await
    }

    fn revisions(&self) -> Api<ExtensionRevision> {
        Api::namespaced(self.hub.client.clone(), &self.namespace)
    }

    /// Stores the content of a rendered release and the package it comes from, and writes its revision.
    async fn write_revision(
        &self,
        instance: &ExtensionInstance,
        rendered: &RenderedRelease,
        package: Option<&Arc<Package>>,
        number: u32,
        action: Action,
        inputs: Option<&Digest>,
    ) -> Result<(), ReconcileError> {
        // No revision names the content yet: the reservation keeps the garbage collector from deleting it.
        let _reservation = self.hub.content_reservations.reserve().await;
        if !self.hub.cache.names_content(&rendered.artifact.digest) {
            let text = rendered.content.text();
            let content = run_blocking(text.len(), || Packed::new(text.as_bytes()));
            if rendered.fits_a_record() {
                self.hub.deferred_writes.keep(content);
            } else {
                self.hub.content.put_packed(&content).await?;
            }
        }
        let pack = self.stored_pack(rendered, package).await?;
        let archive = rendered.chosen.as_ref().and_then(|chosen| chosen.archive.as_ref());
        if let Some(archive) = archive.filter(|archive| !self.hub.names_content(&archive.digest)) {
            self.hub.put_content(&archive.content).await?;
        }
        let spec = ExtensionRevisionSpec {
            instance: self.name.clone(),
            number,
            action: convert::action(action),
            version: rendered.version.clone(),
            definition_digest: rendered.definition.to_string(),
            pack_digest: pack.map(|pack| pack.to_string()),
            artifact_digest: Some(rendered.artifact.digest.to_string()),
            values_digest: Some(Digest::of_value(&rendered.values).to_string()),
            input_digest: inputs.map(ToString::to_string),
            chart_digest: archive.map(|archive| archive.digest.to_string()),
            inventory: rendered.artifact.inventory().iter().map(object_name).collect(),
            hooks: rendered.artifact.hooks.iter().map(|hook| object_name(&hook.id)).collect(),
        };
        // Without a slot, the revision goes to the write-ahead log together with those of other instances.
        if let Some(entry) = Entry::new(instance, &spec).filter(|_| !self.has_slot()) {
            self.hub.write_ahead_log.append(&self.hub.client, entry).await?;
            self.hub.deferred_writes.request_flush();
            return Ok(());
        }
        self.create_logged_revision().await?;
        let revision = write_ahead_log::object(instance.namespace(), spec.clone());
        match self.revisions().create(&PostParams::default(), &revision).await {
            Ok(written) => {
                self.hub.cache.expect_revision(&key(&written), Expected::Present(version(&written)));
                Ok(())
            }
            Err(kube::Error::Api(status)) if status.code == 409 => {
                // Written before a crash: the same spec is this revision.
                let name = ExtensionRevision::name_of(&self.name, number);
                let found = self.revisions().get(&name).await?;
                if found.spec == spec {
                    self.hub.cache.expect_revision(&key(&found), Expected::Present(version(&found)));
                    Ok(())
                } else {
                    Err(ReconcileError::Stale(format!("ExtensionRevision/{name} exists already with another spec")))
                }
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The stored content that has the definition of a release: the pack that it was read from, or a pack of its own if the
    /// catalog and all revisions have dropped that one meanwhile.
    async fn stored_pack(
        &self,
        rendered: &RenderedRelease,
        package: Option<&Arc<Package>>,
    ) -> Result<Option<Digest>, ReconcileError> {
        let is_stored = |pack: &&Digest| self.hub.catalogs.names_pack(pack) || self.hub.names_content(pack);
        match (rendered.pack.as_ref().filter(is_stored), package) {
            (None, Some(package)) => {
                let pack = Pack::of(std::slice::from_ref(package));
                Ok(Some(self.hub.put_content(&pack.content).await?))
            }
            (pack, _) => Ok(pack.cloned()),
        }
    }

    /// Creates the revision object of this instance's entry in the write-ahead log, if it has one.
    async fn create_logged_revision(&self) -> kube::Result<()> {
        self.hub.write_ahead_log.create_revision(&self.hub, &self.key()).await.map(drop)
    }

    pub(crate) fn key(&self) -> Key {
        (self.namespace.clone(), self.name.clone())
    }

    /// Removes a revision. The garbage collector removes content that only this revision named.
    async fn remove_revision(&self, number: u32) -> kube::Result<()> {
        self.create_logged_revision().await?;
        let name = ExtensionRevision::name_of(&self.name, number);
        if let Some(revision) = self.revisions().get_opt(&name).await? {
            finalizers::remove_revision(&self.hub, &revision).await?;
        }
        // In a namespace that is being deleted, the log entry could not become an object.
        self.hub.write_ahead_log.forget(&self.key()).await;
        self.hub.content_gc.notify_one();
        Ok(())
    }

    /// Creates the release's namespace, unless it exists.
    pub(crate) async fn ensure_namespace(&self, instance: &ExtensionInstance) -> Result<(), ReconcileError> {
        let namespace = &instance.spec.namespace;
        let exists = match self.objects.namespaces.get(namespace) {
            Some(&exists) => exists,
            None => self.target.has_namespace(namespace).await?,
        };
        if !exists {
            self.target.create_namespace(namespace, &format!("{}/{}", self.namespace, self.name)).await?;
        }
        Ok(())
    }

    /// Deletes the release's namespace if the hub created it and nothing else is in it; otherwise returns why it stays. A
    /// cluster that refuses to list its objects, or to delete the namespace, does not hold up the uninstall.
    async fn delete_unused_namespace(&self, instance: &ExtensionInstance) -> Result<Option<String>, ReconcileError> {
        let name = &instance.spec.namespace;
        let state = self.target.namespace_state(name).await?;
        match namespace::decide(&state, &BTreeSet::new()) {
            NamespaceDecision::Ignore => Ok(None),
            NamespaceDecision::Keep(remaining) => Ok(Some(namespace::remaining_message(name, &remaining))),
            NamespaceDecision::Unknown(reason) => Ok(Some(namespace::unknown_message(name, &reason))),
            NamespaceDecision::Delete => match self.target.delete_namespace(name, &state.uid).await {
                Err(error) if error.cause != ErrorCause::NoAnswer => {
                    Ok(Some(format!("namespace {name} is empty and stays: {error}")))
                }
                deleted => Ok(deleted.map(|()| None)?),
            },
        }
    }

    /// Records a revision that another client wrote, as the target cluster has it. A revision to keep counts as rendered from
    /// the desired inputs.
    async fn adopt(
        &self,
        instance: &ExtensionInstance,
        desired: &RenderedRelease,
        number: u32,
        keep: bool,
    ) -> Result<Revision, ReconcileError> {
        let release = self.read_record(instance, number, None).await?;
        let mut theirs = adopted(&release, owner(instance), &self.target.info().apis)?;
        // Versions are those of the definition, which may differ from the chart's.
        theirs.version.clone_from(&desired.version);
        theirs.definition = desired.definition.clone();
        let inputs = desired.inputs.clone().filter(|_| keep);
        let package = desired.chosen.as_ref().map(|chosen| &chosen.package);
        theirs.pack.clone_from(&desired.pack);
        self.write_revision(instance, &theirs, package, number, Action::Adopt, inputs.as_ref()).await?;
        let deployed = record::status(&release) == RecordStatus::Deployed;
        Ok(Revision {
            number,
            action: Action::Adopt,
            version: theirs.version,
            definition: theirs.definition,
            pack: theirs.pack,
            inputs,
            artifact: theirs.artifact.digest.clone(),
            inventory: theirs.artifact.inventory(),
            hooks: theirs.artifact.hooks.iter().map(|hook| hook.id.clone()).collect(),
            outcome: deployed.then_some(Outcome::Deployed),
        })
    }
}
