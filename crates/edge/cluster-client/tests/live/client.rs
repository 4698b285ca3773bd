//! The cluster client against a real API server.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use fitout_cluster_client::{ClientOptions, ClusterClient, Disconnected, Owner, Ownership, Subscription, connect};
use fitout_model::{Apis, Digest, ObjectId};
use fitout_plan::{Ignored, Owner as PlanOwner, transform};
use fitout_reconcile::Presence;
use fitout_testkit::{Cluster, Controllers, Spec};
use serde_json::{Value, json};

static CLUSTER: LazyLock<Cluster> = LazyLock::new(|| Cluster::start(Spec::default()).unwrap());

async fn open_client() -> Result<ClusterClient> {
    let (client, connectivity) =
        connect(&std::fs::read_to_string(CLUSTER.kubeconfig())?, ClientOptions::default()).await?;
    Ok(ClusterClient::open(client, connectivity).await?)
}

/// A `ConfigMap` of release `web`, transformed as an extension's object.
fn config_map(client: &ClusterClient, namespace: &str, value: &str) -> (ObjectId, Value) {
    let object =
        json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "a" }, "data": { "k": value } });
    let owner = PlanOwner { name: "web", namespace };
    let object = transform(vec![object], &Apis::default(), owner, &client.info().apis).unwrap().remove(0);
    (ObjectId::of(&object).unwrap(), object)
}

fn owner(namespace: &str) -> Owner {
    Owner { name: "web".into(), namespace: namespace.into() }
}

/// Waits until the cache has the object in this state.
async fn until(
    client: &ClusterClient,
    subscription: &Subscription,
    id: &ObjectId,
    release: &Owner,
    expected: Option<Presence>,
) -> Result<()> {
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let state = client.object_cache().state_for(id, release, Ownership::ByAnnotations).map(|object| object.state);
        if state == expected {
            return Ok(());
        }
        if Instant::now() > deadline {
            bail!("{id}: expected {expected:?}, got {state:?}");
        }
        let _ = tokio::time::timeout(Duration::from_millis(200), subscription.changed()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn cluster_info_matches_the_api_server() -> Result<()> {
    let info = open_client().await?.info();
    assert_eq!(info.version, "v1.36.3");
    assert_eq!(info.nodes.total, 0);
    assert_eq!(info.uid, CLUSTER.client().get("/api/v1/namespaces/kube-system")?["metadata"]["uid"]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn out_of_band_changes_are_detected_and_reverted() -> Result<()> {
    let namespace = CLUSTER.namespace("drift")?;
    let client = open_client().await?;
    let (id, object) = config_map(&client, &namespace, "v");
    let mut subscription = client.subscribe();
    subscription.add([&id]);
    client.watch([&id.gvk]);
    client.apply(&id, &object, &Ignored::default()).await?;
    let applied = Some(Presence::Applied(Digest::of_value(&object)));
    until(&client, &subscription, &id, &owner(&namespace), applied.clone()).await?;

    // A field that another manager adds is no drift.
    let kubectl = |args: &[&str]| CLUSTER.kubectl().run(&[args, &["--namespace", &namespace]].concat());
    kubectl(&["label", "configmap", "a", "team=shop"])?;
    // A change of one of our fields is.
    kubectl(&["patch", "configmap", "a", "--type=merge", r#"--patch={"data":{"k":"other"}}"#])?;
    until(&client, &subscription, &id, &owner(&namespace), Some(Presence::Changed)).await?;
    client.apply(&id, &object, &Ignored::default()).await?;
    until(&client, &subscription, &id, &owner(&namespace), applied.clone()).await?;
    let path = format!("/api/v1/namespaces/{namespace}/configmaps/a");
    let found = CLUSTER.client().get(&path)?;
    assert_eq!(found["data"]["k"], "v");
    assert_eq!(found["metadata"]["labels"]["team"], "shop");

    // Another client deletes it.
    kubectl(&["delete", "configmap", "a"])?;
    until(&client, &subscription, &id, &owner(&namespace), None).await?;
    client.apply(&id, &object, &Ignored::default()).await?;
    until(&client, &subscription, &id, &owner(&namespace), applied).await?;

    // We delete it.
    client.delete(&id).await?;
    until(&client, &subscription, &id, &owner(&namespace), None).await?;
    assert!(CLUSTER.client().find(&path)?.is_none());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn object_of_another_owner_is_foreign() -> Result<()> {
    let namespace = CLUSTER.namespace("foreign")?;
    let client = open_client().await?;
    let (id, object) = config_map(&client, &namespace, "v");
    let mut subscription = client.subscribe();
    subscription.add([&id]);
    let path = format!("/api/v1/namespaces/{namespace}/configmaps");
    CLUSTER.client().create(&path, &json!({ "metadata": { "name": "a" } }))?;
    client.prime(&[(&id, None)]).await?;
    until(&client, &subscription, &id, &owner(&namespace), Some(Presence::Foreign(None))).await?;
    client.apply(&id, &object, &Ignored::default()).await?;
    let other = Owner { name: "other".into(), namespace: namespace.clone() };
    until(&client, &subscription, &id, &other, Some(Presence::Foreign(Some(format!("release web in {namespace}")))))
        .await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn refusal_names_object_and_remedy() -> Result<()> {
    let namespace = CLUSTER.namespace("refused")?;
    let client = open_client().await?;
    let (id, mut object) = config_map(&client, &namespace, "v");
    object["data"]["k"] = json!(1);
    let refusal = client.apply(&id, &object, &Ignored::default()).await.unwrap_err();
    let message = refusal.to_string();
    assert!(message.starts_with(&format!("ConfigMap/{namespace}/a: ")), "{message}");
    assert!(!refusal.cause.is_retryable() || message.ends_with("the hub retries by itself"), "{message}");
    let id = ObjectId { namespace: "nowhere".into(), ..id };
    object["data"]["k"] = "v".into();
    object["metadata"]["namespace"] = "nowhere".into();
    let message = client.apply(&id, &object, &Ignored::default()).await.unwrap_err().to_string();
    assert!(message.contains(r#"namespaces "nowhere" not found"#), "{message}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_field_is_rejected() -> Result<()> {
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
    let client = open_client().await?;
    let containers = json!([{ "name": "a", "image": "a", "imagee": "a" }]);
    for (api_version, kind, spec, field) in [
        ("v1", "Service", json!({ "ports": [{ "port": 80, "prot": "TCP" }] }), ".prot"),
        ("v1", "Pod", json!({ "containers": containers }), ".imagee"),
        ("unknown.example/v1", "Thing", json!({ "size": 1 }), ".spec.size"),
    ] {
        let metadata = json!({ "name": "a", "namespace": namespace });
        let object = json!({ "apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec });
        let refused = client.apply(&ObjectId::of(&object).unwrap(), &object, &Ignored::default()).await;
        let message = refused.expect_err(kind).to_string();
        assert!(message.contains(&format!("{field}: field not declared in schema")), "{message}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn each_connection_failure_has_its_reason() -> Result<()> {
    let kubeconfig = std::fs::read_to_string(CLUSTER.kubeconfig())?;
    let server = CLUSTER.client().server().to_owned();
    let other = Cluster::start(Spec { controllers: Controllers::None, ..Spec::default() })?;
    let mut stranger: Value = serde_json::from_str(&std::fs::read_to_string(other.kubeconfig())?)?;
    let address = stranger["clusters"][0]["cluster"]["server"].as_str().context("an address")?.to_owned();
    // The user of one cluster at the other: the authority is right, the client certificate is not.
    stranger["clusters"] = serde_json::from_str::<Value>(&kubeconfig)?["clusters"].clone();
    let rows = [
        ("{".to_owned(), "InvalidKubeconfig"),
        (kubeconfig.replace(&server, &address), "WrongAuthority"),
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
