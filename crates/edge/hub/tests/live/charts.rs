//! Charts as extensions, on real clusters, beside what Helm itself makes of them.

#![allow(clippy::unwrap_used, reason = "a test")]

use anyhow::{Context, Result, anyhow};
use fitout_testkit::{INSTANCES, Tool, differences, until, without_server_fields, write_example_chart};
use serde_json::{Value, json};

use crate::world::{LIMIT, World};

/// What both have made, without what a server or chance adds.
fn made(client: &fitout_testkit::Client, path: &str) -> Result<Value> {
    let mut object = without_server_fields(&client.get(path)?);
    for random in ["/data/random", "/data/password"] {
        if let Some(value) = object.pointer_mut(random) {
            *value = Value::Null;
        }
    }
    Ok(object)
}

#[test]
fn a_chart_lives_as_it_does_with_helm() -> Result<()> {
    let world = World::start_with(false)?;
    write_example_chart(&world.catalog)?;
    world.offer()?;
    let log = world.target.audit().from_now()?;
    world.want(&json!({ "version": "3.x", "values": { "gone": null } }))?;
    let instance = world.ready(1)?;
    assert_eq!(instance["status"]["version"], "3.0.0", "{}", instance["status"]);
    log.calls()?.by("kubernetes-admin").writes().failed().assert_none("no write failed");

    // Helm does the same on another server.
    let chart = world.catalog.join("thing/3.0.0/chart");
    let chart = chart.to_str().context("a path")?;
    let theirs = world.hub.helm();
    theirs.run(&[
        "install",
        "thing",
        chart,
        "--namespace=thing",
        "--create-namespace",
        "--set=color=green,gone=null",
    ])?;
    let paths = [
        "/api/v1/namespaces/thing/configmaps/thing",
        "/api/v1/namespaces/thing/configmaps/hook",
        "/api/v1/namespaces/thing/secrets/password",
        "/apis/example.com/v1/namespaces/thing/gadgets/g",
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.example.com",
    ];
    for path in paths {
        let (ours, theirs) = (made(world.target.client(), path)?, made(world.hub.client(), path)?);
        assert_eq!(differences(&ours, &theirs), [""; 0], "{path}");
    }
    let helm = |tool: &Tool, args: &[&str]| tool.run(&[args, &["--namespace=thing"]].concat());
    let ours = world.target.helm();
    for view in [&["get", "hooks", "thing"][..], &["get", "notes", "thing"], &["get", "values", "thing", "--all"]] {
        assert_eq!(helm(&ours, view)?, helm(&theirs, view)?, "{view:?}");
    }
    let listed: Value = serde_json::from_str(&helm(&ours, &["list", "--output=json"])?)?;
    let expected = ["thing", "1", "deployed", "thing-3.0.0", "9"];
    for (field, expected) in ["name", "revision", "status", "chart", "app_version"].into_iter().zip(expected) {
        assert_eq!(listed[0][field], expected, "{field}");
    }

    // Another hub takes over: nothing is written, and what was made by chance stays.
    let before = made_by_chance(&world)?;
    let quiet = world.target.audit().from_now()?;
    let world = world.restart_hub()?;
    world.want(&json!({ "version": "3.x", "values": { "gone": null }, "upgrade": { "policy": "Latest" } }))?;
    until("the new generation was seen", LIMIT, || {
        let instance = world.instance()?;
        let seen = instance["status"]["observedGeneration"] == instance["metadata"]["generation"];
        if seen { Ok(()) } else { Err(anyhow!("{}", instance["status"])) }
    })?;
    assert_eq!(made_by_chance(&world)?, before);
    quiet.calls()?.by("kubernetes-admin").writes().assert_none("nothing is written");

    // Upgraded: the password that was looked up stays, what was made by chance is made again, as with Helm.
    world.want(&json!({ "version": "3.x", "values": { "gone": null, "color": "blue" } }))?;
    world.ready(2)?;
    let map = world.config_map("thing")?.context("thing")?;
    let expected = [("color", "blue"), ("upgrade", "true"), ("gadgets", "true")];
    for (field, expected) in expected {
        assert_eq!(map["data"][field], expected, "{field}");
    }
    let after = made_by_chance(&world)?;
    assert!(after.0 != before.0 && after.1 == before.1, "{before:?} {after:?}");
    assert_eq!(world.config_map("hook")?.context("hook")?["data"]["revision"], "2");

    // Rolled back to the very thing that was there before.
    world.want(
        &json!({ "version": "3.x", "values": { "gone": null, "color": "blue", "keep": "keep" }, "rollbackTo": 1 }),
    )?;
    world.ready(3)?;
    assert_eq!(made_by_chance(&world)?, before);
    assert!(helm(&ours, &["get", "values", "thing"])?.contains("color: green"));
    let history: Value = serde_json::from_str(&helm(&ours, &["history", "thing", "--output=json"])?)?;
    let statuses: Vec<&Value> = history.as_array().context("a list")?.iter().map(|entry| &entry["status"]).collect();
    assert_eq!(statuses, ["superseded", "superseded", "deployed"]);

    // What is to be kept stays; all else goes, hooks too.
    world.want(&json!({ "version": "3.x", "values": { "gone": null, "keep": "keep" } }))?;
    world.ready(4)?;
    world.hub.client().delete(&format!("{INSTANCES}/thing"))?;
    until("it is gone", LIMIT, || match world.hub.client().find(&format!("{INSTANCES}/thing"))? {
        None => Ok(()),
        Some(instance) => Err(anyhow!("{}", instance["status"])),
    })?;
    let left: Vec<bool> =
        paths.iter().map(|path| Ok(world.target.client().find(path)?.is_some())).collect::<Result<_>>()?;
    assert_eq!(left, [false, false, true, false, true]);
    assert!(helm(&ours, &["list", "--output=json"])?.contains("[]"));
    Ok(())
}

fn made_by_chance(world: &World) -> Result<(Value, Value)> {
    let client = world.target.client();
    let map = client.get("/api/v1/namespaces/thing/configmaps/thing")?;
    let secret = client.get("/api/v1/namespaces/thing/secrets/password")?;
    Ok((map["data"]["random"].clone(), secret["data"]["password"].clone()))
}
