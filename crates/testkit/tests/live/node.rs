//! A real node: pods run, Services answer, and nothing gets out.

use std::net::Ipv4Addr;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use fitout_testkit::{Cluster, Image, Spec, StandIn, install_dns, pods_cannot_run, skip, until};
use serde_json::json;

const MINUTE: Duration = Duration::from_mins(1);

/// All on one node, in this order: a node costs more than the rest of the tests together.
#[test]
fn a_real_node_runs_real_workloads() -> Result<()> {
    if let Some(reason) = pods_cannot_run() {
        skip(&reason);
        return Ok(());
    }
    let cluster = Cluster::start(Spec { node: true, ..Spec::default() })?;
    install_dns(&cluster)?;
    metrics_server_is_installed_by_helm_and_kubectl_top_answers(&cluster)?;
    podinfo_answers_on_its_address_and_by_its_name(&cluster)?;
    a_stand_in_answers_probes_and_ends_as_a_job(&cluster)?;
    the_kubelet_wants_to_know_who_asks(&cluster)?;
    nothing_outside_the_testbed_is_reached(&cluster)
}

fn import(cluster: &Cluster, image: &Image) -> Result<()> {
    cluster.node().context("a node")?.import(image)
}

fn metrics_server_is_installed_by_helm_and_kubectl_top_answers(cluster: &Cluster) -> Result<()> {
    let programs = cluster.sandbox().programs();
    import(cluster, &Image::metrics_server(programs))?;
    let chart = programs.chart("metrics-server");
    let chart = chart.to_str().context("a path in UTF-8")?;
    // As shipped, but for the patience of its probe.
    let options = ["--namespace=kube-system", "--set=readinessProbe.initialDelaySeconds=1", "--wait", "--timeout=90s"];
    cluster.helm().run(&[&["install", "metrics-server", chart][..], &options].concat())?;
    let top = until("kubectl top answers", MINUTE, || cluster.kubectl().run(&["top", "node", "node", "--no-headers"]))?;
    let columns: Vec<&str> = top.split_whitespace().collect();
    ensure!(columns[0] == "node" && columns[3].ends_with("Mi"), "{top}");
    Ok(())
}

fn podinfo_answers_on_its_address_and_by_its_name(cluster: &Cluster) -> Result<()> {
    let programs = cluster.sandbox().programs();
    import(cluster, &Image::podinfo(programs))?;
    let namespace = cluster.namespace("podinfo")?;
    let chart = programs.chart("podinfo");
    let chart = chart.to_str().context("a path in UTF-8")?;
    cluster.helm().run(&["install", "podinfo", chart, "--namespace", &namespace, "--wait", "--timeout=90s"])?;
    let service = cluster.client().get(&format!("/api/v1/namespaces/{namespace}/services/podinfo"))?;
    let address = service["spec"]["clusterIP"].as_str().context("an address")?;
    for host in [address, &format!("podinfo.{namespace}.svc.cluster.local"), "podinfo"] {
        let url = format!("http://{host}:9898/healthz");
        let exec = ["exec", "deployment/podinfo", "--namespace", &namespace, "--", "podcli", "check", "http", &url];
        until(host, MINUTE, || cluster.kubectl().run(&exec))?;
    }
    Ok(())
}

fn a_stand_in_answers_probes_and_ends_as_a_job(cluster: &Cluster) -> Result<()> {
    let programs = cluster.sandbox().programs();
    import(cluster, &Image::stand_in(programs, "example.com/server:1", StandIn::Serves))?;
    import(cluster, &Image::stand_in(programs, "example.com/check:1", StandIn::Exits))?;
    let namespace = cluster.namespace("standin")?;
    let container = |name: &str, probe| {
        json!({ "name": name, "image": "example.com/server:1", "args": ["--webhook-port=7443", "--health=:7081"],
                "readinessProbe": probe, "env": [{ "name": "PORTS", "value": "7090" }] })
    };
    let pod =
        |name: &str, probe| json!({ "metadata": { "name": name }, "spec": { "containers": [container(name, probe)] } });
    let pods = [
        pod("http", json!({ "httpGet": { "port": 7081, "path": "/any" }, "periodSeconds": 1 })),
        pod("https", json!({ "httpGet": { "port": 7443, "scheme": "HTTPS" }, "periodSeconds": 1 })),
        pod("grpc", json!({ "grpc": { "port": 7090 }, "periodSeconds": 1 })),
        pod("tcp", json!({ "tcpSocket": { "port": 8080 }, "periodSeconds": 1 })),
    ];
    let path = format!("/api/v1/namespaces/{namespace}");
    until("the default service account", MINUTE, || cluster.client().get(&format!("{path}/serviceaccounts/default")))?;
    for pod in &pods {
        cluster.client().create(&format!("{path}/pods"), pod)?;
    }
    let job = json!({
        "metadata": { "name": "check" },
        "spec": { "template": { "spec": {
            "restartPolicy": "Never",
            "containers": [{ "name": "check", "image": "example.com/check:1", "args": ["--wait=1m"] }],
        } } },
    });
    let jobs = format!("/apis/batch/v1/namespaces/{namespace}/jobs");
    cluster.client().create(&jobs, &job)?;
    for name in ["http", "https", "grpc", "tcp"] {
        until(&format!("pod {name} is ready"), MINUTE, || {
            let pod = cluster.client().get(&format!("{path}/pods/{name}"))?;
            let ready = &pod["status"]["containerStatuses"][0]["ready"];
            if ready == true { Ok(()) } else { Err(anyhow!("{}", pod["status"])) }
        })?;
    }
    until("the job is complete", MINUTE, || {
        let job = cluster.client().get(&format!("{jobs}/check"))?;
        if job["status"]["succeeded"] == 1 { Ok(()) } else { Err(anyhow!("{}", job["status"])) }
    })
}

fn the_kubelet_wants_to_know_who_asks(cluster: &Cluster) -> Result<()> {
    let kubelet = format!("--server=https://{}:10250", cluster.sandbox().address_block().node());
    let authority = format!("--certificate-authority={}", cluster.sandbox().dir().join("pki/ca.crt").display());
    let kubectl = cluster.kubectl();
    let nobody = kubectl.with_kubeconfig("/dev/null".as_ref());
    let stranger = kubectl.with_kubeconfig(&cluster.kubeconfig_for("stranger", None)?);
    let answers = [
        (nobody, "--token=made-up", "You must be logged in"),
        (stranger, "--token=", "Forbidden (user=stranger"),
        (kubectl, "--token=", r#""kind":"PodList""#),
    ];
    for (kubectl, token, expected) in answers {
        let output = kubectl.output(&["get", "--raw=/pods", &kubelet, &authority, token], "")?;
        let said = String::from_utf8([output.stdout, output.stderr].concat())?;
        ensure!(said.contains(expected), "{expected}: {said}");
    }
    Ok(())
}

fn nothing_outside_the_testbed_is_reached(cluster: &Cluster) -> Result<()> {
    let slot = cluster.sandbox().address_block();
    let image = "example.com/outward:1";
    import(cluster, &Image::stand_in(cluster.sandbox().programs(), image, StandIn::Serves))?;
    let namespace = cluster.namespace("outward")?;
    let inside = [
        format!("tcp:{}:443", slot.kubernetes_service()),
        format!("udp:{}:53", slot.dns_service()),
        format!("tcp:{}:6443", slot.host()),
    ];
    // Name servers and a web server of the internet, where clouds tell secrets, a usual address for Services, this
    // machine's own addresses and the way out of it.
    let mut outside: Vec<String> = [
        "udp:8.8.8.8:53",
        "tcp:8.8.8.8:53",
        "tcp:1.1.1.1:443",
        "tcp:169.254.169.254:80",
        "tcp:10.96.0.1:443",
        "udp:10.96.0.10:53",
        "tcp:[2606:4700:4700::1111]:443",
    ]
    .map(str::to_owned)
    .into();
    outside.extend(this_machine()?.into_iter().map(|address| format!("tcp:{address}:22")));
    let dial = |network: bool, addresses: &[String]| -> Result<String> {
        let name = format!("dial-{}-{network}", addresses.len());
        let pod = json!({
            "metadata": { "name": name },
            "spec": {
                "restartPolicy": "Never",
                "hostNetwork": network,
                "containers": [{
                    "name": "dial", "image": image, "command": ["/standin", "dial"], "args": addresses,
                }],
            },
        });
        let path = format!("/api/v1/namespaces/{namespace}/pods");
        until("the pod is admitted", MINUTE, || cluster.client().create(&path, &pod))?;
        until("the pod has dialled", MINUTE, || {
            let pod = cluster.client().get(&format!("{path}/{name}"))?;
            let phase = pod["status"]["phase"].as_str().unwrap_or_default();
            if ["Succeeded", "Failed"].contains(&phase) { Ok(()) } else { Err(anyhow!("{}", pod["status"])) }
        })?;
        cluster.kubectl().run(&["logs", &name, "--namespace", &namespace])
    };
    let reached = dial(false, &inside)?;
    assert_eq!(reached.matches(": reached").count(), inside.len(), "{reached}");
    // From a pod's network and from the node's own.
    for network in [false, true] {
        let tried = dial(network, &outside)?;
        assert_eq!(tried.lines().count(), outside.len(), "{tried}");
        assert!(!tried.contains(": reached"), "{tried}");
    }
    let routes = cluster.node().context("a node")?.shell("ip -4 route; ip -6 route")?;
    assert!(!routes.contains("default"), "{routes}");
    Ok(())
}

/// The addresses of this machine that others reach it by, and that of its way out.
fn this_machine() -> Result<Vec<Ipv4Addr>> {
    let output = Command::new("ip").args(["-4", "-oneline", "address", "show", "scope", "global"]).output()?;
    let text = String::from_utf8(output.stdout)?;
    let addresses = text.lines().filter_map(|line| line.split_whitespace().nth(3)?.split('/').next()?.parse().ok());
    let gateway = Command::new("ip").args(["-4", "route", "show", "default"]).output()?;
    let gateway = String::from_utf8(gateway.stdout)?;
    let gateway = gateway.split_whitespace().nth(2).and_then(|address| address.parse().ok());
    let testbed = |address: &Ipv4Addr| address.octets()[0] == 198 && [18, 19].contains(&address.octets()[1]);
    Ok(addresses.chain(gateway).filter(|address| !testbed(address)).collect())
}
