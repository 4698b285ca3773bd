//! Values: each names the layer that set it, and secrets are nobody's to see.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::time::Duration;

use anyhow::{Result, bail, ensure};
use fitout_testkit::{apply, object, serve_compute, until, write_example_chart};
use serde_json::{Value, json};

use crate::command::{Ended, fitout};
use crate::faults::Faults;

/// Machines may be busy: this only says when something is lost.
const LATEST: Duration = Duration::from_mins(2);

#[test]
fn every_value_names_its_layer_and_secrets_are_not_shown() -> Result<()> {
    let faults = Faults::start(1)?;
    write_example_chart(&faults.hub.sandbox().dir().join("catalog"))?;
    let address = format!("{}:8443", faults.hub.address());
    let _hub = faults.run_hub_with("hub", &["--lease=5s", "--content-gc-grace=1s", "--api-address", &address])?;
    serve_compute(&faults.hub)?;
    let members = json!({ "spec": { "members": [{ "name": "mia", "role": "Member" }] } });
    apply(&faults.hub, &object("fitout.dev/v1alpha1", "Organization", "", "acme", &members))?;
    let secret = json!({ "type": "fitout.dev/values", "stringData": { "values.yaml": "extra: hunter2" } });
    apply(&faults.hub, &object("v1", "Secret", "org-acme", "login", &secret))?;
    let mut spec = json!({
        "version": "3.x", "values": { "gone": "later" },
        "valuesFrom": [{ "secretKeyRef": { "name": "login", "key": "values.yaml" } }],
    });
    faults.want("thing", 0, &spec)?;
    let run = |words: &[&str]| fitout(&faults.hub.kubeconfig(), Some("acme"), words);

    // It is told before anything is installed, and once the hub has heard of the instance and its secret.
    until("it is told", LATEST, || {
        let Ended { out, err, .. } = run(&["values", "thing"])?;
        ensure!(out == "color: green\nextra: (not shown)\ngone: later\nkeep: \"\"\n", "{out}{err}");
        Ok(())
    })?;
    assert_eq!(
        run(&["values", "thing", "--explain", "-o", "wide"])?.well(),
        "PATH    VALUE         SET BY                    OVER\n\
         color   green         definition                chart\n\
         extra   (not shown)   valuesFrom Secret login   chart\n\
         gone    later         instance                  chart\n\
         keep    \"\"            chart\n"
    );
    let given = run(&["values", "thing", "--no-defaults", "-o", "json"])?.well();
    assert_eq!(given.parse::<Value>()?, json!({ "color": "green", "extra": "(not shown)", "gone": "later" }));
    let whole = run(&["values", "thing", "--explain", "-o", "yaml"])?.well();
    ensure!(whole.contains("setBy: valuesFrom Secret login") && !whole.contains("hunter2"), "{whole}");

    // Plain manifests: the defaults are the definition's.
    faults.want_plain("plain", 0, 3)?;
    faults.want("bare", 0, &json!({ "extension": { "name": "plain", "catalog": "local" } }))?;
    for (name, expected) in [
        ("plain", "PATH   VALUE   SET BY     OVER\nsize   3       instance   definition\n"),
        ("bare", "PATH   VALUE   SET BY       OVER\nsize   1       definition\n"),
    ] {
        until("it is told", LATEST, || {
            let Ended { out, err, .. } = run(&["values", name, "--explain", "-o", "wide"])?;
            ensure!(out == expected, "{out}{err}");
            Ok(())
        })?;
    }

    who_may_see(&faults)?;

    run(&["values", "thign"])?
        .refused(1, "error: instance thign not found in organization acme\nhint: did you mean thing?\n");
    spec["version"] = json!("9.x");
    faults.want("thing", 0, &spec)?;
    let Ended { code, err, .. } = run(&["values", "thing"])?;
    ensure!(code == 4 && err.starts_with("error: instance thing has no values to show: "), "{code}: {err}");
    Ok(())
}

/// A member learns whose a value is, and not what it is; others learn nothing.
fn who_may_see(faults: &Faults) -> Result<()> {
    let hub = &faults.hub;
    until("the member has a right", LATEST, || {
        let args = ["auth", "can-i", "create", "values.compute.fitout.dev", "--namespace=org-acme", "--as=mia"];
        if hub.kubectl().run(&args).is_ok_and(|said| said.trim() == "yes") { Ok(()) } else { bail!("not yet") }
    })?;
    let asked = |user: &str| {
        let kubeconfig = hub.kubeconfig_for(user, None)?;
        fitout(&kubeconfig, Some("acme"), &["values", "thing", "--explain"])
    };
    let told = asked("mia")?.well();
    ensure!(told.contains("gone    (not shown)   instance\n") && !told.contains("later"), "{told}");
    let values = json!({ "apiVersion": "compute.fitout.dev/v1alpha1", "kind": "Values", "metadata": { "namespace": "org-acme" },
        "spec": { "instance": "thing" } });
    let stranger = hub.kubeconfig_for("joe", None)?;
    let args = ["create", "--filename=-", "--output=yaml", "--kubeconfig", stranger.to_str().unwrap()];
    let refused = hub.kubectl().run_with_input(&args, &values.to_string()).unwrap_err().to_string();
    ensure!(refused.contains(r#"User "joe" cannot create resource "values""#), "{refused}");
    Ok(())
}
