//! One target cluster, for real.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use fitout_cluster_client::{ClientOptions, ClusterClient, Disconnected, Owner, Ownership, Subscription, connect};
use fitout_model::{Apis, Digest, ObjectId};
use fitout_plan::{Ignored, Owner as PlanOwner, transform};
use fitout_reconcile::Presence;
use fitout_testkit::{Cluster, Spec};
use serde_json::{Value, json};

static CLUSTER: LazyLock<Cluster> = LazyLock::new(|| Cluster::start(Spec::default()).unwrap());

async fn target() -> Result<ClusterClient> {
    let (client, connectivity) =
        connect(&std::fs::read_to_string(CLUSTER.kubeconfig())?, ClientOptions::default()).await?;
    Ok(ClusterClient::open(client, connectivity).await?)
}

/// A config map as an extension brings it, placed and owned.
fn config_map(target: &ClusterClient, namespace: &str, value: &str) -> (ObjectId, Value) {
    let object =
        json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "a" }, "data": { "k": value } });
    let owner = PlanOwner { name: "web", namespace };
    let object = transform(vec![object], &Apis::default(), owner, &target.info().apis).unwrap().remove(0);
    (ObjectId::of(&object).unwrap(), object)
}

fn owner(namespace: &str) -> Owner {
    Owner { name: "web".into(), namespace: namespace.into() }
}

/// Waits until the object is seen in this state.
async fn until(
    target: &ClusterClient,
    subscription: &Subscription,
    id: &ObjectId,
    by: &Owner,
    wanted: Option<Presence>,
) -> Result<()> {
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let seen = target.object_cache().seen(id, by, Ownership::ByLabel).map(|seen| seen.state);
        if seen == wanted {
            return Ok(());
        }
        if Instant::now() > deadline {
            bail!("{id}: {wanted:?} was waited for, {seen:?} was seen");
        }
        let _ = tokio::time::timeout(Duration::from_millis(200), subscription.changed()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn facts_are_what_the_cluster_says() -> Result<()> {
    let info = target().await?.info();
    assert_eq!(info.version, "v1.36.3");
    assert_eq!(info.nodes.total, 0);
    assert_eq!(info.uid, CLUSTER.client().get("/api/v1/namespaces/kube-system")?["metadata"]["uid"]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_applied_stays_applied_until_somebody_changes_it() -> Result<()> {
    let namespace = CLUSTER.namespace("drift")?;
    let target = target().await?;
    let (id, object) = config_map(&target, &namespace, "v");
    let mut subscription = target.subscribe();
    subscription.add([&id]);
    target.watch([&id.gvk]);
    target.apply(&id, &object, &Ignored::default()).await?;
    let applied = Some(Presence::Applied(Digest::of_value(&object)));
    until(&target, &subscription, &id, &owner(&namespace), applied.clone()).await?;

    // Somebody adds a field of their own: that is none of our business.
    let kubectl = |args: &[&str]| CLUSTER.kubectl().run(&[args, &["--namespace", &namespace]].concat());
    kubectl(&["label", "configmap", "a", "team=shop"])?;
    // Somebody changes one of ours.
    kubectl(&["patch", "configmap", "a", "--type=merge", r#"--patch={"data":{"k":"other"}}"#])?;
    until(&target, &subscription, &id, &owner(&namespace), Some(Presence::Changed)).await?;
    target.apply(&id, &object, &Ignored::default()).await?;
    until(&target, &subscription, &id, &owner(&namespace), applied.clone()).await?;
    let path = format!("/api/v1/namespaces/{namespace}/configmaps/a");
    let found = CLUSTER.client().get(&path)?;
    assert_eq!(found["data"]["k"], "v");
    assert_eq!(found["metadata"]["labels"]["team"], "shop");

    // Somebody takes it away.
    kubectl(&["delete", "configmap", "a"])?;
    until(&target, &subscription, &id, &owner(&namespace), None).await?;
    target.apply(&id, &object, &Ignored::default()).await?;
    until(&target, &subscription, &id, &owner(&namespace), applied).await?;

    // And we do.
    target.delete(&id).await?;
    until(&target, &subscription, &id, &owner(&namespace), None).await?;
    assert!(CLUSTER.client().find(&path)?.is_none());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_somebody_elses_is_seen_to_be() -> Result<()> {
    let namespace = CLUSTER.namespace("foreign")?;
    let target = target().await?;
    let (id, object) = config_map(&target, &namespace, "v");
    let mut subscription = target.subscribe();
    subscription.add([&id]);
    let path = format!("/api/v1/namespaces/{namespace}/configmaps");
    CLUSTER.client().create(&path, &json!({ "metadata": { "name": "a" } }))?;
    target.prime(&[(&id, None)]).await?;
    until(&target, &subscription, &id, &owner(&namespace), Some(Presence::Foreign(None))).await?;
    target.apply(&id, &object, &Ignored::default()).await?;
    let other = Owner { name: "other".into(), namespace: namespace.clone() };
    until(&target, &subscription, &id, &other, Some(Presence::Foreign(Some(format!("release web in {namespace}")))))
        .await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_names_the_object_and_the_remedy() -> Result<()> {
    let namespace = CLUSTER.namespace("refused")?;
    let target = target().await?;
    let (id, mut object) = config_map(&target, &namespace, "v");
    object["data"]["k"] = json!(1);
    let refusal = target.apply(&id, &object, &Ignored::default()).await.unwrap_err();
    let said = refusal.to_string();
    assert!(said.starts_with(&format!("ConfigMap/{namespace}/a: ")), "{said}");
    assert!(!refusal.passing || said.ends_with("it is tried again"), "{said}");
    let id = ObjectId { namespace: "nowhere".into(), ..id };
    object["data"]["k"] = "v".into();
    object["metadata"]["namespace"] = "nowhere".into();
    let said = target.apply(&id, &object, &Ignored::default()).await.unwrap_err().to_string();
    assert!(said.contains(r#"namespaces "nowhere" not found"#), "{said}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_field_that_the_cluster_does_not_know_is_refused() -> Result<()> {
    let namespace = CLUSTER.namespace("unknown")?;
    let weight = json!({ "weight": { "type": "integer" } });
    let known = json!({ "type": "object", "properties": { "spec": { "type": "object", "properties": weight } } });
    let definition = json!({
        "metadata": { "name": "things.unknown.example" },
        "spec": {
            "group": "unknown.example", "scope": "Namespaced", "names": { "kind": "Thing", "plural": "things" },
            "versions": [{ "name": "v1", "served": true, "storage": true, "schema": { "openAPIV3Schema": known } }],
        },
    });
    CLUSTER.client().create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &definition)?;
    CLUSTER.kubectl().run(&["wait", "--for=condition=Established", "crd", "things.unknown.example"])?;
    let target = target().await?;
    let containers = json!([{ "name": "a", "image": "a", "imagee": "a" }]);
    for (api_version, kind, spec, field) in [
        ("v1", "Service", json!({ "ports": [{ "port": 80, "prot": "TCP" }] }), ".prot"),
        ("v1", "Pod", json!({ "containers": containers }), ".imagee"),
        ("unknown.example/v1", "Thing", json!({ "size": 1 }), ".spec.size"),
    ] {
        let metadata = json!({ "name": "a", "namespace": namespace });
        let object = json!({ "apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec });
        let refused = target.apply(&ObjectId::of(&object).unwrap(), &object, &Ignored::default()).await;
        let said = refused.expect_err(kind).to_string();
        assert!(said.contains(&format!("{field}: field not declared in schema")), "{said}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn each_way_of_not_connecting_has_its_reason() -> Result<()> {
    let kubeconfig = std::fs::read_to_string(CLUSTER.kubeconfig())?;
    let server = CLUSTER.client().server().to_owned();
    let other = Cluster::start(Spec { controllers: false, ..Spec::default() })?;
    let mut stranger: Value = serde_json::from_str(&std::fs::read_to_string(other.kubeconfig())?)?;
    let there = stranger["clusters"][0]["cluster"]["server"].as_str().context("an address")?.to_owned();
    // The user of one cluster at the other: its authority is right, its certificate is nobody's.
    stranger["clusters"] = serde_json::from_str::<Value>(&kubeconfig)?["clusters"].clone();
    let rows = [
        ("{".to_owned(), "InvalidKubeconfig"),
        (kubeconfig.replace(&server, &there), "WrongAuthority"),
        (stranger.to_string(), "Unauthorized"),
        (kubeconfig.replace(&server, "https://nowhere.invalid:6443"), "UnknownHost"),
        (kubeconfig.replace(&server, "https://127.77.251.1:6443"), "ConnectionRefused"),
    ];
    for (kubeconfig, expected) in rows {
        let Err(error) = connect(&kubeconfig, ClientOptions::default()).await else {
            bail!("{expected}: it connected")
        };
        assert_eq!(error.reason(), expected, "{error}");
    }
    other.freeze_api_server(0)?;
    let began = Instant::now();
    let Err(error) = connect(&std::fs::read_to_string(other.kubeconfig())?, ClientOptions::default()).await else {
        bail!("it connected")
    };
    assert!(matches!(error, Disconnected::TimedOut { .. }), "{error}");
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    Ok(())
}
