//! The hub has the rights it uses, and uses every right it has.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Result, ensure};
use fitout_testkit::{Call, apply, condition, object, paths, serve_compute, until};
use serde_json::{Value, json};

use crate::faults::{Faults, LIMIT, name_of};

const HUB: &str = "system:serviceaccount:fitout-system:fitout-hub";

/// A right: the namespace it is for, or `*`; the group; the resource, with its part or with a name; the verb.
type Right = (String, String, String, String);

fn words(rule: &Value, field: &str) -> Vec<String> {
    rule[field].as_array().into_iter().flatten().map(|word| word.as_str().unwrap().to_owned()).collect()
}

/// Every right that the shipped roles of the hub give.
fn given() -> BTreeSet<Right> {
    let text = fs::read_to_string(paths::checkout().join("deploy/hub/rbac.yaml")).unwrap();
    let roles = fitout_go_yaml::documents(&text).unwrap().into_iter().map(|document| document.value);
    let roles = roles.filter(|role| role["metadata"]["name"] == "fitout-hub" && role["rules"].is_array());
    let mut rights = BTreeSet::new();
    for role in roles {
        let namespace = role["metadata"]["namespace"].as_str().unwrap_or("*");
        for rule in role["rules"].as_array().unwrap() {
            let names = words(rule, "resourceNames").into_iter().map(|name| format!(" {name}"));
            let names: Vec<String> = names.collect();
            for group in words(rule, "apiGroups") {
                for resource in words(rule, "resources") {
                    for verb in words(rule, "verbs") {
                        let right = |name: &str| {
                            (namespace.to_owned(), group.clone(), format!("{resource}{name}"), verb.clone())
                        };
                        rights.extend(names.iter().map(|name| right(name)));
                        rights.extend(names.is_empty().then(|| right("")));
                    }
                }
            }
        }
    }
    rights
}

/// The rights that a call took.
fn taken(call: &Call) -> Vec<Right> {
    let Some(of) = &call.object_ref else { return vec![] };
    let part = if of.subresource.is_empty() { String::new() } else { format!("/{}", of.subresource) };
    let resource = format!("{}{part}", of.resource);
    let mut rights = vec![];
    for namespace in ["*", of.namespace.as_str()] {
        let right = |verb: &str| (namespace.to_owned(), of.api_group.clone(), resource.clone(), verb.to_owned());
        rights.push(right(&call.verb));
        // Given for everything of the kind, or for this one by its name.
        let named = format!("{resource} {}", of.name);
        rights.push((namespace.to_owned(), of.api_group.clone(), named, call.verb.clone()));
        // What is applied and was not there is made, and that is asked for as well.
        if call.verb == "patch" && call.response_status.code == 201 {
            rights.push(right("create"));
        }
    }
    // Whoever binds a role has to hold all of it, or the right to bind it.
    let role = call.request_object.as_ref().and_then(|sent| sent["roleRef"]["name"].as_str());
    rights.extend(
        role.map(|role| ("*".to_owned(), of.api_group.clone(), format!("clusterroles {role}"), "bind".to_owned())),
    );
    rights
}

/// All that a hub does in its life.
fn live(faults: &Faults) -> Result<()> {
    let address = format!("{}:8443", faults.hub.address());
    let hub = faults
        .run_hub_with("life", &["--lease=5s", "--content-gc-grace=1s", "--history=5", "--api-address", &address])?;
    serve_compute(&faults.hub)?;
    for (revision, spec) in [
        (1, json!({ "version": "1.x" })),
        (2, json!({ "version": "2.x" })),
        (3, json!({ "version": "2.x", "rollbackTo": 1 })),
    ] {
        faults.want("thing", 0, &spec)?;
        faults.until_ready("thing", revision, LIMIT)?;
    }
    // The same is told twice.
    faults.want("thing", 0, &json!({ "version": "2.x", "rollbackTo": 1, "suspend": true }))?;
    until("it is suspended", LIMIT, || {
        let ready = condition(&faults.instance("thing")?.unwrap(), "Ready");
        ensure!(ready["reason"] == "Suspended", "{ready}");
        Ok(())
    })?;
    faults.want("thing", 0, &json!({ "version": "2.x", "rollbackTo": 1, "suspend": false }))?;
    faults.until_ready("thing", 3, LIMIT)?;
    faults.want("thing", 0, &json!({ "version": "2.x", "rollbackTo": 1, "suspend": false, "testRun": 1 }))?;
    until("it is tested", LIMIT, || {
        let test = faults.instance("thing")?.unwrap()["status"]["test"].clone();
        ensure!(test["result"] == "Passed", "{test}");
        Ok(())
    })?;
    until("what came of a revision is on record", LIMIT, || {
        let revisions = faults.hub.client().get("/apis/fitout.dev/v1alpha1/extensionrevisions")?;
        let items = revisions["items"].as_array().unwrap();
        ensure!(items.iter().any(|revision| revision["status"]["result"].is_string()), "{revisions}");
        Ok(())
    })?;
    let plan = json!({ "apiVersion": "compute.fitout.dev/v1alpha1", "kind": "Plan", "spec": { "instance": "thing" } });
    faults.hub.client().create("/apis/compute.fitout.dev/v1alpha1/namespaces/org-acme/plans", &plan)?;
    hub.stop()?;
    let _hub = faults.run_hub("life")?;
    // An extension that changes, and one of an organization's own.
    let states = json!([{ "extension": "thing", "state": "Deprecated" }]);
    let source = json!({ "directory": { "path": faults.hub.sandbox().dir().join("catalog") } });
    let deprecated = json!({ "spec": { "source": source, "states": states } });
    apply(&faults.hub, &object("fitout.dev/v1alpha1", "Catalog", "fitout-system", "local", &deprecated))?;
    let own = json!({ "spec": { "extension": "own", "version": "1.0.0", "manifests": { "path": "m" } } });
    apply(&faults.hub, &object("fitout.dev/v1alpha1", "ExtensionDefinition", "org-acme", "own", &own))?;
    until("both are offered", LIMIT, || {
        let of = |path: &str| faults.hub.client().get(&format!("/apis/fitout.dev/v1alpha1/namespaces/{path}"));
        of("org-acme/extensions/sideloaded.own")?;
        let thing = of("fitout-system/extensions/local.thing")?;
        ensure!(thing["spec"]["versions"][0]["state"] == "Deprecated", "{thing}");
        let definition = of("org-acme/extensiondefinitions/own")?;
        ensure!(condition(&definition, "Ready")["status"] == "True", "{definition}");
        Ok(())
    })?;
    let definition = "/apis/fitout.dev/v1alpha1/namespaces/org-acme/extensiondefinitions/own";
    faults.hub.client().delete(definition)?;
    // A catalog that offers nothing any more.
    let empty = faults.hub.sandbox().dir().join("empty");
    fs::create_dir_all(&empty)?;
    let source = json!({ "spec": { "source": { "directory": { "path": empty } } } });
    apply(&faults.hub, &object("fitout.dev/v1alpha1", "Catalog", "fitout-system", "local", &source))?;
    let client = faults.hub.client();
    until("what it offered is taken back", LIMIT, || {
        let left = client.get("/apis/fitout.dev/v1alpha1/extensions")?;
        ensure!(left["items"] == json!([]), "{left}");
        Ok(())
    })?;
    client.delete("/apis/fitout.dev/v1alpha1/namespaces/fitout-system/catalogs/local")?;
    // A cluster that goes, with what is installed on it.
    client.delete(&format!("/apis/fitout.dev/v1alpha1/namespaces/org-acme/clusters/{}", name_of(0)))?;
    until("all is gone, and all content", LIMIT, || {
        for path in ["/apis/fitout.dev/v1alpha1/clusters", "/api/v1/namespaces/fitout-system/secrets"] {
            let left = client.get(path)?["items"].as_array().unwrap().clone();
            // What plans are served with stays.
            let left: Vec<_> = left.iter().filter(|found| found["metadata"]["name"] != "fitout-hub-serving").collect();
            ensure!(left.is_empty(), "{left:?}");
        }
        Ok(())
    })
}

#[test]
fn every_right_of_the_hub_is_used_in_a_life_and_none_is_missed() -> Result<()> {
    let faults = Faults::start(1)?;
    live(&faults)?;
    let calls = faults.hub.audit().calls()?.by(HUB);
    calls.clone().only(|call| call.response_status.code == 403).assert_none("the hub has every right it needs");
    let taken: BTreeSet<Right> = calls.as_slice().iter().flat_map(taken).collect();
    let given = given();
    let unused: Vec<_> = given.difference(&taken).collect();
    eprintln!("  rights: {} given, {} unused, {} calls", given.len(), unused.len(), calls.as_slice().len());
    assert!(unused.is_empty(), "never used, so not needed: {unused:#?}");
    Ok(())
}
