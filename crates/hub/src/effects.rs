//! Carrying out effects: the writes to the hub and to the target.

use std::sync::{Arc, PoisonError};

use anyhow::{Context, Result};
use fitout_api::{ExtensionInstance, ExtensionRevision, ExtensionRevisionSpec, FINALIZER, ObjectName};
use fitout_change::record::{self, Earlier};
use fitout_change::{Action, Effect, RecordStatus, Run};
use fitout_model::{Digest, ObjectId};
use fitout_plan::{Ignored, Prepared};
use fitout_release::{Release, Stamp, secret};
use kube::api::{ObjectMeta, PostParams};
use kube::{Api, ResourceExt};
use time::OffsetDateTime;

use crate::leaving::{self, set_finalizers};
use crate::session::{Session, ensure_known, owner};
use crate::trouble::Outdated;

impl Session {
    /// Carries out one effect. Doing it again does no harm.
    pub(crate) async fn perform(
        &self,
        effect: &Effect,
        instance: &ExtensionInstance,
        prepared: Option<&Arc<Prepared>>,
    ) -> Result<()> {
        let release = instance.spec.release_name();
        let namespace = &instance.spec.namespace;
        let prepared = || prepared.context("nothing is prepared");
        match effect {
            Effect::Hold => self.hold(instance, true).await,
            Effect::Release => {
                // What a revision wrote that nobody knows would stay for ever.
                let next = self.versions.keys().next_back().map_or(1, |last| last + 1);
                ensure_known(&self.hub, instance, next).await?;
                self.hold(instance, false).await
            }
            Effect::WriteRevision { number, action } => {
                self.write_revision(instance, prepared()?, *number, *action).await
            }
            // The instance's status says so, and that is written when there is nothing left to do.
            Effect::FinishRevision(_) => Ok(()),
            Effect::RemoveRevision(number) => self.remove_revision(*number).await,
            Effect::WriteRecord { number, status } => {
                self.write_record(instance, prepared().ok(), *number, *status).await
            }
            Effect::RemoveRecord(number) => Ok(self.target.remove_record(release, namespace, *number).await?),
            Effect::Apply(id) => {
                let prepared = prepared()?;
                let object = prepared.object(id).with_context(|| format!("{id} is not in the artifact"))?;
                Ok(self.target.apply(id, object, &prepared.ignored(id)).await?)
            }
            Effect::WriteRun { number, hook, run } => self.write_run(instance, *number, *hook, run).await,
            Effect::Run(hook) => {
                let kept = prepared()?.content.hooks.get(*hook).context("there is no such hook in the artifact")?;
                let id = ObjectId::of(&kept.object).context("a hook has no name")?;
                Ok(self.target.apply(&id, &kept.object, &Ignored::default()).await?)
            }
            Effect::Delete(id) => Ok(self.target.delete(id).await?),
        }
    }

    async fn hold(&self, instance: &ExtensionInstance, hold: bool) -> Result<()> {
        let api: Api<ExtensionInstance> = Api::namespaced(self.hub.client.clone(), &self.namespace);
        Ok(set_finalizers(&api, instance, hold).await?)
    }

    fn revisions(&self) -> Api<ExtensionRevision> {
        Api::namespaced(self.hub.client.clone(), &self.namespace)
    }

    async fn write_revision(
        &self,
        instance: &ExtensionInstance,
        prepared: &Prepared,
        number: u32,
        action: Action,
    ) -> Result<()> {
        // What another revision names is there.
        let digest = prepared.artifact.digest.as_str();
        let mut revisions = self.hub.index.revisions.state().into_iter();
        if !revisions.any(|found| found.spec.artifact_digest.as_deref() == Some(digest)) {
            self.hub.content.put(prepared.content.text().as_bytes()).await?;
        }
        let spec = ExtensionRevisionSpec {
            instance: self.name.clone(),
            number,
            action: match action {
                Action::Install => fitout_api::Action::Install,
                Action::Upgrade => fitout_api::Action::Upgrade,
                Action::Rollback => fitout_api::Action::Rollback,
            },
            version: prepared.version.clone(),
            definition_digest: prepared.definition.to_string(),
            artifact_digest: Some(prepared.artifact.digest.to_string()),
            values_digest: Some(Digest::of_value(&prepared.values).to_string()),
            input_digest: prepared.inputs.as_ref().map(ToString::to_string),
            chart_digest: None,
            inventory: prepared.artifact.inventory().iter().map(object_name).collect(),
            hooks: prepared.artifact.hooks.iter().map(|hook| object_name(&hook.id)).collect(),
        };
        let revision = ExtensionRevision {
            metadata: ObjectMeta {
                name: Some(ExtensionRevision::name_of(&self.name, number)),
                namespace: instance.namespace(),
                // It is all that is known of what is on the cluster: it stays until that is gone.
                finalizers: Some(vec![FINALIZER.to_owned()]),
                ..ObjectMeta::default()
            },
            spec: spec.clone(),
            status: None,
        };
        match self.revisions().create(&PostParams::default(), &revision).await {
            Ok(_) => Ok(()),
            Err(kube::Error::Api(status)) if status.code == 409 => {
                // Written before a crash, or by somebody else: the same record is ours.
                let name = ExtensionRevision::name_of(&self.name, number);
                let found = self.revisions().get(&name).await?;
                if found.spec == spec {
                    Ok(())
                } else {
                    Err(Outdated(format!("ExtensionRevision/{name}: another one has this number")).into())
                }
            }
            Err(error) => Err(error.into()),
        }
    }

    /// What it alone has named is swept up later.
    async fn remove_revision(&self, number: u32) -> Result<()> {
        let name = ExtensionRevision::name_of(&self.name, number);
        if let Some(revision) = self.revisions().get_opt(&name).await? {
            leaving::remove_revision(&self.hub, &revision).await?;
        }
        self.hub.sweep.notify_one();
        Ok(())
    }

    async fn write_record(
        &self,
        instance: &ExtensionInstance,
        prepared: Option<&Arc<Prepared>>,
        number: u32,
        status: RecordStatus,
    ) -> Result<()> {
        let now = OffsetDateTime::now_utc();
        let namespace = &instance.spec.namespace;
        let exists = self.records.contains_key(&number);
        let mut release = if exists {
            self.record(instance, number).await?
        } else {
            let prepared = prepared.context("nothing is prepared")?;
            let earlier = self.earlier(instance, prepared).await?;
            record::release(&instance.spec.extension.name, owner(instance), prepared, number, earlier, now)
        };
        record::advance(&mut release, status);
        if exists {
            self.target.replace_record(&secret(&release, Stamp::Modified(now))?).await?;
        } else {
            // Records are in the release's namespace: that comes first.
            let there = match self.namespaces.get(namespace) {
                Some(&there) => there,
                None => self.target.has_namespace(namespace).await?,
            };
            if !there {
                self.target.make_namespace(namespace).await?;
            }
            self.target.create_record(&secret(&release, Stamp::Created(now))?).await?;
        }
        // What is deployed stays so for long: it is not worth its memory.
        let soon = status != RecordStatus::Deployed;
        *self.written.lock().unwrap_or_else(PoisonError::into_inner) = soon.then_some(release);
        Ok(())
    }

    /// What of earlier records goes on in a new one: what is installed again has the chart and the values that it had.
    async fn earlier(&self, instance: &ExtensionInstance, prepared: &Prepared) -> Result<Earlier> {
        let earlier = Earlier { first_deployed: self.first_deployed, ..Earlier::default() };
        let Some(number) = prepared.artifact.rolls_back_to else { return Ok(earlier) };
        let mut found = self.target.records(instance.spec.release_name(), &instance.spec.namespace).await?;
        let Some(record) = found.remove(&number) else { return Ok(earlier) };
        Ok(Earlier { chart: record.chart, config: Some(record.config), ..earlier })
    }

    async fn write_run(&self, instance: &ExtensionInstance, number: u32, hook: usize, run: &Run) -> Result<()> {
        let now = OffsetDateTime::now_utc();
        let mut release = self.record(instance, number).await?;
        record::set_run(&mut release, hook, run, now);
        self.target.replace_record(&secret(&release, Stamp::Modified(now))?).await?;
        *self.written.lock().unwrap_or_else(PoisonError::into_inner) = Some(release);
        Ok(())
    }

    /// A record as it is on the target: from memory, where we wrote it last.
    async fn record(&self, instance: &ExtensionInstance, number: u32) -> Result<Release> {
        let written = self.written.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(release) = written.filter(|release| release.revision == u64::from(number)) {
            return Ok(release);
        }
        let mut found = self.target.records(instance.spec.release_name(), &instance.spec.namespace).await?;
        found.remove(&number).ok_or_else(|| Outdated(format!("release record {number} is gone")).into())
    }
}

fn object_name(id: &ObjectId) -> ObjectName {
    ObjectName {
        api_version: id.gvk.api_version(),
        kind: id.gvk.kind.clone(),
        namespace: Some(id.namespace.clone()).filter(|namespace| !namespace.is_empty()),
        name: id.name.clone(),
    }
}
