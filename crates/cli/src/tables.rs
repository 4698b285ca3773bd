//! Objects as tables, one line each.

mod columns;

use fitout_api::{
    Catalog, Cluster, Extension, ExtensionInstance, ExtensionRevision, ExtensionVersion, RevisionSummary, VersionState,
    conditions,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use k8s_openapi::jiff::Timestamp;
use kube::ResourceExt;

use crate::commands::instance::withdrawal::Withdrawals;
use crate::durations::age;
use crate::output::Paint;
pub(crate) use columns::{Layout, fitted_table, table};

/// Stands for an unknown value.
const UNKNOWN: &str = "-";

/// A table with more columns in a wide layout. The last column of `header` is text, which is cut where a line is too long;
/// the age follows it.
fn with_age(
    header: &[&'static str],
    wide_header: &[&'static str],
    rows: Vec<(Vec<String>, Vec<String>, String)>,
    layout: Layout,
) -> String {
    let text_column = header.len() - 1;
    let wide_header = if layout.wide { wide_header } else { &[] };
    let header: Vec<_> = header.iter().chain(wide_header).chain(&["AGE"]).copied().collect();
    let rows = rows.into_iter().map(|(mut row, wide, age)| {
        row.extend(wide.into_iter().take(wide_header.len()));
        row.push(age);
        row
    });
    fitted_table(&header, rows, text_column, layout)
}

fn or_unknown(text: Option<&str>) -> String {
    text.filter(|text| !text.is_empty()).unwrap_or(UNKNOWN).to_owned()
}

/// The status and the message of the condition `Ready`.
fn ready(all: &[Condition]) -> [String; 2] {
    let ready = conditions::find(all, conditions::READY);
    [or_unknown(ready.map(|ready| ready.status.as_str())), or_unknown(ready.map(|ready| ready.message.as_str()))]
}

fn yes(value: bool) -> String {
    if value { "yes" } else { "no" }.to_owned()
}

pub(crate) fn instances(
    instances: &[ExtensionInstance],
    withdrawn: &Withdrawals,
    layout: Layout,
    paint: Paint,
    now: Timestamp,
) -> String {
    let row = |instance: &ExtensionInstance| {
        let spec = &instance.spec;
        let status = instance.status.clone().unwrap_or_default();
        let [ready, message] = ready(&status.conditions);
        let row = vec![
            instance.name_any(),
            spec.cluster.clone(),
            spec.extension.name.clone(),
            match withdrawn.get(&instance.name_any()) {
                Some(withdrawal) => paint.red(&format!("{} (withdrawn)", withdrawal.version)),
                None => or_unknown(status.version.as_deref()),
            },
            ready,
            message,
        ];
        let wide = vec![
            spec.namespace.clone(),
            or_unknown(status.wanted_version.as_deref()),
            or_unknown(status.why.as_deref()),
            status.revision.map_or(UNKNOWN.to_owned(), |number| number.to_string()),
            format!("{:?}", spec.upgrade.policy),
            yes(spec.suspend),
        ];
        (row, wide, age(instance.metadata.creation_timestamp.as_ref(), now))
    };
    let header = ["NAME", "CLUSTER", "EXTENSION", "VERSION", "READY", "STATUS"];
    let wide = ["NAMESPACE", "DESIRED", "WHY", "REVISION", "POLICY", "SUSPENDED"];
    with_age(&header, &wide, instances.iter().map(row).collect(), layout)
}

pub(crate) fn clusters(clusters: &[Cluster], layout: Layout, now: Timestamp) -> String {
    let row = |cluster: &Cluster| {
        let status = cluster.status.clone().unwrap_or_default();
        let [ready, message] = ready(&status.conditions);
        let nodes = status.nodes.map(|nodes| format!("{}/{}", nodes.ready, nodes.total));
        let row = vec![
            cluster.name_any(),
            or_unknown(status.version.as_deref()),
            or_unknown(nodes.as_deref()),
            ready,
            message,
        ];
        let wide = vec![
            or_unknown(cluster.spec.planned_version.as_deref()),
            or_unknown(status.platform.as_deref()),
            yes(cluster.spec.rooted),
            yes(cluster.spec.airgapped),
        ];
        (row, wide, age(cluster.metadata.creation_timestamp.as_ref(), now))
    };
    let header = ["NAME", "VERSION", "NODES", "READY", "STATUS"];
    let wide = ["PLANNED", "PLATFORM", "ROOTED", "AIRGAPPED"];
    with_age(&header, &wide, clusters.iter().map(row).collect(), layout)
}

pub(crate) fn catalogs(catalogs: &[Catalog], layout: Layout, now: Timestamp) -> String {
    let number = |number: Option<u32>| number.map_or(UNKNOWN.to_owned(), |number| number.to_string());
    let row = |catalog: &Catalog| {
        let status = catalog.status.clone().unwrap_or_default();
        let [ready, message] = ready(&status.conditions);
        let row = vec![
            catalog.name_any(),
            scope(catalog.namespace().as_deref()),
            number(status.extensions),
            number(status.versions),
            ready,
            message,
        ];
        let wide = vec![age(status.synced_at.as_ref(), now)];
        (row, wide, age(catalog.metadata.creation_timestamp.as_ref(), now))
    };
    let header = ["NAME", "SCOPE", "EXTENSIONS", "VERSIONS", "READY", "STATUS"];
    with_age(&header, &["SYNCED"], catalogs.iter().map(row).collect(), layout)
}

/// The column of the states of extensions, after the newest version.
const STATE: usize = 3;

/// The width from which the states of extensions name versions. On 80 columns, the summaries need the room.
const ROOM: usize = 100;

/// The scope of an object, by its namespace.
pub(crate) fn scope(namespace: Option<&str>) -> String {
    let shared = namespace == Some(crate::connection::SHARED);
    if shared { "Shared" } else { "Organization" }.to_owned()
}

/// A text about a state of versions: withdrawn in red, yanked and deprecated in yellow.
pub(crate) fn in_colour(state: VersionState, text: &str, paint: Paint) -> String {
    match state {
        VersionState::Listed => text.to_owned(),
        VersionState::Deprecated | VersionState::Yanked => paint.yellow(text),
        VersionState::Withdrawn => paint.red(text),
    }
}

/// The newest version that can be chosen: a deprecated one only if there is no other.
fn newest(versions: &[ExtensionVersion]) -> Option<&ExtensionVersion> {
    let first = |state| versions.iter().find(|version| version.state == state);
    first(VersionState::Listed).or_else(|| first(VersionState::Deprecated))
}

/// The remark about the newest versions: that the one that can be chosen is deprecated, or that none can be. A table
/// with room for it also says that a newer one cannot be chosen.
fn states(versions: &[ExtensionVersion], layout: Layout, paint: Paint) -> String {
    let adjective = |state: VersionState| in_colour(state, state.adjective(), paint);
    let Some(first) = versions.first() else { return String::new() };
    let Some(newest) = newest(versions) else { return adjective(first.state) };
    let deprecated = Some(newest.state).filter(|state| !state.is_listed()).map(adjective);
    let has_room = layout.width.is_none_or(|width| width >= ROOM);
    let is_refused = has_room && matches!(first.state, VersionState::Yanked | VersionState::Withdrawn);
    let refused = format!("{} {}", first.version, first.state.adjective());
    let refused = is_refused.then(|| in_colour(first.state, &refused, paint));
    deprecated.into_iter().chain(refused).collect::<Vec<_>>().join(", ")
}

pub(crate) fn extensions(extensions: &[Extension], layout: Layout, paint: Paint, now: Timestamp) -> String {
    // Few catalogs have such versions.
    let has_states = extensions.iter().any(|extension| !states(&extension.spec.versions, layout, paint).is_empty());
    let row = |extension: &Extension| {
        let spec = &extension.spec;
        let newest = newest(&spec.versions);
        let mut row = vec![
            spec.extension.clone(),
            spec.catalog.clone(),
            or_unknown(newest.map(|newest| newest.version.as_str())),
            or_unknown(newest.and_then(|newest| newest.kubernetes.as_deref())),
            or_unknown(spec.summary.as_deref()),
        ];
        if has_states {
            row.insert(STATE, states(&spec.versions, layout, paint));
        }
        let wide = vec![
            scope(extension.namespace().as_deref()),
            spec.versions.len().to_string(),
            or_unknown(spec.publisher.as_deref()),
        ];
        (row, wide, age(extension.metadata.creation_timestamp.as_ref(), now))
    };
    let mut header = vec!["NAME", "CATALOG", "NEWEST", "KUBERNETES", "SUMMARY"];
    if has_states {
        header.insert(STATE, "STATE");
    }
    with_age(&header, &["SCOPE", "VERSIONS", "PUBLISHER"], extensions.iter().map(row).collect(), layout)
}

/// Versions of one extension.
pub(crate) fn versions(versions: &[&ExtensionVersion], layout: Layout, paint: Paint) -> String {
    let rows = versions.iter().map(|version| {
        let mut row = vec![
            version.version.clone(),
            or_unknown(version.app_version.as_deref()),
            version.kubernetes.clone().unwrap_or_else(|| "any".to_owned()),
            version.key.clone().unwrap_or_default(),
            match version.state {
                VersionState::Listed => String::new(),
                state => in_colour(state, state.adjective(), paint),
            },
        ];
        if layout.wide {
            row.push(version.digest.clone());
        }
        row
    });
    // Few catalogs have a source for each Kubernetes version.
    let has_keys = versions.iter().any(|version| version.key.is_some());
    let without_keys = |mut row: Vec<String>| {
        if !has_keys {
            row.remove(3);
        }
        row
    };
    let mut header = vec!["VERSION", "APP", "KUBERNETES", "SOURCE", "STATE", "DIGEST"];
    header.truncate(if layout.wide { 6 } else { 5 });
    if !has_keys {
        header.remove(3);
    }
    table(&header, rows.map(without_keys))
}

pub(crate) fn history(revisions: &[ExtensionRevision], layout: Layout, now: Timestamp) -> String {
    let row = |revision: &ExtensionRevision| {
        let spec = &revision.spec;
        let status = revision.status.clone().unwrap_or_default();
        let result = status.result.map(|result| format!("{result:?}"));
        let row = vec![
            spec.number.to_string(),
            format!("{:?}", spec.action),
            spec.version.clone(),
            or_unknown(result.as_deref()),
        ];
        let wide = vec![or_unknown(spec.artifact_digest.as_deref()), spec.inventory.len().to_string()];
        (row, wide, age(status.started_at.as_ref().or(revision.metadata.creation_timestamp.as_ref()), now))
    };
    let header = ["REVISION", "ACTION", "VERSION", "RESULT"];
    // No column is free text.
    let layout = Layout { width: None, ..layout };
    with_age(&header, &["ARTIFACT", "OBJECTS"], revisions.iter().map(row).collect(), layout)
}

/// The revisions in the status of an instance.
pub(crate) fn summaries(revisions: &[RevisionSummary], now: Timestamp) -> String {
    let row = |revision: &RevisionSummary| {
        vec![
            revision.number.to_string(),
            format!("{:?}", revision.action),
            revision.version.clone(),
            format!("{:?}", revision.result),
            age(revision.at.as_ref(), now),
        ]
    };
    table(&["REVISION", "ACTION", "VERSION", "RESULT", "AGE"], revisions.iter().map(row))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::instance::withdrawal::Withdrawal;
    use crate::progress::fixtures;
    use fitout_api::{Action, Outcome};
    use insta::assert_snapshot;
    use serde_json::{Value, from_value, json};

    const WIDE: Layout = Layout { wide: true, width: None };

    fn object(kind: &str, namespace: &str, name: &str, spec: &Value, status: &Value) -> Value {
        let metadata = json!({ "name": name, "namespace": namespace, "creationTimestamp": "2030-01-02T00:00:00Z" });
        json!({ "apiVersion": "fitout.dev/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec, "status": status })
    }

    fn ready_condition(status: &str, message: &str) -> Value {
        json!({ "type": "Ready", "status": status, "reason": "Some", "message": message, "lastTransitionTime": "2030-01-02T00:00:00Z" })
    }

    fn listed(all: &[ExtensionInstance], layout: Layout) -> String {
        instances(all, &Withdrawals::new(), layout, Paint::new(false), fixtures::now())
    }

    #[test]
    fn instances_in_a_table() {
        let all = [fixtures::pending(), fixtures::installing(), fixtures::unhealthy(), fixtures::ready()];
        assert_snapshot!(listed(&all, Layout::default()));
        assert_snapshot!(listed(&all, WIDE));
    }

    #[test]
    fn instances_fit_the_terminal() {
        let all = [fixtures::installing(), fixtures::stalled(), fixtures::failing(), fixtures::ready()];
        for width in [80, 100, 120] {
            let text = listed(&all, Layout { wide: false, width: Some(width) });
            assert!(text.lines().all(|line| line.chars().count() <= width), "{width}:\n{text}");
        }
        assert_snapshot!(listed(&all, Layout { wide: false, width: Some(100) }));
    }

    #[test]
    fn withdrawn_versions_are_marked() {
        let withdrawal =
            Withdrawal { version: "1.21.2".to_owned(), note: None, remedy: "the hub moves it to 1.21.3".to_owned() };
        let withdrawn = Withdrawals::from([("foo-cert-manager".to_owned(), withdrawal)]);
        let table = |paint| instances(&[fixtures::ready()], &withdrawn, Layout::default(), paint, fixtures::now());
        assert_snapshot!(table(Paint::new(false)), @r"
        NAME               CLUSTER   EXTENSION      VERSION              READY   STATUS                                         AGE
        foo-cert-manager   foo       cert-manager   1.21.2 (withdrawn)   True    cert-manager 1.21.2 is installed and healthy   5m
        ");
        assert!(table(Paint::new(true)).contains("\u{1b}[1;31m1.21.2 (withdrawn)\u{1b}[0m"));
    }

    #[test]
    fn clusters_in_a_table() {
        let status = json!({ "version": "v1.36.3", "platform": "k3s", "nodes": { "ready": 2, "total": 3 },
            "conditions": [ready_condition("True", "connected")] });
        let spec = json!({ "kubeconfigSecret": "x", "rooted": true });
        let all: Vec<Cluster> = vec![
            from_value(object("Cluster", "org-acme", "prod", &spec, &status)).unwrap(),
            from_value(object("Cluster", "org-acme", "new", &spec, &json!({}))).unwrap(),
        ];
        assert_snapshot!(clusters(&all, WIDE, fixtures::now()));
    }

    #[test]
    fn catalogs_in_a_table() {
        let status = json!({ "extensions": 12, "versions": 40, "syncedAt": "2030-01-02T03:09:00Z",
            "conditions": [ready_condition("True", "all definitions were read")] });
        let spec = json!({ "source": { "directory": { "embedded": "community" } } });
        let all: Vec<Catalog> = vec![
            from_value(object("Catalog", "fitout-system", "community", &spec, &status)).unwrap(),
            from_value(object("Catalog", "org-acme", "own", &spec, &json!({}))).unwrap(),
        ];
        assert_snapshot!(catalogs(&all, WIDE, fixtures::now()));
    }

    #[test]
    fn extensions_and_versions_in_a_table() {
        let digest = format!("sha256:{}", "0".repeat(64));
        let versions_json = json!([
            { "version": "1.21.2", "kubernetes": ">=1.33 <1.37", "digest": digest, "appVersion": "v1.21.2" },
            { "version": "1.20.0", "digest": digest, "state": "Deprecated" },
        ]);
        let spec = json!({ "catalog": "community", "extension": "cert-manager", "publisher": "jetstack",
            "summary": "X.509 certificates\nfor workloads", "versions": versions_json });
        let one: Extension =
            from_value(object("Extension", "fitout-system", "community.cert-manager", &spec, &json!({}))).unwrap();
        assert_snapshot!(extensions(std::slice::from_ref(&one), WIDE, Paint::new(false), fixtures::now()), @r"
        NAME           CATALOG     NEWEST   KUBERNETES     SUMMARY                            SCOPE    VERSIONS   PUBLISHER   AGE
        cert-manager   community   1.21.2   >=1.33 <1.37   X.509 certificates for workloads   Shared   2          jetstack    3h
        ");
        let all: Vec<_> = one.spec.versions.iter().collect();
        assert_snapshot!(versions(&all, Layout::default(), Paint::new(false)), @r"
        VERSION   APP       KUBERNETES     STATE
        1.21.2    v1.21.2   >=1.33 <1.37
        1.20.0    -         any            deprecated
        ");
    }

    fn extension_with(name: &str, states: &[(&str, &str)]) -> Extension {
        let digest = format!("sha256:{}", "0".repeat(64));
        let version = |(version, state): &(&str, &str)| json!({ "version": version, "state": state, "digest": digest });
        let versions: Vec<Value> = states.iter().map(version).collect();
        let spec = json!({ "catalog": "apps", "extension": name, "summary": "A page", "versions": versions });
        from_value(object("Extension", "org-acme", &format!("apps.{name}"), &spec, &json!({}))).unwrap()
    }

    #[test]
    fn the_newest_version_is_one_that_can_be_chosen() {
        let all = [
            extension_with("broken", &[("1.3.0", "Yanked"), ("1.2.0", "Listed")]),
            extension_with("old", &[("2.0.0", "Withdrawn"), ("1.0.0", "Yanked"), ("0.9.0", "Deprecated")]),
            extension_with("none", &[("1.0.0", "Withdrawn")]),
            extension_with("web", &[("1.1.0", "Deprecated"), ("1.0.0", "Listed")]),
            extension_with("empty", &[]),
        ];
        assert_snapshot!(extensions(&all, Layout::default(), Paint::new(false), fixtures::now()), @r"
        NAME     CATALOG   NEWEST   STATE                         KUBERNETES   SUMMARY   AGE
        broken   apps      1.2.0    1.3.0 yanked                  -            A page    3h
        old      apps      0.9.0    deprecated, 2.0.0 withdrawn   -            A page    3h
        none     apps      -        withdrawn                     -            A page    3h
        web      apps      1.0.0                                  -            A page    3h
        empty    apps      -                                      -            A page    3h
        ");
        let narrow = Layout { wide: false, width: Some(80) };
        assert_snapshot!(extensions(&all[..3], narrow, Paint::new(false), fixtures::now()), @r"
        NAME     CATALOG   NEWEST   STATE        KUBERNETES   SUMMARY   AGE
        broken   apps      1.2.0                 -            A page    3h
        old      apps      0.9.0    deprecated   -            A page    3h
        none     apps      -        withdrawn    -            A page    3h
        ");
        let coloured = extensions(&all, Layout::default(), Paint::new(true), fixtures::now());
        assert!(coloured.contains("\u{1b}[1;31m2.0.0 withdrawn\u{1b}[0m"), "{coloured:?}");
        assert!(coloured.contains("\u{1b}[33mdeprecated\u{1b}[0m"), "{coloured:?}");
    }

    #[test]
    fn history_in_a_table() {
        let all = [
            fixtures::revision(2, Action::Upgrade, Outcome::Succeeded),
            fixtures::revision(1, Action::Install, Outcome::Superseded),
        ];
        assert_snapshot!(history(&all, Layout::default(), fixtures::now()));
    }
}
