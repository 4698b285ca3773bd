//! The decision about a release revision that another client made: `fitout adopt` keeps it, `fitout reassert` replaces it.

use clap::Args;
use fitout_api::Choice;
use serde_json::Value;

use super::{change, decode, dry_run, finish};
use crate::Answer;
use crate::arguments::Waiting;
use crate::connection::Session;
use crate::failure::Failure;

#[derive(Args)]
pub(crate) struct Takeover {
    /// The name of the instance
    instance: String,
    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    waiting: Waiting,
}

pub(super) async fn run(session: &Session, takeover: &Takeover, choice: Choice) -> Result<Answer, Failure> {
    let name = &takeover.instance;
    let edit = |object: &mut Value| set_takeover(name, object, choice).map(drop);
    let changed = change(session, name, takeover.dry_run, edit).await?;
    if takeover.dry_run {
        return dry_run(session, &changed).await;
    }
    let revision = &changed["spec"]["takeover"]["revision"];
    let (begun, done) = match choice {
        Choice::Adopt => {
            (format!("the hub adopts revision {revision}"), format!("adopted revision {revision} of {name}"))
        }
        Choice::Reassert => {
            (format!("the hub installs the desired state over revision {revision}"), format!("reasserted {name}"))
        }
    };
    finish(session, decode(&changed)?, &takeover.waiting, &done, &format!("changed instance {name}: {begun}")).await
}

/// Sets the decision about the foreign revision of an instance, and returns its number.
fn set_takeover(name: &str, instance: &mut Value, choice: Choice) -> Result<u32, Failure> {
    let foreign = instance["status"]["foreignRevision"].as_u64();
    let Some(revision) = foreign.and_then(|revision| u32::try_from(revision).ok()) else {
        let sentence =
            format!("instance {name} has nothing to adopt or reassert: no other client has changed its release");
        return Err(Failure::new(sentence).hint(format!("see its status with `fitout status {name}`")));
    };
    if let Some(spec) = instance.get_mut("spec").and_then(Value::as_object_mut) {
        spec.insert("takeover".to_owned(), serde_json::json!({ "choice": choice, "revision": revision }));
        // The foreign revision is newer than the rollback.
        spec.remove("rollbackTo");
    }
    Ok(revision)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Paint;
    use insta::assert_snapshot;
    use serde_json::json;

    #[test]
    fn takeover_names_the_foreign_revision() {
        let mut instance = json!({
            "metadata": { "name": "web" }, "spec": { "rollbackTo": 1 }, "status": { "foreignRevision": 4 },
        });
        assert_eq!(set_takeover("web", &mut instance, Choice::Reassert).unwrap(), 4);
        assert_eq!(instance["spec"], json!({ "takeover": { "choice": "Reassert", "revision": 4 } }));
        instance["status"] = json!({});
        assert_snapshot!(set_takeover("web", &mut instance, Choice::Adopt).unwrap_err().shown(Paint::new(false)), @r"
        error: instance web has nothing to adopt or reassert: no other client has changed its release
        hint: see its status with `fitout status web`
        ");
    }
}
