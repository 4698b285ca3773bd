//! `fitout uninstall`.

use std::io::IsTerminal;

use clap::Args;
use fitout_api::{ExtensionInstance, PlanSpec, conditions, reasons};
use kube::ResourceExt;
use kube::api::{DeleteParams, Preconditions};
use serde_json::Value;

use super::{NO_PLANS, change, decode, find};
use crate::arguments::Waiting;
use crate::connection::Session;
use crate::display::Display;
use crate::failure::{Failure, refused};
use crate::wait::{Until, wait_for};
use crate::{Answer, plans};

#[derive(Args)]
pub(crate) struct Uninstall {
    /// The name of the instance
    pub(crate) instance: String,
    /// Do not run the delete hooks of the release, for example because one of them can no longer succeed
    #[arg(long)]
    pub(crate) no_hooks: bool,
    /// Keep the namespace on the cluster, even if the hub created it and nothing else is in it
    #[arg(long)]
    pub(crate) keep_namespace: bool,
    /// Show what would be deleted, and delete nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) waiting: Waiting,
}

pub(crate) async fn run(session: &Session, uninstall: &Uninstall) -> Result<Answer, Failure> {
    let name = &uninstall.instance;
    let found = find(session, name).await?;
    let changes_spec = uninstall.no_hooks || uninstall.keep_namespace;
    let found = if changes_spec {
        let changed = change(session, name, uninstall.dry_run, |object| {
            set_options(object, uninstall);
            Ok(())
        });
        decode(&changed.await?)?
    } else {
        found
    };
    let preconditions = Preconditions { uid: found.uid(), resource_version: None };
    let params =
        DeleteParams { dry_run: uninstall.dry_run, preconditions: Some(preconditions), ..DeleteParams::default() };
    let doing = format!("delete ExtensionInstance {}/{name}", session.namespace);
    session.own::<ExtensionInstance>().delete(name, &params).await.map_err(|error| refused(&doing, &error))?;
    let spec = &found.spec;
    if uninstall.dry_run {
        eprintln!("dry run: nothing was deleted");
        let plan = if changes_spec {
            PlanSpec { instance: None, proposed: Some(found.clone()), uninstall: true }
        } else {
            PlanSpec { instance: Some(name.clone()), proposed: None, uninstall: true }
        };
        if let Some(answer) = plans::ask(session, plan).await? {
            return Ok(answer);
        }
        eprintln!("{NO_PLANS}");
        let text = || format!("would uninstall {} from cluster {}: {doing}\n", spec.extension.name, spec.cluster);
        return Ok(session.output.object(&found, text)?.into());
    }
    let done = format!("uninstalled {} from cluster {}\n", spec.extension.name, spec.cluster);
    let begun =
        format!("deleted instance {name}: the hub uninstalls {} from cluster {}\n", spec.extension.name, spec.cluster);
    let text = if uninstall.waiting.is_on(std::io::stderr().is_terminal()) {
        let display = Display::for_people(name);
        let last = wait_for(session, found.clone(), Until::Gone, uninstall.waiting.timeout, &display).await?;
        if let Some(notice) = removal_notice(&last) {
            eprintln!("note: {notice}");
        }
        done
    } else {
        begun
    };
    Ok(session.output.object(&found, || text)?.into())
}

/// The hub's notice about objects that stay after the removal.
fn removal_notice(instance: &ExtensionInstance) -> Option<&str> {
    let all = &instance.status.as_ref()?.conditions;
    let ready = conditions::find(all, conditions::READY).filter(|ready| ready.reason == reasons::ready::REMOVING)?;
    ready.message.split_once("; ").map(|(_, notice)| notice)
}

/// Sets the options of the uninstall, which the hub reads from the instance.
fn set_options(instance: &mut Value, uninstall: &Uninstall) {
    if uninstall.no_hooks {
        instance["spec"]["skipDeleteHooks"] = true.into();
    }
    if uninstall.keep_namespace {
        instance["spec"]["keepNamespace"] = true.into();
    }
}
