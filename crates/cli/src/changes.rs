//! Install, upgrade, roll back, uninstall: what changes an instance.

use std::io::IsTerminal;

use fitout_api::{Choice, Cluster, ExtensionInstance, ExtensionRevision, FreeForm, PlanSpec, TestResult};
use kube::api::{DeleteParams, DynamicObject, ListParams, Preconditions};
use kube::core::ApiResource;
use kube::{Api, ResourceExt};
use serde_json::Value;

use crate::arguments::{Install, Rollback, Takeover, Test, Uninstall, Upgrade, Waiting};
use crate::connection::Session;
use crate::display::Display;
use crate::failure::{Failure, refused};
use crate::output::{as_value, proposal};
use crate::wait::{Until, follow};
use crate::{Answer, catalog_lookup, instance, plans, revisions, settings};

/// How often a change is tried again when somebody else, mostly the hub, has changed the instance in between.
const ATTEMPTS: usize = 5;

const NO_PLANS: &str = "the hub serves no plans: what it would do on the cluster is not known";

pub(crate) async fn install(session: &Session, install: &Install) -> Result<Answer, Failure> {
    let values = settings::layered(FreeForm::new(), &settings::read(&install.values)?)?;
    session.named::<Cluster>("cluster", &install.cluster, "fitout cluster list").await?;
    let scope = catalog_lookup::scope(session, install).await?;
    let wanted = instance::wanted(install, &session.namespace, scope, values)?;
    let name = wanted.name_any();
    let beside = ListParams::default().fields(&format!("spec.cluster={}", install.cluster));
    instance::alone(&wanted, &session.all(session.own::<ExtensionInstance>(), &beside).await?)?;
    let created = session.own().create(&Session::writing(install.dry_run), &wanted).await;
    let created = created.map_err(|error| match &error {
        kube::Error::Api(status) if status.reason == "AlreadyExists" => {
            Failure::new(format!("there is already an instance {name} in organization {}", session.organization))
                .hint(format!("change it with `fitout upgrade {name}`, or give the new one another name with --name"))
        }
        _ => refused(&format!("create ExtensionInstance {}/{name}", session.namespace), &error),
    })?;
    if install.dry_run {
        return shown(session, &as_value(&created)?).await;
    }
    let done = format!("installed {} on cluster {} as {name}", install.extension, install.cluster);
    let begun =
        format!("created instance {name}: the hub installs {} on cluster {}", install.extension, install.cluster);
    finish(session, created, &install.waiting, &done, &begun).await
}

pub(crate) async fn upgrade(session: &Session, upgrade: &Upgrade) -> Result<Answer, Failure> {
    let name = &upgrade.instance;
    let given = settings::read(&upgrade.values)?;
    let changed = change(session, name, upgrade.dry_run, |object| {
        let before = if upgrade.reset_values { FreeForm::new() } else { instance::values(object) };
        let values = settings::layered(before, &given)?;
        instance::upgrade(object, upgrade.version.as_deref(), values);
        instance::caution(object, &upgrade.cautions);
        instance::label(object, &upgrade.labels);
        Ok(())
    })
    .await?;
    if upgrade.dry_run {
        return shown(session, &changed).await;
    }
    let begun = format!("changed instance {name}: the hub carries it out");
    finish(session, typed(&changed)?, &upgrade.waiting, &format!("upgraded {name}"), &begun).await
}

pub(crate) async fn rollback(session: &Session, rollback: &Rollback) -> Result<Answer, Failure> {
    let name = &rollback.instance;
    let found: ExtensionInstance = session.named("instance", name, "fitout list").await?;
    let params = ListParams::default().fields(&format!("spec.instance={name}"));
    let installed = found.status.as_ref().and_then(|status| status.revision);
    let kept = revisions::told(session.all(session.own::<ExtensionRevision>(), &params).await?, installed);
    let target = revisions::target(name, &kept, installed, rollback.revision)?;
    let changed = change(session, name, rollback.dry_run, |object| {
        instance::roll_back(object, target);
        Ok(())
    })
    .await?;
    if rollback.dry_run {
        return shown(session, &changed).await;
    }
    let begun = format!("changed instance {name}: the hub brings it back to revision {target}");
    let done = format!("brought {name} back to revision {target}");
    finish(session, typed(&changed)?, &rollback.waiting, &done, &begun).await
}

/// What becomes of a revision that another hand made.
pub(crate) async fn take_over(session: &Session, asked: &Takeover, choice: Choice) -> Result<Answer, Failure> {
    let name = &asked.instance;
    let changed =
        change(session, name, asked.dry_run, |object| instance::take_over(name, object, choice).map(drop)).await?;
    if asked.dry_run {
        return shown(session, &changed).await;
    }
    let revision = &changed["spec"]["takeover"]["revision"];
    let (begun, done) = match choice {
        Choice::Adopt => {
            (format!("the hub keeps revision {revision}"), format!("adopted revision {revision} of {name}"))
        }
        Choice::Reassert => {
            (format!("the hub installs what is wanted over revision {revision}"), format!("reasserted {name}"))
        }
    };
    finish(session, typed(&changed)?, &asked.waiting, &done, &format!("changed instance {name}: {begun}")).await
}

pub(crate) async fn test(session: &Session, asked: &Test) -> Result<Answer, Failure> {
    let name = &asked.instance;
    let changed = change(session, name, false, |object| {
        instance::test(object);
        Ok(())
    });
    let instance = typed(&changed.await?)?;
    let run = instance.spec.test_run.unwrap_or_default();
    if asked.no_wait {
        let words = || format!("changed instance {name}: the hub runs its tests, and its status says how they go\n");
        return Ok(session.output.object(&instance, words)?.into());
    }
    let seen = follow(session, instance, Until::Tested(run), asked.timeout, &Display::for_people(name)).await?;
    let Some((seen, test)) = seen.and_then(|seen| Some((seen.clone(), seen.status?.test?))) else {
        return Ok(String::new().into());
    };
    if test.result == TestResult::Failed {
        return Err(
            Failure::new(format!("instance {name}: {}", test.message)).hint("what is installed was left as it is")
        );
    }
    Ok(session.output.object(&seen, || format!("tested {name}: {}\n", test.message))?.into())
}

pub(crate) async fn uninstall(session: &Session, uninstall: &Uninstall) -> Result<Answer, Failure> {
    let name = &uninstall.instance;
    let found: ExtensionInstance = session.named("instance", name, "fitout list").await?;
    let found = if uninstall.no_hooks {
        let changed = change(session, name, uninstall.dry_run, |object| {
            instance::skip_hooks(object);
            Ok(())
        });
        typed(&changed.await?)?
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
        let asked = if uninstall.no_hooks {
            PlanSpec { instance: None, proposed: Some(found.clone()), uninstall: true }
        } else {
            PlanSpec { instance: Some(name.clone()), proposed: None, uninstall: true }
        };
        if let Some(answer) = plans::ask(session, asked).await? {
            return Ok(answer);
        }
        eprintln!("{NO_PLANS}");
        let words = || format!("would uninstall {} from cluster {}: {doing}\n", spec.extension.name, spec.cluster);
        return Ok(session.output.object(&found, words)?.into());
    }
    let done = format!("uninstalled {} from cluster {}\n", spec.extension.name, spec.cluster);
    let begun =
        format!("deleted instance {name}: the hub uninstalls {} from cluster {}\n", spec.extension.name, spec.cluster);
    let words = if uninstall.waiting.wanted(std::io::stderr().is_terminal()) {
        follow(session, found.clone(), Until::Gone, uninstall.waiting.timeout, &Display::for_people(name)).await?;
        done
    } else {
        begun
    };
    Ok(session.output.object(&found, || words)?.into())
}

/// Reads an instance, changes it and writes it back, again when somebody else was faster.
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
            // Says that there is none, with the nearest that there is.
            session.named::<ExtensionInstance>("instance", name, "fitout list").await?;
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

fn typed(object: &Value) -> Result<ExtensionInstance, Failure> {
    serde_json::from_value(object.clone())
        .map_err(|error| Failure::new(format!("the hub answers with an instance this fitout does not know: {error}")))
}

/// What a dry run shows: what the hub would do then, or where it does not say, what would be written to it.
async fn shown(session: &Session, object: &Value) -> Result<Answer, Failure> {
    eprintln!("dry run: nothing was written");
    let spec = PlanSpec { proposed: Some(typed(object)?), ..PlanSpec::default() };
    Ok(plans::ask(session, spec).await?.unwrap_or_else(|| {
        eprintln!("{NO_PLANS}");
        session.output.value(&proposal(object)).into()
    }))
}

/// Waits where that is wanted, and says what was done.
async fn finish(
    session: &Session,
    instance: ExtensionInstance,
    waiting: &Waiting,
    done: &str,
    begun: &str,
) -> Result<Answer, Failure> {
    if !waiting.wanted(std::io::stderr().is_terminal()) {
        return Ok(session.output.object(&instance, || format!("{begun}\n"))?.into());
    }
    let display = Display::for_people(&instance.name_any());
    let Some(seen) = follow(session, instance, Until::Ready, waiting.timeout, &display).await? else {
        return Ok(String::new().into());
    };
    let version = seen.status.as_ref().and_then(|status| status.version.clone()).unwrap_or_default();
    Ok(session.output.object(&seen, || format!("{done}: version {version} is ready\n"))?.into())
}
