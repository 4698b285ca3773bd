//! What whoever runs the hub sees of it: probes, metrics, logs.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeSet;
use std::fs;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use fitout_testkit::{Process, apply, object, paths, until};
use serde_json::{Value, json};

use crate::faults::{Faults, LIMIT};
use crate::scrape::{get, names, value};

/// Something that must not be told to anybody.
const SECRET: &str = "4711471";

/// Starts a hub that can be asked, on a port of its own.
fn run(faults: &Faults, name: &str, port: u16) -> Result<(Process, SocketAddr)> {
    let address = SocketAddr::from((faults.hub.sandbox().address_block().loopback(), port));
    let observe = format!("--metrics-address={address}");
    let hub = faults.run_hub_with(name, &["--lease=15s", &observe, "--log-format=json", "--log-level=debug"])?;
    Ok((hub, address))
}

fn metrics(hub: SocketAddr) -> Result<String> {
    let (code, text) = get(hub, "/metrics")?;
    ensure!(code == 200 && text.ends_with("# EOF\n"), "{code} {text}");
    Ok(text)
}

fn until_metric(hub: SocketAddr, series: &str, expected: f64) -> Result<()> {
    until(&format!("{series} is {expected}"), LIMIT, || {
        let text = metrics(hub)?;
        ensure!((value(&text, series) - expected).abs() < f64::EPSILON, "{text}");
        Ok(())
    })
}

/// The objects that a hub has logged.
fn logged(faults: &Faults, name: &str) -> Result<Vec<Value>> {
    let text = fs::read_to_string(faults.hub.sandbox().dir().join(format!("{name}.log"))).unwrap();
    text.lines().map(|line| serde_json::from_str(line).with_context(|| format!("not JSON: {line}"))).collect()
}

#[test]
fn a_hub_is_ready_when_it_knows_all_there_is_and_its_metrics_agree_with_the_audit_log() -> Result<()> {
    let mut faults = Faults::start(1)?;
    faults.hub.kill_api_server(0);
    let (hub, address) = run(&faults, "hub", 8080)?;
    until("it answers", LIMIT, || get(address, "/healthz").map(|(code, _)| assert_eq!(code, 200)))?;
    let (code, said) = get(address, "/readyz")?;
    assert_eq!((code, said.split(':').next()), (503, Some("not ready")), "{said}");
    faults.hub.start_api_server(0)?;
    until("it is ready", LIMIT, || {
        let (code, said) = get(address, "/readyz")?;
        ensure!(code == 200, "{said}");
        Ok(())
    })?;
    assert_eq!(get(address, "/nothing")?.0, 404);
    until_metric(address, "fitout_leading", 1.0)?;

    // One that waits is ready too.
    let (_standby, second) = run(&faults, "standby", 8081)?;
    until("the second is ready", LIMIT, || {
        ensure!(get(second, "/readyz").is_ok_and(|(code, _)| code == 200), "it is not");
        Ok(())
    })?;
    until_metric(second, "fitout_clusters{organization=\"acme\",cluster=\"c0\",state=\"connected\"}", 1.0)?;
    until_metric(second, "fitout_leading", 0.0)?;

    let values = json!({ "type": "fitout.dev/values", "stringData": { "v": format!("size: {SECRET}\n") } });
    apply(&faults.hub, &object("v1", "Secret", "org-acme", "values", &values))?;
    let from = json!([{ "secretKeyRef": { "name": "values", "key": "v" } }]);
    faults.want("thing", 0, &json!({ "version": "1.x", "valuesFrom": from }))?;
    faults.until_ready("thing", 1, LIMIT)?;
    until_metric(address, "fitout_instances{organization=\"acme\",cluster=\"c0\",state=\"ready\"}", 1.0)?;
    for state in ["waiting", "running"] {
        until_metric(address, &format!("fitout_changes{{state=\"{state}\"}}"), 0.0)?;
    }
    // Each write that the API servers have on record was counted, and no other.
    let text = metrics(address)?;
    let admin = "system:serviceaccount:kube-system:testbed-admin";
    let agent = |call: &fitout_testkit::Call| !call.user_agent.contains("kubectl");
    let target = faults.targets[0].audit().calls()?.by(admin).only(agent);
    for (verb, http) in [("patch", "patch"), ("create", "create"), ("update", "update")] {
        let recorded = target.clone().only(|call| call.verb == verb && call.response_status.code < 300);
        let counted: f64 = ["200", "201"]
            .map(|code| format!("fitout_api_calls_total{{server=\"acme/c0\",verb=\"{http}\",result=\"{code}\"}}"))
            .iter()
            .map(|series| value(&text, series))
            .sum();
        assert_eq!(recorded.as_slice().len().to_string(), counted.to_string(), "{verb}:\n{recorded}{text}");
    }
    assert!(value(&text, "fitout_api_calls_total{server=\"hub\",verb=\"watch\",result=\"200\"}") >= 7.0, "{text}");
    for step in ["prepare", "wait for a slot", "apply accounts, roles and configuration", "record the result"] {
        assert!(
            value(&text, &format!("fitout_step_duration_seconds_count{{step=\"{step}\"}}")) >= 1.0,
            "{step}: {text}"
        );
    }
    shipped_files_name_only_what_there_is(&text);

    // A cluster that is lost is seen, and said in the log.
    faults.targets[0].kill_api_server(0);
    until_metric(address, "fitout_clusters{organization=\"acme\",cluster=\"c0\",state=\"lost\"}", 1.0)?;
    until_metric(address, "fitout_clusters{organization=\"acme\",cluster=\"c0\",state=\"connected\"}", 0.0)?;
    until_metric(address, "fitout_instances{organization=\"acme\",cluster=\"c0\",state=\"waiting\"}", 1.0)?;
    let unanswered = "fitout_api_calls_total{server=\"acme/c0\",verb=\"get\",result=\"unanswered\"}";
    assert!(value(&metrics(address)?, unanswered) >= 1.0);

    // One that is told to stop lets the other lead at once.
    hub.stop()?;
    let began = Instant::now();
    until_metric(second, "fitout_leading", 1.0)?;
    ensure!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    lines_say_what_they_are_about(&logged(&faults, "hub")?);
    Ok(())
}

/// Every line is an object; those of an instance say which, on which cluster, at which step; and none tells a value.
fn lines_say_what_they_are_about(lines: &[Value]) {
    let mut steps = BTreeSet::new();
    for line in lines {
        let text = line.to_string();
        assert!(!text.contains(SECRET), "{text}");
        assert!(!text.contains("failed with error"), "{text}");
        assert!(line["timestamp"].is_string() && line["level"].is_string() && line["message"].is_string(), "{text}");
        let span = &line["span"];
        if span["name"] == "worker" {
            assert_eq!(
                (&span["instance"], &span["namespace"], &span["cluster"]),
                (&json!("thing"), &json!("org-acme"), &json!("c0"))
            );
            steps.insert(span["step"].as_str().unwrap().to_owned());
        }
    }
    let expected = ["apply namespaces and CRDs", "record the result", "wait for a slot"];
    assert!(expected.iter().all(|step| steps.contains(*step)), "{steps:#?}");
    let said = |message: &str| lines.iter().any(|line| line["message"].as_str().unwrap().contains(message));
    assert!(said("1.0.0 is installed") && said("cluster c0: ") && said("releasing lease"), "{lines:#?}");
}

/// Every series that the dashboard and the alert rules ask for is one that a hub has.
fn shipped_files_name_only_what_there_is(metrics: &str) {
    let dir = paths::checkout().join("deploy/observability");
    let dashboard: Value = serde_json::from_str(&fs::read_to_string(dir.join("dashboard.json")).unwrap()).unwrap();
    let mut asked: Vec<String> = vec![];
    for panel in dashboard["panels"].as_array().unwrap() {
        let targets = panel["targets"].as_array().unwrap();
        assert!(!targets.is_empty() && panel["title"].is_string(), "{panel}");
        asked.extend(targets.iter().map(|target| target["expr"].as_str().unwrap().to_owned()));
    }
    let rules = fs::read_to_string(dir.join("alerts.yaml")).unwrap();
    let rules: Value = fitout_go_yaml::from_yaml(&rules).unwrap();
    for rule in rules["groups"][0]["rules"].as_array().unwrap() {
        assert!(rule["alert"].as_str().unwrap().starts_with("Fitout"), "{rule}");
        let annotations = &rule["annotations"];
        for text in [&annotations["summary"], &annotations["remedy"]] {
            assert!(text.as_str().unwrap().trim_end().ends_with('.'), "a sentence: {rule}");
        }
        asked.push(rule["expr"].as_str().unwrap().to_owned());
    }
    let known = names(metrics);
    let mut named = BTreeSet::new();
    for expression in &asked {
        let words = expression.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '"'));
        let series: Vec<&str> = words.filter(|word| word.starts_with("fitout_")).collect();
        assert!(!series.is_empty(), "{expression}");
        for name in series {
            assert!(known.contains(name), "{name} in {expression}; there are {known:#?}");
            named.insert(name.to_owned());
        }
    }
    // And nothing is measured that nobody looks at.
    let family = |name: &str| {
        ["_bucket", "_sum", "_count"].iter().fold(name.to_owned(), |name, end| name.trim_end_matches(end).to_owned())
    };
    let seen: BTreeSet<String> = named.iter().map(|name| family(name)).collect();
    let unseen: Vec<&String> = known.iter().filter(|name| !seen.contains(&family(name))).collect();
    assert!(unseen.is_empty(), "{unseen:?}");
}
