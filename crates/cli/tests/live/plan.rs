//! Plans: what is said is what is then done, and only those are told who may know.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};
use base64::Engine;
use fitout_api::{PlanStatus, PlannedWrite, WriteAct};
use fitout_testkit::{
    AuditLog, INSTANCES, Process, apply, condition, full, object, raw_tls_request, serve_compute, until,
};
use serde_json::{Value, json};

use crate::command::fitout;
use crate::faults::Faults;

/// Machines may be busy: this only says when something is lost.
const LATEST: Duration = Duration::from_mins(2);

const PLANS: &str = "/apis/compute.fitout.dev/v1alpha1/namespaces/org-acme/plans";

/// Who the hub is on the target; everybody else there is somebody else.
const HUB: &str = "system:serviceaccount:kube-system:testbed-admin";

/// Hubs, one of which serves plans, and a target.
struct World {
    faults: Faults,
    _hubs: Vec<Process>,
}

impl World {
    /// With a hub that leads and serves.
    fn start() -> Result<Self> {
        Self::start_with(&[true])
    }

    /// With so many hubs, of which the first leads and some serve.
    fn start_with(serving: &[bool]) -> Result<Self> {
        let faults = Faults::start(1)?;
        let catalog = faults.hub.sandbox().dir().join("catalog");
        write_parting(&catalog.join("parting/1.0.0"))?;
        write_vault(&catalog.join("vault/1.0.0"))?;
        let address = Self::address(&faults).to_string();
        let mut hubs = Vec::new();
        for (number, serves) in serving.iter().enumerate() {
            let mut flags = vec!["--lease=5s", "--content-gc-grace=1s", "--history=3"];
            flags.extend(serves.then_some(["--api-address", &address]).into_iter().flatten());
            hubs.push(faults.run_hub_with(&format!("hub-{number}"), &flags)?);
            // Only who leads connects.
            until("the cluster is connected", LATEST, || {
                let clusters = "/apis/fitout.dev/v1alpha1/namespaces/org-acme/clusters/c0";
                let cluster = faults.hub.client().get(clusters)?;
                ensure!(condition(&cluster, "Ready")["status"] == "True", "{cluster}");
                Ok(())
            })?;
        }
        serve_compute(&faults.hub)?;
        Ok(Self { faults, _hubs: hubs })
    }

    fn address(faults: &Faults) -> SocketAddr {
        (faults.hub.address(), 8443).into()
    }

    fn ask(&self, spec: &Value) -> Result<PlanStatus> {
        let plan = json!({ "apiVersion": "compute.fitout.dev/v1alpha1", "kind": "Plan", "spec": spec });
        let answer = self.faults.hub.client().create(PLANS, &plan)?;
        Ok(serde_json::from_value(answer["status"].clone())?)
    }

    /// Asks for the plan of an instance with this spec.
    fn ask_for(&self, spec: &Value) -> Result<PlanStatus> {
        let instance =
            object("fitout.dev/v1alpha1", "ExtensionInstance", "org-acme", "thing", &json!({ "spec": spec }));
        self.ask(&json!({ "proposed": instance }))
    }

    fn log(&self) -> Result<AuditLog> {
        self.faults.targets[0].audit().from_now()
    }

    /// Waits until the hub has done what it is going to do.
    fn settled(&self) -> Result<()> {
        until("the hub is done", LATEST, || {
            let instance = self.faults.instance("thing")?.context("it is not there")?;
            let ready = condition(&instance, "Ready");
            let seen = instance["status"]["observedGeneration"] == instance["metadata"]["generation"];
            ensure!(seen && (ready["status"] == "True" || ready["reason"] == "Suspended"), "{}", instance["status"]);
            Ok(())
        })
    }

    fn write(&self, spec: &Value) -> Result<()> {
        let instance =
            object("fitout.dev/v1alpha1", "ExtensionInstance", "org-acme", "thing", &json!({ "spec": spec }));
        // The hub may change its status in between.
        until("it is written", LATEST, || match self.faults.instance("thing")? {
            Some(mut found) => {
                found["spec"] = spec.clone();
                self.faults.hub.client().replace(&format!("{INSTANCES}/thing"), &found)
            }
            None => self.faults.hub.client().create(INSTANCES, &instance),
        })?;
        Ok(())
    }

    /// Takes the instance away, and waits until it is gone.
    fn remove(&self) -> Result<()> {
        self.faults.hub.client().delete(&format!("{INSTANCES}/thing"))?;
        until("it is gone", LATEST, || self.faults.instance("thing")?.map_or(Ok(()), |found| Err(anyhow!("{found}"))))?;
        let namespace = || self.faults.targets[0].client().find("/api/v1/namespaces/thing");
        until("its namespace is gone", LATEST, || namespace()?.map_or(Ok(()), |found| Err(anyhow!("{found}"))))
    }

    fn by_hand(&self, words: &[&str]) -> Result<()> {
        let kubectl = self.faults.targets[0].kubectl();
        kubectl.run(&[words, &["--namespace=thing"]].concat()).map(drop)
    }
}

/// A chart with a hook before it goes.
fn write_parting(folder: &Path) -> Result<()> {
    let definition = "apiVersion: fitout.dev/v1alpha1\nkind: ExtensionDefinition\nmetadata: { name: parting-1 }\n\
                      spec: { extension: parting, version: 1.0.0, bootstrap: true, helm: { chart: chart } }\n";
    let hook = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: last, annotations: { helm.sh/hook: pre-delete } }\n";
    std::fs::create_dir_all(folder.join("chart/templates"))?;
    std::fs::write(folder.join("definition.yaml"), definition)?;
    std::fs::write(folder.join("chart/Chart.yaml"), "apiVersion: v2\nname: parting\nversion: 1.0.0\n")?;
    std::fs::write(
        folder.join("chart/templates/object.yaml"),
        "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: object }\n",
    )?;
    Ok(std::fs::write(folder.join("chart/templates/hook.yaml"), hook)?)
}

/// A chart with a password that is made once and found again, a word that is made anew by chance, and a value.
fn write_vault(folder: &Path) -> Result<()> {
    let password = "{{- $found := lookup \"v1\" \"Secret\" .Release.Namespace \"password\" }}\n\
        apiVersion: v1\nkind: Secret\nmetadata: { name: password }\ndata:\n  \
        password: {{ if $found }}{{ $found.data.password }}{{ else }}{{ randAlphaNum 20 | b64enc }}{{ end }}\n";
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: map }\n\
        data: { word: {{ randAlpha 20 }}, color: {{ .Values.color }} }\n";
    let files = [
        (
            "definition.yaml",
            "apiVersion: fitout.dev/v1alpha1\nkind: ExtensionDefinition\nmetadata: { name: vault-1 }\n\
             spec: { extension: vault, version: 1.0.0, bootstrap: true, helm: { chart: chart } }\n",
        ),
        ("chart/Chart.yaml", "apiVersion: v2\nname: vault\nversion: 1.0.0\n"),
        ("chart/values.yaml", "color: red\n"),
        ("chart/templates/password.yaml", password),
        ("chart/templates/map.yaml", map),
    ];
    std::fs::create_dir_all(folder.join("chart/templates"))?;
    files.into_iter().try_for_each(|(path, text)| Ok(std::fs::write(folder.join(path), text)?))
}

/// What the hub wrote to the target, each as `VERB RESOURCE NAMESPACE/NAME`; what it only tried is left out.
fn written(log: &AuditLog) -> Result<Vec<String>> {
    let real = |call: &fitout_testkit::Call| !call.uri.contains("dryRun=All");
    Ok(log.calls()?.by(HUB).writes().only(real).summary())
}

/// The same, of what was planned.
fn planned(write: &PlannedWrite) -> String {
    let verb = match (write.act, &write.note) {
        (WriteAct::Delete, _) => "delete",
        (WriteAct::Create, Some(_)) => "create",
        (WriteAct::Update, Some(_)) => "update",
        // The release's own namespace is no object of it.
        (WriteAct::Create, None) if (write.kind.as_str(), write.name.as_str()) == ("Namespace", "thing") => "create",
        (WriteAct::Create | WriteAct::Update, None) => "patch",
    };
    let place = if write.namespace.is_empty() { String::new() } else { format!("{}/", write.namespace) };
    format!("{verb} {}s {place}{}", write.kind.to_lowercase(), write.name)
}

/// Compares what was planned with what was written: the stages in their order, and each as a set.
fn compare(plan: &PlanStatus, written: &[String], what: &str) -> Result<()> {
    let writes: &[PlannedWrite] = if plan.waits.is_some() { &[] } else { &plan.writes };
    let mut rest = written;
    for stage in writes.chunk_by(|a, b| a.stage == b.stage) {
        let expected: BTreeSet<String> = stage.iter().map(planned).collect();
        let (now, later) = rest.split_at_checked(stage.len()).unwrap_or((rest, &[]));
        let found: BTreeSet<String> = now.iter().cloned().collect();
        ensure!(
            expected == found,
            "{what}:\nplanned {expected:#?}\nwritten {found:#?}\nplan {plan:#?}\nall {written:#?}"
        );
        rest = later;
    }
    ensure!(rest.is_empty(), "{what}: not planned, and written: {rest:#?}\nplan {plan:#?}");
    Ok(())
}

/// Chance that can be had again.
struct Chance(u64);

impl Chance {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % count
    }
}

fn spec(version: &str, size: usize) -> Value {
    json!({
        "cluster": "c0", "namespace": "thing", "extension": { "name": "thing", "catalog": "local" },
        "version": version, "values": { "size": size },
    })
}

/// What somebody else may do to the target.
fn drifts() -> Vec<Vec<&'static str>> {
    vec![
        vec!["patch", "configmap", "kept", "--type=merge", r#"--patch={"data":{"size":"y"}}"#],
        vec!["patch", "configmap", "kept", "--type=merge", r#"--patch={"data":{"theirs":"y"}}"#],
        vec!["label", "configmap", "kept", "--overwrite", "team=shop"],
        vec!["label", "configmap", "kept", "app.kubernetes.io/managed-by-"],
        vec!["delete", "configmap", "kept", "--ignore-not-found"],
        vec!["patch", "widget", "w", "--type=merge", r#"--patch={"spec":{"size":99}}"#],
        vec!["delete", "widget", "w", "--ignore-not-found"],
    ]
}

#[test]
fn what_a_plan_says_is_what_is_then_done() -> Result<()> {
    let seed = std::env::var("FITOUT_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| u64::from(std::process::id()));
    let edits = if full() { 200 } else { 16 };
    eprintln!("  plan: FITOUT_SEED={seed}, {edits} edits");
    let mut chance = Chance(seed.wrapping_mul(2).wrapping_add(1));
    let world = World::start()?;
    let (mut writes, mut kinds) = (0, BTreeSet::new());
    let mut wanted = spec("1.x", 1);
    for edit in 0..edits {
        let there = world.faults.instance("thing")?;
        let choice = if there.is_none() { 0 } else { chance.below(10) };
        let before = wanted.clone();
        let what = format!("edit {edit} of seed {seed}, choice {choice}");
        let kept: Vec<Value> =
            there.iter().filter_map(|found| found["status"]["revisions"].as_array().cloned()).flatten().collect();
        match choice {
            0..=3 => wanted = spec(["1.x", "2.x"][chance.below(2)], chance.below(3)),
            4 => wanted["rollbackTo"] = kept[chance.below(kept.len())]["number"].clone(),
            5 => wanted["suspend"] = json!(true),
            6..=8 => {
                // While nobody repairs it.
                let mut suspended = wanted.clone();
                suspended["suspend"] = json!(true);
                world.write(&suspended)?;
                world.settled()?;
                for _ in 0..=chance.below(2) {
                    let drifts = drifts();
                    // What was deleted cannot be changed any more.
                    let _ = world.by_hand(&drifts[chance.below(drifts.len())]);
                }
                if chance.below(3) == 0 {
                    wanted = spec(["1.x", "2.x"][chance.below(2)], chance.below(3));
                }
                wanted.as_object_mut().unwrap().remove("suspend");
            }
            _ => {}
        }
        let quiet = world.log()?;
        let plan = match choice {
            9 => world.ask(&json!({ "instance": "thing", "uninstall": true }))?,
            _ => world.ask_for(&wanted)?,
        };
        ensure!(written(&quiet)?.is_empty(), "{what}: asking wrote {:#?}", written(&quiet)?);
        let log = world.log()?;
        if choice == 9 {
            world.remove()?;
            wanted = before;
            wanted.as_object_mut().unwrap().remove("rollbackTo");
        } else {
            world.write(&wanted)?;
            world.settled()?;
        }
        let done = written(&log)?;
        compare(&plan, &done, &what)?;
        writes += done.len();
        kinds.insert(format!("{:?}", plan.change));
        if choice != 9 {
            // And then there is nothing left to do.
            let left = world.ask(&json!({ "instance": "thing" }))?;
            ensure!(left.writes.is_empty() || left.waits.is_some(), "{what}: {left:#?}");
        }
    }
    eprintln!("  plan: {writes} writes were planned and done, by {}", kinds.into_iter().collect::<Vec<_>>().join(", "));
    ensure!(writes > edits, "hardly anything was done: {writes}");
    Ok(())
}

#[test]
fn what_was_looked_up_or_made_by_chance_does_not_rotate_at_a_plan() -> Result<()> {
    let world = World::start()?;
    let spec = |color: &str| {
        let extension = json!({ "name": "vault", "catalog": "local" });
        json!({ "cluster": "c0", "namespace": "thing", "extension": extension, "values": { "color": color } })
    };
    let target = world.faults.targets[0].client();
    let made = || -> Result<[Value; 2]> {
        let password = target.get("/api/v1/namespaces/thing/secrets/password")?["data"]["password"].clone();
        Ok([password, target.get("/api/v1/namespaces/thing/configmaps/map")?["data"]["word"].clone()])
    };
    world.write(&spec("red"))?;
    world.settled()?;
    let (before, quiet) = (made()?, world.log()?);
    ensure!(before.iter().all(Value::is_string), "{before:?}");

    // The same is wanted: neither changes, and there is nothing to do.
    for _ in 0..2 {
        let plan = world.ask_for(&spec("red"))?;
        ensure!(plan.writes.is_empty(), "{plan:#?}");
    }
    // Another color is wanted: what is found stays as it is.
    let plan = world.ask_for(&spec("blue"))?;
    let objects = plan.writes.iter().filter(|write| write.note.is_none());
    let objects: Vec<&str> = objects.map(|write| write.name.as_str()).collect();
    ensure!(objects == ["map"], "{plan:#?}");
    assert_eq!(made()?, before);
    ensure!(written(&quiet)?.is_empty(), "asking wrote {:#?}", written(&quiet)?);

    // And so it does when that is done.
    world.write(&spec("blue"))?;
    world.settled()?;
    assert_eq!(made()?[0], before[0]);
    Ok(())
}

#[test]
fn nobody_is_believed_but_the_front_proxy() -> Result<()> {
    let world = World::start()?;
    let hub = &world.faults.hub;
    let secret = hub.client().get("/api/v1/namespaces/fitout-system/secrets/fitout-hub-serving")?;
    let certificate = secret["data"]["tls.crt"].as_str().context("a certificate")?;
    let certificate = base64::engine::general_purpose::STANDARD.decode(certificate)?;
    let body = json!({ "apiVersion": "compute.fitout.dev/v1alpha1", "kind": "Plan", "spec": { "instance": "thing" } });
    let body = body.to_string();
    let request = format!(
        "POST {PLANS} HTTP/1.1\r\nHost: hub\r\nConnection: close\r\nX-Remote-User: admin\r\n\
         X-Remote-Group: system:masters\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let server = ("fitout-hub.fitout-system.svc", certificate.as_slice());
    let asked = |identity| raw_tls_request(World::address(&world.faults), server, identity, &request);

    let answer = asked(None)?;
    ensure!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
    ensure!(answer.contains("send the request to the hub's API server"), "{answer}");
    // A certificate of the cluster's own authority is not one of the front proxy's.
    match asked(Some((hub.sandbox(), "apiserver-kubelet-client"))) {
        Err(_) => {}
        Ok(answer) => ensure!(answer.starts_with("HTTP/1.1 401 "), "{answer}"),
    }
    // The front proxy is believed: there is no such instance, which only somebody who may ask is told.
    let answer = asked(Some((hub.sandbox(), "front-proxy-client")))?;
    ensure!(answer.starts_with("HTTP/1.1 404 ") && answer.contains("instance thing does not exist"), "{answer}");
    Ok(())
}

#[test]
fn kubectl_and_rbac_hold_for_plans() -> Result<()> {
    let world = World::start()?;
    let hub = &world.faults.hub;
    let members = json!({ "spec": { "members": [
        { "name": "anna", "role": "Admin" }, { "name": "mia", "role": "Member" },
    ] } });
    apply(hub, &object("fitout.dev/v1alpha1", "Organization", "", "acme", &members))?;
    let secret = json!({ "type": "fitout.dev/values", "stringData": { "values.yaml": "size: 4711" } });
    apply(hub, &object("v1", "Secret", "org-acme", "sizes", &secret))?;
    let mut wanted = spec("1.x", 1);
    wanted.as_object_mut().unwrap().remove("values");
    wanted["valuesFrom"] = json!([{ "secretKeyRef": { "name": "sizes", "key": "values.yaml" } }]);
    let instance = object("fitout.dev/v1alpha1", "ExtensionInstance", "org-acme", "thing", &json!({ "spec": wanted }));
    let proposed =
        object("compute.fitout.dev/v1alpha1", "Plan", "org-acme", "", &json!({ "spec": { "proposed": instance } }));
    let existing =
        object("compute.fitout.dev/v1alpha1", "Plan", "org-acme", "", &json!({ "spec": { "instance": "thing" } }));
    let create = |user: &str, plan: &Value| {
        let kubeconfig = hub.kubeconfig_for(user, None)?;
        let args = ["create", "--filename=-", "--output=yaml", "--kubeconfig", kubeconfig.to_str().unwrap()];
        hub.kubectl().run_with_input(&args, &plan.to_string())
    };
    let can = |user: &str| {
        let args = ["auth", "can-i", "create", "plans.compute.fitout.dev", "--namespace=org-acme", "--as", user];
        hub.kubectl().run(&args).is_ok_and(|said| said.trim() == "yes")
    };
    until(
        "the members have their rights",
        LATEST,
        || if can("mia") && can("anna") { Ok(()) } else { bail!("not yet") },
    )?;
    ensure!(!can("joe"));

    // Who may create instances may ask what one would come to, and values from secrets are not in the answer.
    let said = create("anna", &proposed)?;
    ensure!(said.contains("change: Install") && said.contains("to: 1.0.0"), "{said}");
    ensure!(said.contains("path: data.size") && said.contains("(not shown)") && !said.contains("4711"), "{said}");
    let refused = create("mia", &proposed).unwrap_err().to_string();
    ensure!(refused.contains(r#"User "mia" cannot create resource "extensioninstances""#), "{refused}");
    let refused = create("joe", &existing).unwrap_err().to_string();
    ensure!(refused.contains(r#"User "joe" cannot create resource "plans""#), "{refused}");
    let refused = create("anna", &existing).unwrap_err().to_string();
    ensure!(refused.contains("instance thing does not exist"), "{refused}");

    // Nor is one that is refused.
    let secret = json!({ "type": "fitout.dev/values", "stringData": { "values.yaml": "size: hunter2" } });
    apply(hub, &object("v1", "Secret", "org-acme", "sizes", &secret))?;
    until("the hub has seen the secret", LATEST, || {
        let said = create("anna", &proposed)?;
        ensure!(!said.contains("hunter2"), "{said}");
        if said.contains("values.size: it is not of type") { Ok(()) } else { bail!("{said}") }
    })?;

    // Who may only look is told which fields change, and no value.
    wanted.as_object_mut().unwrap().remove("valuesFrom");
    wanted["values"] = json!({ "size": 5 });
    world.write(&wanted)?;
    world.settled()?;
    wanted["suspend"] = json!(true);
    world.write(&wanted)?;
    world.settled()?;
    world.by_hand(&["patch", "configmap", "kept", "--type=merge", r#"--patch={"data":{"size":"y"}}"#])?;
    let said = create("anna", &existing)?;
    ensure!(
        said.contains(r#"from: "y""#) && said.contains("to: x5") && said.contains("waits: the instance is suspended"),
        "{said}"
    );
    let said = create("mia", &existing)?;
    ensure!(said.contains("path: data.size") && !said.contains("to: x5"), "{said}");
    let uninstall = json!({ "spec": { "instance": "thing", "uninstall": true } });
    let uninstall = object("compute.fitout.dev/v1alpha1", "Plan", "org-acme", "", &uninstall);
    let refused = create("mia", &uninstall).unwrap_err().to_string();
    ensure!(refused.contains(r#"User "mia" cannot delete resource "extensioninstances""#), "{refused}");

    // What is wrong is said in a sentence.
    let wrong = |spec: Value| -> String {
        let plan = object("compute.fitout.dev/v1alpha1", "Plan", "org-acme", "", &json!({ "spec": spec }));
        let answer = hub.client().create(PLANS, &plan);
        answer.map_or_else(|error| error.to_string(), |answer| answer.to_string())
    };
    wanted["cluster"] = json!("c9");
    let moved = object("fitout.dev/v1alpha1", "ExtensionInstance", "org-acme", "thing", &json!({ "spec": wanted }));
    let other = object("fitout.dev/v1alpha1", "ExtensionInstance", "org-acme", "other", &json!({ "spec": wanted }));
    for (spec, sentence) in [
        (json!({}), "spec: give either `instance` or `proposed`"),
        (json!({ "instnce": "thing" }), "unknown field `instnce`"),
        (json!({ "proposed": moved }), "spec.proposed.spec.cluster: it cannot be changed"),
        (json!({ "proposed": other }), "cluster c9 does not exist in this organization"),
    ] {
        let said = wrong(spec);
        ensure!(said.contains(sentence), "{sentence} was expected: {said}");
    }
    let explained =
        hub.kubectl().run(&["explain", "plans.spec.instance", "--api-version=compute.fitout.dev/v1alpha1"])?;
    ensure!(explained.contains("Name of an existing instance"), "{explained}");
    Ok(())
}

#[test]
fn a_dry_run_of_every_change_shows_the_plan_and_writes_nothing() -> Result<()> {
    // It is the hub that waits which says what the one that leads would do.
    let world = World::start_with(&[false, true])?;
    let run = |words: &[&str]| fitout(&world.faults.hub.kubeconfig(), Some("acme"), words);
    until("the extension is offered", LATEST, || {
        let ended = run(&["extension", "show", "thing"])?;
        if ended.code == 0 { Ok(()) } else { bail!("{ended:?}") }
    })?;
    let (hub, target) = (world.faults.hub.audit().from_now()?, world.log()?);
    let install = ["install", "thing", "--cluster=c0", "--catalog=local", "--name=thing", "--version=1.x"];
    let tried = run(&[&install[..], &["--dry-run"]].concat())?;
    assert_eq!(
        (tried.out.as_str(), tried.err.as_str(), tried.code),
        (
            "install 1.0.0, as revision 1\n\
             why: 1.0.0 is the newest in 1.x that fits Kubernetes v1.36.3\n\n\
             + Namespace/thing\n\n\
             + CustomResourceDefinition/widgets.example.com\n\n\
             + ConfigMap/thing/kept\n+ ConfigMap/thing/old\n\n\
             + Widget/thing/w\n\n\
             5 to create, 0 to change, 0 to delete, 0 unchanged\n",
            "dry run: nothing was written\n",
            0
        )
    );
    let wide = run(&[&install[..], &["--dry-run", "--output=wide"]].concat())?.well();
    ensure!(wide.contains("+ ConfigMap/thing/kept\n    + apiVersion: v1\n    + data.size: x1\n"), "{wide}");
    let value: Value = serde_json::from_str(&run(&[&install[..], &["--dry-run", "-o", "json"]].concat())?.well())?;
    assert_eq!((&value["kind"], &value["status"]["change"]), (&json!("Plan"), &json!("Install")));
    let nothing_fits = ["install", "thing", "--cluster=c0", "--catalog=local", "--version=7.x", "--dry-run"];
    let tried = run(&nothing_fits)?;
    assert_eq!(tried.code, 4, "{tried:?}");
    ensure!(tried.out.contains("cannot go on: "), "{tried:?}");

    let mine =
        |call: &fitout_testkit::Call| call.user.username == "kubernetes-admin" && !call.uri.contains("dryRun=All");
    let mine = hub.calls()?.writes().only(mine).summary();
    assert_eq!(mine, vec!["create plans org-acme/"; 4], "on the hub, nothing but plans is made");
    assert_eq!(written(&target)?, Vec::<String>::new());

    run(&[&install[..], &["--wait"]].concat())?.well();
    run(&["upgrade", "thing", "--version=2.x", "--set=size=2", "--wait"])?.well();
    let target = world.log()?;
    let tried = run(&["upgrade", "thing", "--set=size=3", "--dry-run"])?.well();
    let expected = "change 2.0.0, as revision 3\n\
         why: 2.0.0 is installed and fits Kubernetes v1.36.3\n\n\
         ~ ConfigMap/thing/kept\n    ~ data.size: x2 → x3\n~ ConfigMap/thing/new\n    ~ data.size: x2 → x3\n\n\
         ~ Widget/thing/w\n    ~ spec.size: 2 → 3\n\n\
         0 to create, 3 to change, 0 to delete, 1 unchanged\n";
    assert_eq!(tried, expected);
    let tried = run(&["rollback", "thing", "--dry-run"])?.well();
    ensure!(
        tried
            .starts_with("roll back from 2.0.0 to 1.0.0, as revision 3\nwhy: a rollback to revision 1 was requested\n"),
        "{tried}"
    );
    ensure!(tried.contains("\n+ ConfigMap/thing/old\n") && tried.contains("\n- ConfigMap/thing/new\n"), "{tried}");
    let tried = run(&["uninstall", "thing", "--dry-run"])?.well();
    let expected = "uninstall 2.0.0\n\
         note: CustomResourceDefinition/widgets.example.com stays, with all its custom resources\n\n\
         - Widget/thing/w\n\n- ConfigMap/thing/kept\n- ConfigMap/thing/new\n\n\
         - Namespace/thing\n\n\
         0 to create, 0 to change, 4 to delete, 0 unchanged\n";
    assert_eq!(tried, expected);
    assert_eq!(run(&["plan", "thing", "--uninstall"])?.well(), expected);
    let tried = run(&["plan", "thing"])?.well();
    assert_eq!(
        tried,
        "nothing to do: everything is as it should be\nwhy: 2.0.0 is installed and fits Kubernetes v1.36.3\n\n\
         0 to create, 0 to change, 0 to delete, 4 unchanged\n"
    );
    run(&["plan", "thign"])?
        .refused(1, "error: instance thign not found in organization acme\nhint: did you mean thing?\n");
    let file = world.faults.hub.sandbox().dir().join("instance.yaml");
    let mut instance = run(&["status", "thing", "-o", "json"]).map(|ended| ended.out)?.parse::<Value>()?;
    instance["spec"]["values"]["size"] = json!(9);
    std::fs::write(&file, instance.to_string())?;
    let tried = run(&["plan", "--file", file.to_str().context("a path")?])?.well();
    ensure!(tried.contains("    ~ spec.size: 2 → 9\n"), "{tried}");
    assert_eq!(written(&target)?, Vec::<String>::new());
    labels_are_the_release_s_and_hooks_are_left_out_where_that_is_asked(&world)
}

fn labels_are_the_release_s_and_hooks_are_left_out_where_that_is_asked(world: &World) -> Result<()> {
    let run = |words: &[&str]| fitout(&world.faults.hub.kubeconfig(), Some("acme"), words);
    let install = ["install", "parting", "--cluster=c0", "--catalog=local", "--name=parting", "--wait"];
    run(&[&install[..], &["--label=team=shop", "--label=tier=front"]].concat())?.well();
    let record = "/api/v1/namespaces/parting/secrets/sh.helm.release.v1.parting.v1";
    let labels = world.faults.targets[0].client().get(record)?["metadata"]["labels"].take();
    assert_eq!((&labels["team"], &labels["tier"]), (&json!("shop"), &json!("front")), "{labels}");

    let with_hooks = run(&["uninstall", "parting", "--dry-run"])?.well();
    ensure!(with_hooks.contains("ConfigMap/parting/last"), "{with_hooks}");
    let without = run(&["uninstall", "parting", "--dry-run", "--no-hooks"])?.well();
    ensure!(without.contains("- ConfigMap/parting/object\n") && !without.contains("last"), "{without}");
    let (target, hub) = (world.log()?, world.faults.hub.audit().from_now()?);
    ensure!(world.faults.instance("parting")?.context("it is there")?["spec"]["skipDeleteHooks"].is_null());
    run(&["uninstall", "parting", "--no-hooks", "--wait"])?.well();
    let written = written(&target)?;
    ensure!(written.contains(&"delete configmaps parting/object".to_owned()), "{written:?}");
    ensure!(!written.iter().any(|line| line.contains("parting/last")), "{written:?}");
    let deleted = hub.calls()?.writes().summary();
    ensure!(deleted.contains(&"delete extensioninstances org-acme/parting".to_owned()), "{deleted:?}");
    Ok(())
}
