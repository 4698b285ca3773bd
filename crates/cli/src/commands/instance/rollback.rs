//! `fitout rollback`.

use clap::Args;
use fitout_api::ExtensionRevision;
use kube::api::ListParams;
use serde_json::Value;

use super::{change, decode, dry_run, find, finish, revisions};
use crate::Answer;
use crate::arguments::Waiting;
use crate::connection::Session;
use crate::failure::Failure;

#[derive(Args)]
pub(crate) struct Rollback {
    /// The name of the instance
    instance: String,
    /// The number of the revision [default: the last successful one before the installed one]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    revision: Option<u32>,
    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    waiting: Waiting,
}

pub(crate) async fn run(session: &Session, rollback: &Rollback) -> Result<Answer, Failure> {
    let name = &rollback.instance;
    let installed = find(session, name).await?.status.and_then(|status| status.revision);
    let params = ListParams::default().fields(&format!("spec.instance={name}"));
    let kept = revisions::with_results(session.all(session.own::<ExtensionRevision>(), &params).await?, installed);
    let target = revisions::target(name, &kept, installed, rollback.revision)?;
    let changed = change(session, name, rollback.dry_run, |object| {
        set_rollback(object, target);
        Ok(())
    })
    .await?;
    if rollback.dry_run {
        return dry_run(session, &changed).await;
    }
    let begun = format!("changed instance {name}: the hub rolls it back to revision {target}");
    let done = format!("rolled {name} back to revision {target}");
    finish(session, decode(&changed)?, &rollback.waiting, &done, &begun).await
}

fn set_rollback(instance: &mut Value, revision: u32) {
    if let Some(spec) = instance.get_mut("spec").and_then(Value::as_object_mut) {
        spec.insert("rollbackTo".to_owned(), revision.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn rollback_changes_only_its_target() {
        let mut instance = json!({ "spec": { "version": "1.x" } });
        set_rollback(&mut instance, 3);
        assert_eq!(instance, json!({ "spec": { "version": "1.x", "rollbackTo": 3 } }));
    }
}
