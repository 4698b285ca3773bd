//! The commands of an instance: `install`, `upgrade`, `rollback`, `uninstall` and so on.

pub(crate) mod adopt;
pub(crate) mod history;
pub(crate) mod install;
pub(crate) mod list;
pub(crate) mod reassert;
mod revisions;
pub(crate) mod rollback;
pub(crate) mod status;
pub(crate) mod takeover;
pub(crate) mod test;
pub(crate) mod uninstall;
pub(crate) mod upgrade;
pub(crate) mod withdrawal;

use std::io::IsTerminal;

use fitout_api::{ExtensionInstance, PlanSpec};
use kube::api::DynamicObject;
use kube::core::ApiResource;
use kube::{Api, ResourceExt};
use serde_json::Value;

use crate::arguments::Waiting;
use crate::connection::Session;
use crate::display::Display;
use crate::failure::{Failure, USE_HUB_VERSION, refused};
use crate::output::{as_value, proposal};
use crate::wait::{Until, wait_for};
use crate::{Answer, plans};

/// How often a change is retried after a conflict, mostly with a status update of the hub.
const ATTEMPTS: usize = 5;

const NO_PLANS: &str = "the hub serves no plans: cannot show what it would do on the cluster";

async fn find(session: &Session, name: &str) -> Result<ExtensionInstance, Failure> {
    session.named("instance", name, "fitout list").await
}

/// Reads an instance, edits it and writes it back; retried on a conflict. The instance stays a JSON value, so that fields
/// that only a newer hub knows are kept.
async fn change(
    session: &Session,
    name: &str,
    dry_run: bool,
    edit: impl Fn(&mut Value) -> Result<(), Failure>,
) -> Result<Value, Failure> {
    let kind = ApiResource::erase::<ExtensionInstance>(&());
    let api: Api<DynamicObject> = Api::namespaced_with(session.client.clone(), &session.namespace, &kind);
    let doing = format!("change ExtensionInstance {}/{name}", session.namespace);
    let mut attempt = 1;
    loop {
        let Some(mut object) = api.get_opt(name).await.map_err(|error| refused(&doing, &error))? else {
            // Fails with a hint at the nearest name.
            find(session, name).await?;
            continue;
        };
        edit(&mut object.data)?;
        match api.replace(name, &Session::writing(dry_run), &object).await {
            Ok(changed) => return as_value(&changed),
            Err(kube::Error::Api(status)) if status.reason == "Conflict" && attempt < ATTEMPTS => attempt += 1,
            Err(error) => return Err(refused(&doing, &error)),
        }
    }
}

fn decode(object: &Value) -> Result<ExtensionInstance, Failure> {
    serde_json::from_value(object.clone()).map_err(|error| {
        Failure::new(format!("this version of fitout cannot decode the hub's ExtensionInstance: {error}"))
            .hint(USE_HUB_VERSION)
    })
}

/// Answers a dry run with the plan of the hub, or where it serves no plans, with the object that would be written.
async fn dry_run(session: &Session, object: &Value) -> Result<Answer, Failure> {
    eprintln!("dry run: nothing was written");
    let spec = PlanSpec { proposed: Some(decode(object)?), ..PlanSpec::default() };
    Ok(plans::ask(session, spec).await?.unwrap_or_else(|| {
        eprintln!("{NO_PLANS}");
        session.output.value(&proposal(object)).into()
    }))
}

/// Ends a command that changed an instance: waits until it is ready, if the user waits, and prints `done` or `begun`.
async fn finish(
    session: &Session,
    instance: ExtensionInstance,
    waiting: &Waiting,
    done: &str,
    begun: &str,
) -> Result<Answer, Failure> {
    if !waiting.is_on(std::io::stderr().is_terminal()) {
        return Ok(session.output.object(&instance, || format!("{begun}\n"))?.into());
    }
    let display = Display::for_people(&instance.name_any());
    let seen = wait_for(session, instance, Until::Ready, waiting.timeout, &display).await?;
    let version = seen.status.as_ref().and_then(|status| status.version.clone()).unwrap_or_default();
    Ok(session.output.object(&seen, || format!("{done}: version {version} is ready\n"))?.into())
}
