//! What is installed of a chart can be made again of its release's record, to the letter: until the hub has kept it, that is
//! where it is.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use anyhow::{Result, anyhow, ensure};
use fitout_engines::{Environment, Input, Lookup, Release, RenderOutcome, render};
use fitout_helm_release::{Stamp, fitting_secret, from_secret};
use fitout_model::{Apis, ObjectId, Scope, read_packages};
use fitout_plan::{Owner, RenderProgress, RenderedRelease, Request, ResolvedPackage, adopted};
use fitout_reconcile::record::{self, Earlier};
use fitout_reconcile::{HookPhase, HookRun, RecordStatus};
use fitout_testkit::Programs;
use serde_json::{Value, json};
use time::OffsetDateTime;

const OWNER: Owner = Owner { name: "shop", namespace: "web" };
const KUBERNETES: &str = "v1.36.3";

/// The files below a folder, by their path in it.
fn files(folder: &Path, place: &str, all: &mut BTreeMap<String, Vec<u8>>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let place = format!("{place}/{}", path.file_name().unwrap_or_default().display());
        if path.is_dir() {
            files(&path, &place, all)?;
        } else {
            all.insert(place, std::fs::read(&path)?);
        }
    }
    Ok(())
}

/// A chart as an extension.
fn chosen(folder: &Path) -> Result<ResolvedPackage> {
    let definition = "apiVersion: fitout.dev/v1alpha1\nkind: ExtensionDefinition\nmetadata: { name: web }\n\
                      spec: { extension: web, version: 1.0.0, helm: { chart: chart } }\n";
    let mut all = BTreeMap::from([("web/1.0.0/definition.yaml".to_owned(), definition.as_bytes().to_vec())]);
    files(folder, "web/1.0.0/chart", &mut all)?;
    let packages = read_packages(all);
    let package = packages.packages.first().ok_or_else(|| anyhow!("{:?}", packages.problems))?;
    Ok(ResolvedPackage { package: Arc::clone(package), archive: None, pack: None, why: String::new() })
}

fn request(apis: &Apis) -> Request<'_> {
    Request {
        extension: "web",
        version: None,
        latest: false,
        stays_on_withdrawn: false,
        installed: None,
        values: &Value::Null,
        owner: OWNER,
        revision: 1,
        kubernetes: KUBERNETES,
        apis,
    }
}

/// What the templates come to, on a cluster that has none of what they look up, and serves all that they make.
fn prepared(chosen: &ResolvedPackage) -> Option<(RenderedRelease, Apis)> {
    let world: Rc<dyn Environment> = Rc::new(fitout_environment::HostEnvironment);
    let mut answers: BTreeMap<Lookup, Value> = BTreeMap::new();
    let apis = loop {
        let input = Input {
            definition: &chosen.package.definition,
            files: chosen.files(),
            values: &json!({}),
            release: Release { name: OWNER.name, namespace: OWNER.namespace, revision: 1 },
            kubernetes: KUBERNETES,
            apis: &Apis::default(),
            answers: &answers,
            world: &world,
        };
        match render(&input).ok()? {
            RenderOutcome::NeedLookups(lookups) => {
                answers.extend(lookups.into_iter().map(|lookup| (lookup, json!({}))));
            }
            RenderOutcome::Rendered(made) => {
                let hooks = made.hooks.iter().map(|(_, object)| object);
                let ids = made.objects.iter().chain(hooks).filter_map(ObjectId::of);
                break ids.map(|id| (id.gvk, Scope::Namespaced)).collect::<Apis>();
            }
        }
    };
    match chosen.render(&request(&apis), &answers, &world) {
        Ok(RenderProgress::Ready(prepared)) => Some((*prepared, apis)),
        _ => None,
    }
}

/// What its record says, once it has gone through a Secret and its hooks have run.
fn recorded(prepared: &RenderedRelease) -> Result<fitout_helm_release::Release> {
    let now = OffsetDateTime::UNIX_EPOCH;
    let mut release = record::release("web", OWNER, prepared, 1, Earlier::default(), now);
    record::advance(&mut release, RecordStatus::PendingInstall);
    for (place, hook) in prepared.artifact.hooks.iter().enumerate() {
        let event = hook.events[0].clone();
        record::set_run(&mut release, place, &HookRun { event, phase: HookPhase::Succeeded }, now);
    }
    Ok(from_secret(&fitting_secret(&mut release, Stamp::Created(now))?)?)
}

#[test]
fn what_is_installed_of_every_chart_is_in_its_record() -> Result<()> {
    let (mut charts, mut hooks, mut without) = (0, 0, vec![]);
    for (name, folder) in Programs::get()?.charts()? {
        let Some((prepared, apis)) = prepared(&chosen(&folder)?) else {
            without.push(format!("{name} (needs values)"));
            continue;
        };
        if !prepared.fits_a_record() {
            without.push(name);
            continue;
        }
        let again = adopted(&recorded(&prepared)?, OWNER, &apis).map_err(|why| anyhow!("{name}: {why:?}"))?;
        ensure!(again.content == prepared.content, "{name}: {:#?}\n{:#?}", again.content, prepared.content);
        ensure!(again.artifact == prepared.artifact, "{name}");
        charts += 1;
        hooks += prepared.artifact.hooks.len();
    }
    println!("{charts} charts with {hooks} hooks; not {without:?}");
    ensure!(charts >= 25 && hooks >= 19, "{charts} charts with {hooks} hooks; not {without:?}");
    Ok(())
}
