//! More changes than have their turn at once: what they are about to do is written down for several together.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeSet;

use anyhow::{Result, anyhow, ensure};
use base64::Engine;
use fitout_testkit::{Fault, INSTANCES, apply, object, sample, until};
use serde_json::{Value, json};

use crate::faults::{Faults, LIMIT, is_effect};

const CROWD: usize = 40;

/// The instances whose revisions are objects, those whose revisions are on pages, and how many pages there are.
fn known(faults: &Faults) -> Result<(BTreeSet<String>, BTreeSet<String>, usize)> {
    let objects = faults.hub.client().get("/apis/fitout.dev/v1alpha1/extensionrevisions")?;
    let objects = items(&objects).iter().map(|one| one["spec"]["instance"].as_str().unwrap().to_owned()).collect();
    let pages =
        faults.hub.client().get("/api/v1/namespaces/fitout-system/secrets?fieldSelector=type=fitout.dev/journal")?;
    let lines = items(&pages).iter().flat_map(|page| page["data"].as_object().unwrap().values());
    let instance = |line: &Value| -> String {
        let line = base64::engine::general_purpose::STANDARD.decode(line.as_str().unwrap()).unwrap();
        serde_json::from_slice::<Value>(&line).unwrap()["spec"]["instance"].as_str().unwrap().to_owned()
    };
    Ok((objects, lines.map(instance).collect(), items(&pages).len()))
}

fn items(list: &Value) -> &[Value] {
    list["items"].as_array().unwrap()
}

/// The release records on the target: of which release, and of which revision.
fn records(faults: &Faults) -> Result<BTreeSet<(String, String)>> {
    let records = faults.targets[0].client().get("/api/v1/secrets?labelSelector=owner=helm")?;
    let label = |one: &Value, label: &str| one["metadata"]["labels"][label].as_str().unwrap().to_owned();
    Ok(items(&records).iter().map(|one| (label(one, "name"), label(one, "version"))).collect())
}

fn until_ready(faults: &Faults, names: &[String]) -> Result<()> {
    until("all are ready", LIMIT * 2, || {
        let left: Vec<&String> = names.iter().filter(|name| !faults.is_ready(name, 1).unwrap_or(false)).collect();
        ensure!(left.is_empty(), "{left:?} are not");
        Ok(())
    })
}

/// All that is wanted has a revision that is an object, and nothing else has.
fn until_settled(faults: &Faults, names: &[String]) -> Result<()> {
    let wanted: BTreeSet<String> = names.iter().cloned().collect();
    until("every revision is an object", LIMIT, || {
        let (objects, _, pages) = known(faults)?;
        ensure!(objects == wanted && pages == 0, "{pages} pages, {objects:?}");
        Ok(())
    })
}

/// Has a crowd installed by a hub that is killed in the middle. Says who they are.
fn interrupt(faults: &Faults) -> Result<Vec<String>> {
    let names: Vec<String> = (0..CROWD).map(|number| format!("one-{number}")).collect();
    for name in &names {
        faults.want_plain(name, 0, 1)?;
    }
    // Late enough that those are at work who had to wait for it.
    let last = sample(vec![100, 140, 180], 1)[0];
    faults.proxies[0].decide({
        let mut writes = 0;
        move |asked| {
            writes += u32::from(is_effect(asked));
            if writes == last && is_effect(asked) { Fault::DropResponse } else { Fault::Pass }
        }
    });
    let hub = faults.run_hub("first")?;
    faults.proxies[0].dropped(LIMIT).ok_or_else(|| anyhow!("there were never {last} writes"))?;
    hub.kill();
    faults.let_pass();
    Ok(names)
}

#[test]
fn what_many_are_about_to_do_is_known_to_the_hub_that_comes_next() -> Result<()> {
    let faults = Faults::start(1)?;
    let names = interrupt(&faults)?;
    let (objects, written, pages) = known(&faults)?;
    let begun: Vec<String> = records(&faults)?.into_iter().map(|(name, _)| name).collect();
    assert!(begun.iter().all(|name| objects.contains(name) || written.contains(name)), "{objects:?} {written:?}");
    let early: Vec<&String> = begun.iter().filter(|name| !objects.contains(*name)).collect();
    assert!(!early.is_empty(), "nothing was begun on the journal's word: {objects:?} {written:?}");
    assert!(pages < written.len(), "each has a page of its own: {pages} for {}", written.len());

    // Of two that are no longer wanted, one was begun.
    let idle = names.iter().find(|name| !begun.contains(name)).unwrap();
    let gone = [early[0], idle];
    for name in gone {
        faults.hub.client().delete(&format!("{INSTANCES}/{name}"))?;
    }
    let kept: Vec<String> = names.iter().filter(|name| !gone.contains(name)).cloned().collect();
    let _hub = faults.run_hub("second")?;
    until_ready(&faults, &kept)?;
    until("what is not wanted is gone", LIMIT, || {
        let left = gone.iter().find(|name| faults.instance(name).is_ok_and(|found| found.is_some()));
        ensure!(left.is_none(), "{left:?} is left");
        Ok(())
    })?;
    until_settled(&faults, &kept)?;
    assert_eq!(records(&faults)?, kept.iter().map(|name| (name.clone(), "1".to_owned())).collect());
    assert_eq!(faults.targets[0].client().find(&format!("/api/v1/namespaces/{}/configmaps/plain-0", gone[0]))?, None);

    // What goes again before it is calm leaves nothing behind.
    let more: Vec<String> = (0..CROWD).map(|number| format!("more-{number}")).collect();
    for name in &more {
        faults.want_plain(name, 0, 1)?;
    }
    until_ready(&faults, &more[..1])?;
    for name in &more {
        faults.hub.client().delete(&format!("{INSTANCES}/{name}"))?;
    }
    until("the others are gone", LIMIT * 2, || {
        let left: Vec<&String> =
            more.iter().filter(|name| faults.instance(name).is_ok_and(|one| one.is_some())).collect();
        ensure!(left.is_empty(), "{left:?} are left");
        Ok(())
    })?;
    until_settled(&faults, &kept)?;
    eprintln!("  crowd: {} on {pages} pages when the hub was killed, {} of them begun", written.len(), early.len());
    Ok(())
}

#[test]
fn what_many_are_about_to_do_goes_with_their_namespace() -> Result<()> {
    let faults = Faults::start(1)?;
    interrupt(&faults)?;
    let (_, written, pages) = known(&faults)?;
    assert!(pages > 0);
    // A hub of another version may have written this.
    let other = object(
        "v1",
        "Secret",
        "fitout-system",
        "other",
        &json!({
            "type": "fitout.dev/journal", "stringData": { "one": "{}" },
        }),
    );
    apply(&faults.hub, &other)?;
    // From now on nothing can be made in it, neither can revisions.
    faults.hub.client().delete("/api/v1/namespaces/org-acme")?;
    let _hub = faults.run_hub("second")?;
    until("all is gone", LIMIT * 2, || {
        ensure!(faults.hub.client().find("/api/v1/namespaces/org-acme")?.is_none(), "the namespace is left");
        Ok(())
    })?;
    assert_eq!(records(&faults)?, BTreeSet::new());
    let maps = faults.targets[0].client().get("/api/v1/configmaps?fieldSelector=metadata.name=plain-0")?;
    assert_eq!(maps["items"], json!([]));
    // What the catalog offers is content, too.
    faults.hub.client().delete("/apis/fitout.dev/v1alpha1/namespaces/fitout-system/catalogs/local")?;
    until("all but the page that nobody can read is gone", LIMIT, || {
        let secrets = faults.hub.client().get("/api/v1/namespaces/fitout-system/secrets")?;
        let left: Vec<&Value> = items(&secrets).iter().map(|secret| &secret["metadata"]["name"]).collect();
        ensure!(left == ["other"], "{left:?}");
        Ok(())
    })?;
    eprintln!("  crowd: {} on {pages} pages when the hub was killed and the namespace deleted", written.len());
    Ok(())
}
