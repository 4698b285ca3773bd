//! What a real API server makes of our definitions: what it accepts, what it refuses and in which words, what it prints.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};
use fitout_api::{Catalog, Extension, ExtensionDefinition, ExtensionInstance, ExtensionRevision, Organization};
use fitout_testkit::{Cluster, Controllers, KubeVersion, Spec, until};
use serde_json::{Value, json};

/// For all tests here: each has a namespace of its own.
static HUB: LazyLock<Cluster> = LazyLock::new(|| hub(KubeVersion::NEWEST).unwrap());

/// An API server that serves our kinds.
fn hub(version: KubeVersion) -> Result<Cluster> {
    let cluster = Cluster::start(Spec { version, controllers: Controllers::None, ..Spec::default() })?;
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let crds = fitout_api::crds();
    for crd in &crds {
        cluster.client().create(path, &serde_json::to_value(crd)?)?;
    }
    for crd in &crds {
        let name = crd.metadata.name.as_deref().context("a name")?;
        until(&format!("{name} is established"), Duration::from_secs(30), || {
            let found = cluster.client().get(&format!("{path}/{name}"))?;
            let conditions = found["status"]["conditions"].as_array().cloned().unwrap_or_default();
            let established = conditions.iter().any(|one| one["type"] == "Established" && one["status"] == "True");
            if established { Ok(()) } else { Err(anyhow!("{conditions:?}")) }
        })?;
    }
    Ok(cluster)
}

fn kubectl(args: &[&str]) -> Result<String> {
    HUB.kubectl().run(args)
}

fn apply(namespace: &str, manifest: &str) -> Result<String> {
    HUB.kubectl().run_with_input(&["apply", "--namespace", namespace, "--filename=-"], manifest)
}

/// What `kubectl apply` says when it is refused, all of it. Where there are several complaints they are sorted, because the
/// API server has them in another order each time.
fn refusal(namespace: &str, manifest: &str) -> Result<String> {
    let output = HUB.kubectl().output(&["apply", "--namespace", namespace, "--filename=-"], manifest)?;
    if output.status.success() {
        bail!("it was accepted: {}", String::from_utf8_lossy(&output.stdout));
    }
    let said = String::from_utf8(output.stderr)?;
    let (mut complaints, rest): (Vec<_>, Vec<_>) = said.lines().partition(|line| line.starts_with("* "));
    complaints.sort_unstable();
    Ok([rest, complaints].concat().join("\n") + "\n")
}

/// The fixtures in a folder beside this file.
fn fixtures(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries.filter(|path| path.extension().is_some_and(|ext| ext == "yaml")).collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

/// A snapshot beside its fixture.
fn assert_said(folder: &str, name: &str, said: &str) {
    let mut settings = insta::Settings::new();
    settings.set_snapshot_path(folder);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, said));
}

fn stem(path: &Path) -> &str {
    path.file_stem().and_then(|stem| stem.to_str()).unwrap()
}

#[test]
fn valid_objects_are_accepted_and_nothing_of_them_is_lost() -> Result<()> {
    let namespace = HUB.namespace("valid")?;
    for path in fixtures("valid") {
        let manifest = fs::read_to_string(&path)?;
        // On the server's side, for `kubectl apply` on its own drops what is null.
        let apply = ["apply", "--server-side", "--namespace", &namespace, "--filename=-"];
        HUB.kubectl().run_with_input(&apply, &manifest).with_context(|| format!("{}", path.display()))?;
        let args = ["get", "--namespace", &namespace, "--filename=-", "--output=json"];
        let stored = items(serde_json::from_str(&HUB.kubectl().run_with_input(&args, &manifest)?)?);
        for object in &stored {
            assert_eq!(through_our_types(object)?["spec"], object["spec"], "{}", path.display());
        }
        let args = ["create", "--dry-run=client", "--validate=false", "--filename=-", "--output=json"];
        let printed = HUB.kubectl().run_with_input(&args, &manifest)?;
        let written = serde_json::Deserializer::from_str(&printed).into_iter().collect::<Result<Vec<Value>, _>>()?;
        assert_eq!(stored.len(), written.len(), "{}", path.display());
        stored
            .iter()
            .zip(&written)
            .for_each(|(stored, written)| assert_contains(&stored["spec"], &written["spec"], &path));
    }
    Ok(())
}

/// The objects of a list, or the one that is none.
fn items(object: Value) -> Vec<Value> {
    object["items"].as_array().cloned().unwrap_or_else(|| vec![object])
}

fn through_our_types(object: &Value) -> Result<Value> {
    let object = object.clone();
    Ok(match object["kind"].as_str().unwrap_or_default() {
        "Catalog" => serde_json::to_value(serde_json::from_value::<Catalog>(object)?)?,
        "Cluster" => serde_json::to_value(serde_json::from_value::<fitout_api::Cluster>(object)?)?,
        "Extension" => serde_json::to_value(serde_json::from_value::<Extension>(object)?)?,
        "ExtensionDefinition" => serde_json::to_value(serde_json::from_value::<ExtensionDefinition>(object)?)?,
        "ExtensionInstance" => serde_json::to_value(serde_json::from_value::<ExtensionInstance>(object)?)?,
        "ExtensionRevision" => serde_json::to_value(serde_json::from_value::<ExtensionRevision>(object)?)?,
        "Organization" => serde_json::to_value(serde_json::from_value::<Organization>(object)?)?,
        other => bail!("no kind of ours: {other}"),
    })
}

/// That all that was written is stored; defaults may have been added.
fn assert_contains(stored: &Value, written: &Value, path: &Path) {
    match (stored, written) {
        (Value::Object(stored), Value::Object(written)) => {
            for (key, value) in written {
                assert_contains(stored.get(key).unwrap_or(&Value::String("nothing".into())), value, path);
            }
        }
        (Value::Array(stored), Value::Array(written)) => {
            assert_eq!(stored.len(), written.len(), "{}", path.display());
            stored.iter().zip(written).for_each(|(stored, written)| assert_contains(stored, written, path));
        }
        _ => assert_eq!(stored, written, "{}", path.display()),
    }
}

#[test]
fn invalid_objects_are_refused_with_a_sentence_and_every_rule_refuses_something() -> Result<()> {
    let namespace = HUB.namespace("invalid")?;
    let mut refusals = String::new();
    for path in fixtures("invalid") {
        let said = refusal(&namespace, &fs::read_to_string(&path)?).with_context(|| format!("{}", path.display()))?;
        assert_said("invalid", stem(&path), &said);
        refusals += &said;
    }
    let namespace = HUB.namespace("unchangeable")?;
    for path in fixtures("unchangeable") {
        let text = fs::read_to_string(&path)?;
        let (first, second) = text.split_once("\n---\n").context("two documents")?;
        apply(&namespace, first).with_context(|| format!("{}", path.display()))?;
        let said = refusal(&namespace, second).with_context(|| format!("{}", path.display()))?;
        assert_said("unchangeable", stem(&path), &said);
        refusals += &said;
    }

    let said = without_indices(&refusals);
    let missing: Vec<_> = rules().into_iter().filter(|(path, sentence)| !is_refused(&said, path, sentence)).collect();
    assert!(missing.is_empty(), "no fixture breaks these rules: {missing:#?}");
    Ok(())
}

/// Whether a line names this field and says this sentence.
fn is_refused(said: &str, path: &str, sentence: &str) -> bool {
    said.lines().any(|line| line.contains(&format!("{path}: ")) && line.contains(sentence))
}

/// `spec.roles[0].name` as `spec.roles[].name`.
fn without_indices(text: &str) -> String {
    let mut parts = text.split('[');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| match part.split_once(']') {
        Some((index, rest)) if index.chars().all(|digit| digit.is_ascii_digit()) => format!("{all}[]{rest}"),
        _ => format!("{all}[{part}"),
    })
}

/// Every rule of every kind: the field that is named when it refuses, and its sentence.
fn rules() -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    for crd in fitout_api::crds() {
        let schema = crd.spec.versions[0].schema.as_ref().unwrap().open_api_v3_schema.as_ref().unwrap();
        collect("", &serde_json::to_value(schema).unwrap(), &mut found);
    }
    found
}

fn collect(path: &str, schema: &Value, found: &mut BTreeSet<(String, String)>) {
    for rule in schema["x-kubernetes-validations"].as_array().into_iter().flatten() {
        let below = rule["fieldPath"].as_str().unwrap_or_default();
        let field = format!("{path}{below}").trim_start_matches('.').to_owned();
        found.insert((field, rule["message"].as_str().unwrap().to_owned()));
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        collect(&path, property, found);
    }
    if let Some(items) = schema.get("items") {
        collect(&format!("{path}[]"), items, found);
    }
}

#[test]
fn the_default_release_name_may_be_written_out() -> Result<()> {
    let namespace = HUB.namespace("default")?;
    let instance = |release: &str| {
        format!(
            "{{apiVersion: fitout.dev/v1alpha1, kind: ExtensionInstance, metadata: {{name: podinfo}}, spec: {{cluster: foo, \
             extension: {{name: podinfo, catalog: community}}, {release} namespace: podinfo}}}}"
        )
    };
    apply(&namespace, &instance(""))?;
    apply(&namespace, &instance("releaseName: podinfo,"))?;
    apply(&namespace, &instance(""))?;
    Ok(())
}

#[test]
fn defaults_are_filled_in_where_a_person_would_look_for_them() -> Result<()> {
    let namespace = HUB.namespace("defaults")?;
    let least =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/valid/instance-with-the-least.yaml"))?;
    apply(&namespace, &least)?;
    let stored = HUB.kubectl().json(&["get", "inst", "least", "--namespace", &namespace, "--output=json"])?;
    let expected = json!({
        "cluster": "foo",
        "extension": { "name": "podinfo", "catalog": "community", "scope": "Shared" },
        "namespace": "podinfo",
        "upgrade": { "policy": "Follow" },
        "suspend": false,
    });
    assert_eq!(stored["spec"], expected);
    Ok(())
}

#[test]
fn a_null_among_values_is_kept() -> Result<()> {
    let namespace = HUB.namespace("null")?;
    let path = format!("/apis/fitout.dev/v1alpha1/namespaces/{namespace}/extensioninstances");
    let values = json!({ "image": null, "nested": { "key": null }, "list": [{ "key": null }] });
    let spec =
        json!({ "cluster": "foo", "extension": { "name": "a", "catalog": "b" }, "namespace": "a", "values": values });
    let instance = json!({ "apiVersion": "fitout.dev/v1alpha1", "kind": "ExtensionInstance", "metadata": { "name": "a" }, "spec": spec });
    HUB.client().create(&path, &instance)?;
    let read: ExtensionInstance = serde_json::from_value(HUB.client().get(&format!("{path}/a"))?)?;
    assert_eq!(serde_json::to_value(read.spec.values)?, values);
    Ok(())
}

/// Applies the named valid fixtures and gives each the status that follows it.
fn with_status(namespace: &str, objects: &[(&str, &str, Value)]) -> Result<()> {
    for (fixture, object, status) in objects {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/valid/{fixture}.yaml"));
        apply(namespace, &fs::read_to_string(file)?)?;
        set_status(namespace, object, status)?;
    }
    Ok(())
}

fn set_status(namespace: &str, object: &str, status: &Value) -> Result<()> {
    let patch = json!({ "status": status }).to_string();
    let args = ["patch", object, "--namespace", namespace, "--subresource=status", "--type=merge", "--patch", &patch];
    kubectl(&args).map(|_| ())
}

fn ready(status: &str, reason: &str, message: &str) -> Value {
    json!([{
        "type": "Ready", "status": status, "reason": reason, "message": message,
        "lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": 1,
    }])
}

/// The last column is how old a thing is, which is different each time.
fn without_age(table: &str) -> String {
    let line = |line: &str| match line.rsplit_once(' ') {
        Some((before, age)) if age.ends_with('s') && age.starts_with(|c: char| c.is_ascii_digit()) => {
            format!("{before} [age]\n")
        }
        _ => format!("{line}\n"),
    };
    table.lines().map(|text| line(text.trim_end())).collect()
}

#[test]
fn tables_answer_the_first_question_and_short_names_and_the_category_work() -> Result<()> {
    let namespace = HUB.namespace("tables")?;
    let shared = json!({ "conditions": ready("True", "Accepted", "all is well") });
    let failing = "Deployment/cert-manager/webhook is not ready: image quay.io/jetstack/webhook:v1 cannot be pulled";
    let instance = json!({
        "conditions": ready("False", "Failed", failing), "version": "1.20.0", "wantedVersion": "1.21.2", "revision": 2,
        "why": "Kubernetes is 1.36.3, and 1.20.0 is made for <1.36",
        "step": { "index": 2, "of": 5, "name": "apply", "object": "Deployment/cert-manager/webhook" },
        "objects": { "total": 40, "ready": 39 },
        "firstUnhealthy": { "object": "Deployment/cert-manager/webhook", "message": "image cannot be pulled" },
        "revisions": [{ "number": 2, "version": "1.21.2", "action": "Upgrade", "result": "Running" }],
    });
    let cluster = json!({
        "conditions": ready("True", "Connected", "connected"), "version": "v1.35.4+k3s1", "platform": "k3s",
        "nodes": { "ready": 2, "total": 3 }, "capabilities": ["storageClass"], "uid": "0",
    });
    with_status(
        &namespace,
        &[
            (
                "catalog-embedded",
                "catalog/community",
                json!({ "extensions": 12, "versions": 80, "conditions": shared["conditions"] }),
            ),
            ("cluster", "clusters.fitout.dev/foo", cluster),
            ("extension", "extension/community.cert-manager", shared.clone()),
            ("definition-helm", "extdef/cert-manager-1.21.2", shared.clone()),
            ("instance", "inst/foo-cert-manager", instance),
            ("instance-with-the-least", "inst/least", json!({})),
            ("revision", "extrev/foo-cert-manager.3", json!({ "result": "Succeeded" })),
        ],
    )?;
    let get = |args: &str| -> Result<String> {
        let words = ["get", "--namespace", &namespace].into_iter().chain(args.split(' ')).collect::<Vec<_>>();
        // Organizations belong to no namespace, and other tests make some.
        let said =
            kubectl(&words)?.lines().filter(|line| !line.starts_with("organization")).collect::<Vec<_>>().join("\n");
        Ok(format!("$ kubectl get {args}\n{}", without_age(&said)))
    };
    let asked = [
        "cat",
        "fcl",
        "ext",
        "extdef",
        "inst",
        "exti",
        "extrev",
        "inst --output=wide",
        "inst --field-selector=spec.extension.name=podinfo --output=name",
        "fitout --output=name",
    ];
    let tables = asked.into_iter().map(get).collect::<Result<Vec<_>>>()?.join("\n");
    assert_said("tables", "tables", &tables);
    Ok(())
}

#[test]
fn an_organization_is_found_by_its_short_name() -> Result<()> {
    let organization =
        "{apiVersion: fitout.dev/v1alpha1, kind: Organization, metadata: {name: tabled}, spec: {displayName: Tabled}}";
    apply("default", organization)?;
    let status =
        json!({ "namespace": "org-tabled", "conditions": ready("True", "Accepted", "its namespace is there") });
    set_status("default", "org/tabled", &status)?;
    assert_said("tables", "organization", &without_age(&kubectl(&["get", "org", "tabled"])?));
    Ok(())
}

#[test]
fn an_instance_can_be_waited_for() -> Result<()> {
    let namespace = HUB.namespace("waiting")?;
    let fixture =
        ("instance", "inst/foo-cert-manager", json!({ "conditions": ready("False", "Progressing", "step 1 of 5") }));
    with_status(&namespace, &[fixture])?;
    let wait = |limit: &str| {
        let limit = format!("--timeout={limit}");
        kubectl(&["wait", "inst/foo-cert-manager", "--for=condition=Ready", "--namespace", &namespace, &limit])
    };
    assert!(wait("0s").is_err());
    let status = json!({ "conditions": ready("True", "Installed", "cert-manager 1.21.2 is installed") });
    set_status(&namespace, "inst/foo-cert-manager", &status)?;
    assert_eq!(wait("10s")?.trim(), "extensioninstance.fitout.dev/foo-cert-manager condition met");
    Ok(())
}

#[test]
fn a_status_has_each_condition_once_and_is_written_apart_from_the_spec() -> Result<()> {
    let namespace = HUB.namespace("status")?;
    with_status(&namespace, &[("instance", "inst/foo-cert-manager", json!({}))])?;
    let twice = [ready("True", "Installed", "a"), ready("False", "Failed", "b")].map(|list| list[0].clone());
    let refused =
        set_status(&namespace, "inst/foo-cert-manager", &json!({ "conditions": twice })).unwrap_err().to_string();
    assert!(refused.contains("Duplicate value"), "{refused}");
    let patch = json!({ "spec": { "suspend": false }, "status": { "version": "1.21.2" } }).to_string();
    kubectl(&["patch", "inst/foo-cert-manager", "--namespace", &namespace, "--type=merge", "--patch", &patch])?;
    let stored =
        HUB.kubectl().json(&["get", "inst", "foo-cert-manager", "--namespace", &namespace, "--output=json"])?;
    assert_eq!((&stored["spec"]["suspend"], &stored["status"]), (&json!(false), &json!({})));
    Ok(())
}

#[test]
fn the_oldest_supported_kubernetes_serves_our_kinds_too() -> Result<()> {
    let oldest = KubeVersion::ALL.into_iter().min().context("versions")?;
    let cluster = hub(oldest)?;
    // A kind is listed a moment after it is established.
    until("every kind is served", Duration::from_secs(30), || {
        let served = cluster.client().get("/apis/fitout.dev/v1alpha1")?;
        let kinds: BTreeSet<_> =
            served["resources"].as_array().unwrap().iter().map(|kind| kind["kind"].clone().to_string()).collect();
        ensure!(kinds.len() == fitout_api::crds().len(), "{kinds:?}");
        Ok(())
    })
}

#[test]
fn kubectl_explains_fields_in_our_words() -> Result<()> {
    // Descriptions are published a moment after a kind is served.
    let explained = until("fields are explained", Duration::from_secs(30), || {
        kubectl(&["explain", "extensioninstance.spec.version"])
    })?;
    assert_said("tables", "explain", &explained);
    Ok(())
}
