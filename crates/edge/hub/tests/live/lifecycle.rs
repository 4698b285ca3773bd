//! The whole way of a change, on real clusters: one is the hub, the other the target.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use fitout_testkit::{INSTANCES, add_fake_node, apply, condition, object, until};
use serde_json::{Value, json};

use crate::world::{LIMIT, World};

#[test]
fn a_whole_life() -> Result<()> {
    let world = World::start()?;
    let log = world.target.audit().from_now()?;

    // Installed, in one pass, without one failed write.
    world.want(&json!({ "version": "1.x" }))?;
    let instance = world.ready(1)?;
    assert_eq!(instance["status"]["version"], "1.0.0");
    assert_eq!(instance["status"]["objects"], json!({ "total": 4, "ready": 4 }));
    assert_eq!(world.config_map("old")?.context("old")?["data"]["size"], "x1");
    let writes = log.calls()?.by("kubernetes-admin").writes();
    writes.clone().failed().assert_none("no write failed");
    let applied = writes.only(|call| call.verb == "patch" || call.is_of("namespaces")).summary();
    assert_eq!(applied.len(), 5, "four objects and the namespace, each once: {applied:#?}");

    // Somebody who looks at the instance's events is told.
    until("an event tells that it is installed", LIMIT, || {
        let events = world.hub.client().get("/apis/events.k8s.io/v1/namespaces/org-acme/events")?;
        let all = events["items"].as_array().cloned().unwrap_or_default();
        let told = |event: &Value| event["reason"] == "Installed" && event["note"] == "1.0.0 is installed";
        if all.iter().any(|event| told(event) && event["regarding"]["name"] == "thing") {
            Ok(())
        } else {
            Err(anyhow!("{events}"))
        }
    })?;

    // As Helm sees it.
    let helm = |args: &[&str]| world.target.helm().run(&[args, &["--namespace=thing"]].concat());
    let listed: Value = serde_json::from_str(&helm(&["list", "--output=json"])?)?;
    assert_eq!(
        (&listed[0]["name"], &listed[0]["status"], &listed[0]["chart"]),
        (&json!("thing"), &json!("deployed"), &json!("thing-1.0.0"))
    );
    assert!(helm(&["get", "manifest", "thing"])?.contains("kind: Widget"));

    // Values change, then the version: what is no longer part of it goes.
    world.want(&json!({ "version": "1.x", "values": { "size": 3 } }))?;
    world.ready(2)?;
    assert_eq!(world.config_map("kept")?.context("kept")?["data"]["size"], "x3");
    world.want(&json!({ "version": "2.x", "values": { "size": 3 } }))?;
    let instance = world.ready(3)?;
    assert_eq!(instance["status"]["version"], "2.0.0");
    assert!(world.config_map("new")?.is_some());
    until("old is gone", LIMIT, || world.config_map("old")?.map_or(Ok(()), |_| Err(anyhow!("still there"))))?;

    // Back to the first revision: the very artifact that was applied then.
    world.want(&json!({ "version": "2.x", "values": { "size": 3 }, "rollbackTo": 1 }))?;
    let instance = world.ready(4)?;
    assert_eq!(instance["status"]["version"], "1.0.0");
    assert_eq!(world.config_map("old")?.context("old")?["data"]["size"], "x1");
    let history: Value = serde_json::from_str(&helm(&["history", "thing", "--output=json"])?)?;
    let statuses: Vec<&str> =
        history.as_array().unwrap().iter().map(|entry| entry["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["superseded", "superseded", "superseded", "deployed"]);

    // What somebody deletes or edits is put back.
    let target = world.target.client();
    target.delete("/api/v1/namespaces/thing/configmaps/kept")?;
    until("kept is back", LIMIT, || world.config_map("kept")?.context("not there"))?;
    world.target.kubectl().run(&[
        "patch",
        "widget",
        "w",
        "--namespace=thing",
        "--type=merge",
        r#"--patch={"spec":{"size":9}}"#,
    ])?;
    until("the widget is mended", LIMIT, || {
        let widget = target.get("/apis/example.com/v1/namespaces/thing/widgets/w")?;
        if widget["spec"]["size"] == 1 { Ok(()) } else { Err(anyhow!("{}", widget["spec"])) }
    })?;

    // Suspended, it is left alone.
    world.want(&json!({ "version": "2.x", "values": { "size": 3 }, "rollbackTo": 1, "suspend": true }))?;
    until("it is suspended", LIMIT, || {
        let ready = condition(&world.instance()?, "Ready");
        if ready["reason"] == "Suspended" { Ok(()) } else { Err(anyhow!("{ready}")) }
    })?;
    let quiet = world.target.audit().from_now()?;
    target.delete("/api/v1/namespaces/thing/configmaps/kept")?;
    std::thread::sleep(Duration::from_secs(1));
    quiet
        .calls()?
        .writes()
        .of("configmaps")
        .only(|call| call.verb != "delete")
        .assert_none("nothing is written while suspended");

    // Uninstalled: nothing is left but the definition of the custom resources.
    world.hub.client().delete(&format!("{INSTANCES}/thing"))?;
    until("it is gone", LIMIT, || match world.hub.client().find(&format!("{INSTANCES}/thing"))? {
        None => Ok(()),
        Some(instance) => Err(anyhow!("{}", instance["status"])),
    })?;
    for path in ["configmaps/new", "configmaps/old", "configmaps/kept"] {
        assert!(target.find(&format!("/api/v1/namespaces/thing/{path}"))?.is_none(), "{path}");
    }
    assert!(target.find("/apis/example.com/v1/namespaces/thing/widgets/w")?.is_none());
    assert!(target.find("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com")?.is_some());
    assert_eq!(target.get("/api/v1/namespaces/thing/secrets")?["items"], json!([]));
    let left = world.hub.client().get("/apis/fitout.dev/v1alpha1/extensionrevisions")?;
    assert_eq!(left["items"], json!([]));
    // The rest is the catalog's.
    world.hub.kubectl().run(&["delete", "catalogs", "--all", "--all-namespaces"])?;
    until("its content is swept up", LIMIT, || {
        let content = "/api/v1/namespaces/fitout-system/secrets?fieldSelector=type%3Dfitout.dev/content";
        let left = world.hub.client().get(content)?;
        if left["items"] == json!([]) { Ok(()) } else { Err(anyhow!("{}", left["items"])) }
    })
}

#[test]
fn wrong_input_is_said_in_the_status_and_the_next_edit_heals_it() -> Result<()> {
    let world = World::start()?;
    let rows = [
        (json!({ "version": "3.x" }), "no version of thing is in 3.x; available: 2.0.0, 1.0.0"),
        (json!({ "values": { "siez": 1 } }), "values.siez: unknown parameter; did you mean `size`?"),
        (json!({ "values": { "size": "big" } }), "values.size: it is not of type \"integer\"; change the value"),
    ];
    for (spec, expected) in rows {
        world.want(&spec)?;
        until(expected, LIMIT, || {
            let ready = condition(&world.instance()?, "Ready");
            if ready["message"] == expected { Ok(()) } else { Err(anyhow!("{ready}")) }
        })?;
        assert_eq!(condition(&world.instance()?, "Stalled")["status"], "True");
    }
    world.want(&json!({ "values": { "size": 2 } }))?;
    world.ready(1)?;
    assert!(condition(&world.instance()?, "Stalled").is_null());

    // Values from a secret are under the instance's own.
    let values = json!({ "type": "fitout.dev/values", "stringData": { "v": "size: 7\n" } });
    apply(&world.hub, &object("v1", "Secret", "org-acme", "values", &values))?;
    world.want(&json!({ "valuesFrom": [{ "secretKeyRef": { "name": "values", "key": "v" } }] }))?;
    world.ready(2)?;
    assert_eq!(world.config_map("kept")?.context("kept")?["data"]["size"], "x7");

    // Somebody else's object is not touched.
    world.target.client().create("/api/v1/namespaces", &json!({ "metadata": { "name": "other" } }))?;
    world.target.client().create("/api/v1/namespaces/other/configmaps", &json!({ "metadata": { "name": "kept" } }))?;
    let spec = json!({ "spec": {
        "cluster": "foo", "namespace": "other", "releaseName": "second", "version": "1.x",
        "extension": { "name": "thing", "catalog": "local" },
    } });
    apply(&world.hub, &object("fitout.dev/v1alpha1", "ExtensionInstance", "org-acme", "second", &spec))?;
    until("it is blocked", LIMIT, || {
        let instance = world.hub.client().get(&format!("{INSTANCES}/second"))?;
        let message = condition(&instance, "Ready")["message"].to_string();
        if message.contains("belongs to no Helm release") { Ok(()) } else { Err(anyhow!("{message}")) }
    })?;
    let untouched = world.target.client().get("/api/v1/namespaces/other/configmaps/kept")?;
    if !untouched["metadata"]["labels"].is_null() {
        bail!("{untouched}");
    }
    Ok(())
}

#[test]
fn an_instance_that_cannot_be_one_says_so_and_goes_without_harm() -> Result<()> {
    let world = World::start()?;
    world.want(&json!({}))?;
    world.ready(1)?;
    // The one has the release of another, the other has no cluster.
    let release = "release thing belongs to instance thing; choose another release name or namespace";
    let cluster = "cluster nowhere is not registered in this organization; register it, or delete this";
    for (name, on, expected) in [("rival", "foo", release), ("lost", "nowhere", cluster)] {
        let spec = json!({ "spec": {
            "cluster": on, "namespace": "thing", "releaseName": "thing",
            "extension": { "name": "thing", "catalog": "local" },
        } });
        apply(&world.hub, &object("fitout.dev/v1alpha1", "ExtensionInstance", "org-acme", name, &spec))?;
        let path = format!("{INSTANCES}/{name}");
        until(expected, LIMIT, || {
            let ready = condition(&world.hub.client().get(&path)?, "Ready");
            if ready["message"] == expected { Ok(()) } else { Err(anyhow!("{ready}")) }
        })?;
        world.hub.client().delete(&path)?;
        until("it is gone", LIMIT, || match world.hub.client().find(&path)? {
            None => Ok(()),
            Some(instance) => Err(anyhow!("{}", instance["status"])),
        })?;
    }
    // What the first has is still its own.
    assert!(world.config_map("kept")?.is_some());
    let history = world.target.helm().run(&["history", "thing", "--namespace=thing", "--output=json"])?;
    assert_eq!(serde_json::from_str::<Vec<Value>>(&history)?.len(), 1);
    Ok(())
}

#[test]
fn a_release_that_helm_made_is_not_taken_over() -> Result<()> {
    let world = World::start()?;
    let chart = world.hub.sandbox().dir().join("other");
    std::fs::create_dir_all(chart.join("templates"))?;
    std::fs::write(chart.join("Chart.yaml"), "apiVersion: v2\nname: other\nversion: 1.0.0\n")?;
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept}\ndata: {whose: helms}\n";
    std::fs::write(chart.join("templates/map.yaml"), map)?;
    let chart = chart.display().to_string();
    world.target.helm().run(&["install", "thing", &chart, "--namespace=thing", "--create-namespace"])?;
    world.want(&json!({}))?;
    let sentence = "release thing already exists in namespace thing, at revision 1, and does not belong to this instance; take \
                    it over with `fitout adopt`, remove it with `helm uninstall thing --namespace thing`, or choose another release name";
    until("it says so", LIMIT, || {
        let ready = condition(&world.instance()?, "Ready");
        if ready["message"] == sentence { Ok(()) } else { Err(anyhow!("{ready}")) }
    })?;
    let found = world.config_map("kept")?.ok_or_else(|| anyhow!("it is gone"))?;
    assert_eq!(found["data"], json!({ "whose": "helms" }));
    let history = world.target.helm().run(&["history", "thing", "--namespace=thing", "--output=json"])?;
    let history: Vec<Value> = serde_json::from_str(&history)?;
    assert_eq!((history.len(), &history[0]["description"]), (1, &json!("Install complete")));
    // When it is gone, the instance goes on by itself.
    world.target.helm().run(&["uninstall", "thing", "--namespace=thing"])?;
    world.ready(1).map(drop)
}

#[test]
fn a_cluster_is_followed() -> Result<()> {
    let mut world = World::start()?;
    let path = "/apis/fitout.dev/v1alpha1/namespaces/org-acme/clusters/foo";
    let status = |world: &World, what: &str, found: &dyn Fn(&Value) -> bool| {
        until(what, LIMIT, || {
            let cluster = world.hub.client().get(path)?;
            if found(&cluster["status"]) { Ok(()) } else { Err(anyhow!("{}", cluster["status"])) }
        })
    };
    status(&world, "it is connected", &|status| status["version"] == "v1.36.3" && status["nodes"]["ready"] == 1)?;

    // Without a Ready node nothing is begun, and the instance says so; it goes on by itself.
    world.target.client().delete("/api/v1/nodes/n")?;
    status(&world, "it has no node", &|status| status["nodes"]["ready"] == 0)?;
    world.want(&json!({}))?;
    until("it waits for a node", LIMIT, || {
        let ready = condition(&world.instance()?, "Ready");
        if ready["reason"] == "Waiting" { Ok(()) } else { Err(anyhow!("{ready}")) }
    })?;
    assert!(world.config_map("kept")?.is_none());
    add_fake_node(&world.target)?;
    world.ready(1)?;

    // Another version is noticed when the server comes back.
    Arc::get_mut(&mut world.target).unwrap().switch(fitout_testkit::KubeVersion::V1_35)?;
    status(&world, "it is another version", &|status| status["version"] == "v1.35.4")?;

    // And why it cannot be reached is said.
    apply(&world.hub, &object("v1", "Secret", "org-acme", "bad", &json!({ "stringData": { "kubeconfig": "{" } })))?;
    let cluster = json!({ "spec": { "kubeconfigSecret": "bad" } });
    apply(&world.hub, &object("fitout.dev/v1alpha1", "Cluster", "org-acme", "bad", &cluster))?;
    until("the reason is said", LIMIT, || {
        let cluster = world.hub.client().get("/apis/fitout.dev/v1alpha1/namespaces/org-acme/clusters/bad")?;
        let connected = condition(&cluster, "Connected");
        if connected["reason"] == "InvalidKubeconfig" { Ok(()) } else { Err(anyhow!("{connected}")) }
    })
}
