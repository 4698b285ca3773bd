//! What a cluster of the testbed can be made to do.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeSet;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use fitout_testkit::{Cluster, Controllers, Etcd, KubeVersion, Spec, differences, sample, until};
use serde_json::{Value, json};

/// For tests that need no more than a namespace of their own.
static SHARED: LazyLock<Cluster> = LazyLock::new(|| Cluster::start(Spec::default()).unwrap());

fn bare() -> Spec {
    Spec { controllers: Controllers::None, ..Spec::default() }
}

fn config_map(name: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name }, "data": { "key": "value" } })
}

#[test]
fn data_survives_upgrade_and_downgrade_and_the_version_says_so() -> Result<()> {
    let pairs = KubeVersion::ALL.into_iter().flat_map(|a| KubeVersion::ALL.into_iter().map(move |b| (a, b)));
    let wanted = (KubeVersion::V1_35, KubeVersion::V1_36);
    let others = pairs.filter(|&(a, b)| a < b && (a, b) != wanted).collect();
    for (older, newer) in [vec![wanted], sample(others, 1)].concat() {
        println!("{older} to {newer} and back");
        let mut cluster = Cluster::start(Spec { version: older, ..bare() })?;
        assert_eq!(cluster.version()?["gitVersion"], older.git_version());
        let made = cluster.client().create("/api/v1/namespaces/default/configmaps", &config_map("kept"))?;
        for version in [newer, older] {
            cluster.switch(version)?;
            let said = cluster.version()?;
            assert_eq!(said["gitVersion"], version.git_version());
            assert_eq!(said["minor"], version.minor().to_string());
            let kept = cluster.client().get("/api/v1/namespaces/default/configmaps/kept")?;
            assert_eq!(kept["metadata"]["uid"], made["metadata"]["uid"]);
            assert_eq!(kept["data"], made["data"]);
        }
    }
    Ok(())
}

#[test]
fn the_audit_log_tells_calls_apart() -> Result<()> {
    let cluster = Cluster::start(Spec::default())?;
    let path = "/api/v1/namespaces/default/configmaps";
    let log = cluster.audit().from_now()?;
    cluster.client().create(path, &config_map("a"))?;
    cluster.client().get(&format!("{path}/a"))?;
    assert!(cluster.client().create(path, &config_map("a")).is_err());
    cluster.client().delete(&format!("{path}/a"))?;

    let mine = log.calls()?.by("kubernetes-admin");
    assert_eq!(
        mine.summary(),
        [
            "create configmaps default/a",
            "get configmaps default/a",
            "create configmaps default/a",
            "delete configmaps default/a"
        ]
    );
    assert_eq!(mine.clone().failed().as_slice()[0].response_status.code, 409);
    assert_eq!(mine.as_slice()[0].request_object.as_ref().unwrap()["data"]["key"], "value");
    mine.of("secrets").assert_none("nobody asked for secrets");
    Ok(())
}

#[test]
fn nothing_is_written_while_nobody_asks() -> Result<()> {
    let cluster = Cluster::start(bare())?;
    let log = cluster.audit().from_now()?;
    // Nothing to wait for: it is the passing of time that is observed.
    std::thread::sleep(Duration::from_secs(2));
    log.calls()?.writes().assert_none("nobody wrote");
    Ok(())
}

#[test]
#[should_panic(expected = "201 create configmaps default/loud (by kubernetes-admin)")]
fn a_broken_promise_is_shown_with_the_calls_that_broke_it() {
    let cluster = Cluster::start(bare()).unwrap();
    let log = cluster.audit().from_now().unwrap();
    cluster.client().create("/api/v1/namespaces/default/configmaps", &config_map("loud")).unwrap();
    log.calls().unwrap().writes().assert_none("no writes were to be made");
}

#[test]
fn a_frozen_server_is_silent_and_a_stopped_one_refuses() -> Result<()> {
    let mut cluster = Cluster::start(bare())?;
    let address = cluster.client().server().trim_start_matches("https://").parse()?;
    let connect = || std::net::TcpStream::connect_timeout(&address, Duration::from_secs(1));

    cluster.freeze_api_server(0)?;
    let asked = Instant::now();
    let request = ["get", "--raw=/version", "--request-timeout=1s"];
    assert!(cluster.kubectl().run(&request).is_err());
    assert!(asked.elapsed() >= Duration::from_secs(1), "it was refused, not silent");
    connect()?;
    cluster.thaw_api_server(0)?;
    cluster.version()?;

    cluster.kill_api_server(0);
    assert_eq!(connect().unwrap_err().kind(), std::io::ErrorKind::ConnectionRefused);
    cluster.start_api_server(0)?;
    cluster.version()?;
    cluster.restart_api_server(0)?;
    cluster.version()?;
    Ok(())
}

#[test]
fn two_servers_behind_one_address_answer_in_turn() -> Result<()> {
    let mut cluster = Cluster::start(Spec { api_servers: 2, version: KubeVersion::V1_35, ..bare() })?;
    cluster.switch_api_server(1, KubeVersion::V1_36)?;
    // Each run of kubectl is a new connection.
    let ask = || cluster.kubectl().json(&["get", "--raw=/version"]).map(|said| said["minor"].to_string());
    let answers: BTreeSet<String> = (0..4).map(|_| ask()).collect::<Result<_>>()?;
    assert_eq!(answers, ["\"35\"".to_owned(), "\"36\"".to_owned()].into());

    // They share their data, and one is enough.
    cluster.client().create("/api/v1/namespaces/default/configmaps", &config_map("shared"))?;
    cluster.kill_api_server(0);
    for _ in 0..2 {
        cluster.kubectl().run(&["get", "configmap", "shared"])?;
    }
    Ok(())
}

#[test]
fn clusters_that_share_an_etcd_do_not_share_their_data() -> Result<()> {
    let etcd = Etcd::start()?;
    let start = || Cluster::start(Spec { etcd: Some(etcd.clone()), ..bare() });
    let (one, other) = (start()?, start()?);
    let path = "/api/v1/namespaces/default/configmaps";
    one.client().create(path, &config_map("mine"))?;
    assert!(one.client().find(&format!("{path}/mine"))?.is_some());
    assert!(other.client().find(&format!("{path}/mine"))?.is_none());
    drop(one);
    other.client().create(path, &config_map("mine"))?;
    Ok(())
}

#[test]
fn a_user_has_only_the_rights_that_were_granted() -> Result<()> {
    let namespace = SHARED.namespace("rights")?;
    let kubectl = SHARED.kubectl().with_kubeconfig(&SHARED.kubeconfig_for("jane", Some("readers"))?);
    let refused = kubectl.run(&["get", "configmaps", "--namespace", &namespace]).unwrap_err().to_string();
    assert!(refused.contains(r#"User "jane" cannot list resource "configmaps""#), "{refused}");
    let grant =
        ["create", "rolebinding", "readers", "--clusterrole=view", "--group=readers", "--namespace", &namespace];
    SHARED.kubectl().run(&grant)?;
    // The role `view` is put together by a controller, from other roles.
    until("the right is granted", Duration::from_secs(20), || {
        kubectl.run(&["get", "configmaps", "--namespace", &namespace])
    })?;
    Ok(())
}

#[test]
fn the_server_tells_aggregated_servers_whom_to_trust() -> Result<()> {
    let path = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
    let trust = SHARED.client().get(path)?;
    assert!(trust["data"]["requestheader-client-ca-file"].as_str().unwrap().contains("BEGIN CERTIFICATE"));
    assert_eq!(trust["data"]["requestheader-allowed-names"], "[\"front-proxy-client\"]");
    Ok(())
}

#[test]
fn nobody_is_let_in_without_a_certificate() {
    let nobody = SHARED.kubectl().with_kubeconfig("/dev/null".as_ref());
    let authority = format!("--certificate-authority={}", SHARED.sandbox().dir().join("pki/ca.crt").display());
    let server = format!("--server={}", SHARED.client().server());
    let refused = nobody.run(&["get", "nodes", &server, &authority, "--token=made-up"]).unwrap_err().to_string();
    assert!(refused.contains("You must be logged in"), "{refused}");
}

#[test]
fn helm_and_kubectl_make_the_same_objects() -> Result<()> {
    let (by_helm, by_kubectl) = (SHARED.namespace("helm")?, SHARED.namespace("kubectl")?);
    let chart = SHARED.sandbox().programs().chart("podinfo");
    let chart = chart.to_str().unwrap();
    SHARED.helm().run(&["install", "podinfo", chart, "--namespace", &by_helm])?;
    let rendered = SHARED.helm().run(&["template", "podinfo", chart, "--namespace", &by_kubectl, "--skip-tests"])?;
    SHARED.kubectl().run_with_input(&["apply", "--namespace", &by_kubectl, "--filename=-"], &rendered)?;

    let get = |namespace: &str| {
        let path = format!("/apis/apps/v1/namespaces/{namespace}/deployments/podinfo");
        SHARED.client().get(&path)
    };
    // What remains is where they are, what each of the two says about itself, and what a controller adds in its own time.
    let found = differences(&get(&by_helm)?, &get(&by_kubectl)?);
    let fields: Vec<&str> = found.iter().map(|line| line.split(": ").next().unwrap_or_default()).collect();
    let expected = [
        ".metadata.annotations.meta.helm.sh/release-name",
        ".metadata.annotations.meta.helm.sh/release-namespace",
        ".metadata.annotations.deployment.kubernetes.io/revision",
        ".metadata.annotations.kubectl.kubernetes.io/last-applied-configuration",
        ".metadata.labels.app.kubernetes.io/managed-by",
        ".metadata.namespace",
    ];
    let unexpected: Vec<_> =
        found.iter().filter(|line| !expected.iter().any(|field| line.starts_with(field))).collect();
    assert!(unexpected.is_empty(), "{unexpected:#?}");
    assert!(fields.contains(&".metadata.namespace"), "{fields:?}");
    let listed = SHARED.helm().json(&["list", "--namespace", &by_helm, "--output=json"])?;
    assert_eq!(listed[0]["status"], "deployed");
    Ok(())
}

#[test]
fn deleted_namespaces_go() -> Result<()> {
    let namespace = SHARED.namespace("going")?;
    let path = format!("/api/v1/namespaces/{namespace}");
    SHARED.client().create(&format!("{path}/configmaps"), &config_map("a"))?;
    SHARED.client().delete(&path)?;
    until("the namespace is gone", Duration::from_secs(30), || match SHARED.client().find(&path)? {
        None => Ok(()),
        Some(namespace) => Err(anyhow!("{}", namespace["status"])),
    })
}
