//! Organizations see the shared catalogs and their own, through kubectl, the command line and the aggregated API.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::fs;
use std::path::PathBuf;

use anyhow::{Result, ensure};
use fitout_testkit::{apply, object, serve_compute, until};
use serde_json::{Value, json};

use crate::command::fitout;
use crate::faults::{Faults, LIMIT};

const AVAILABLE: &str = "availableextensions.compute.fitout.dev";

/// A user of the hub's API server, with the rights that the hub gives to members of organizations, and no other.
struct User {
    name: &'static str,
    organization: &'static str,
    kubeconfig: PathBuf,
}

impl User {
    fn new(faults: &Faults, name: &'static str, organization: &'static str) -> Result<Self> {
        let kubeconfig = faults.hub.kubeconfig_for(name, None)?;
        Ok(Self { name, organization, kubeconfig })
    }

    fn kubectl(&self, faults: &Faults, words: &[&str]) -> Result<String> {
        faults.hub.kubectl().with_kubeconfig(&self.kubeconfig).run(words)
    }

    /// The names of what the user lists in a namespace.
    fn names(&self, faults: &Faults, resource: &str, namespace: &str) -> Result<Vec<String>> {
        let words = ["get", resource, "--namespace", namespace, "--output=jsonpath={.items[*].metadata.name}"];
        let mut names: Vec<String> = self.kubectl(faults, &words)?.split_whitespace().map(str::to_owned).collect();
        names.sort();
        Ok(names)
    }

    fn fitout(&self, words: &[&str]) -> Result<String> {
        Ok(fitout(&self.kubeconfig, Some(self.organization), words)?.well())
    }
}

fn organization(faults: &Faults, name: &str, user: &str, role: &str) -> Result<()> {
    let spec = json!({ "spec": { "members": [{ "name": user, "role": role }] } });
    apply(&faults.hub, &object("fitout.dev/v1alpha1", "Organization", "", name, &spec))
}

/// A catalog of definitions, and a sideload, in the namespace of each organization.
fn offer(faults: &Faults, organization: &str, embedded: &Value) -> Result<()> {
    let namespace = format!("org-{organization}");
    apply(&faults.hub, &object("fitout.dev/v1alpha1", "Catalog", &namespace, "community", embedded))?;
    let name = format!("side-{organization}");
    let side = json!({ "spec": { "extension": name, "version": "1.0.0", "manifests": { "path": "m" } } });
    apply(&faults.hub, &object("fitout.dev/v1alpha1", "ExtensionDefinition", &namespace, &name, &side))
}

#[test]
fn organizations_see_shared_catalogs_and_their_own() -> Result<()> {
    let faults = Faults::start(1)?;
    let address = format!("{}:8443", faults.hub.address());
    let _hub = faults.run_hub_with("hub", &["--lease=2s", "--api-address", &address])?;
    serve_compute(&faults.hub)?;
    organization(&faults, "acme", "alice", "Admin")?;
    organization(&faults, "other", "bob", "Member")?;
    let (alice, bob) = (User::new(&faults, "alice", "acme")?, User::new(&faults, "bob", "other")?);
    until("the namespaces exist", LIMIT, || faults.hub.client().get("/api/v1/namespaces/org-other"))?;

    // Everywhere a catalog `community`: shared with all extensions, and in each organization with one.
    let embedded = |include: &str| json!({ "spec": { "source": { "directory": { "embedded": "community" } }, "include": [{ "name": include }] } });
    let shared = json!({
        "metadata": { "name": "community", "namespace": "fitout-system", "labels": { "fitout.dev/builtin": "true" } },
        "spec": { "source": { "directory": { "embedded": "community" } }, "exclude": [{ "name": "podinfo" }] },
    });
    apply(&faults.hub, &object("fitout.dev/v1alpha1", "Catalog", "fitout-system", "community", &shared))?;
    offer(&faults, "acme", &embedded("podinfo"))?;
    offer(&faults, "other", &embedded("hello"))?;

    // kubectl.
    let own = [["community.podinfo", "sideloaded.side-acme"], ["community.hello", "sideloaded.side-other"]];
    for (user, own) in [(&alice, own[0]), (&bob, own[1])] {
        let namespace = format!("org-{}", user.organization);
        until(&format!("{} sees its own extensions", user.name), LIMIT, || {
            let found = user.names(&faults, "extensions.fitout.dev", &namespace)?;
            ensure!(found == own, "{found:?}");
            Ok(())
        })?;
        let shared = user.names(&faults, "extensions.fitout.dev", "fitout-system")?;
        ensure!(shared.contains(&"community.hello".to_owned()), "{shared:?}");
        ensure!(!shared.contains(&"community.podinfo".to_owned()), "{shared:?}");
        user.names(&faults, "catalogs.fitout.dev", "fitout-system")?;
        user.kubectl(&faults, &["get", "secrets", "--namespace=fitout-system"]).unwrap_err();
    }
    for resource in ["extensions.fitout.dev", "catalogs.fitout.dev", "extensiondefinitions.fitout.dev", AVAILABLE] {
        for (user, of) in [(&alice, "org-other"), (&bob, "org-acme")] {
            let refused = user.names(&faults, resource, of).unwrap_err().to_string();
            ensure!(refused.contains("forbidden"), "{resource}: {refused}");
        }
    }

    // The aggregated API: shared and own, with the name of the catalog in both scopes.
    let available = alice.names(&faults, AVAILABLE, "org-acme")?;
    for name in
        ["community.hello", "community.podinfo.organization", "sideloaded.side-acme.organization", "local.thing"]
    {
        ensure!(available.contains(&name.to_owned()), "{name}: {available:?}");
    }
    ensure!(!available.iter().any(|name| name.contains("side-other")), "{available:?}");
    ensure!(!available.contains(&"community.hello.organization".to_owned()), "{available:?}");
    let builtin = ["get", AVAILABLE, "--namespace=org-acme", "--selector=fitout.dev/builtin=true"];
    let table = alice.kubectl(&faults, &builtin)?;
    ensure!(table.starts_with("NAME") && table.contains("NEWEST") && table.contains("community.hello"), "{table}");
    ensure!(!table.contains("podinfo") && !table.contains("local.thing"), "{table}");
    let one =
        alice.kubectl(&faults, &["get", AVAILABLE, "community.hello", "--namespace=org-acme", "--output=json"])?;
    let one: Value = serde_json::from_str(&one)?;
    assert_eq!((&one["spec"]["scope"], &one["spec"]["extension"]), (&json!("Shared"), &json!("hello")));

    // The command line.
    let listed = alice.fitout(&["extension", "list"])?;
    for part in ["side-acme", "podinfo", "hello", "thing"] {
        ensure!(listed.contains(part), "{part}: {listed}");
    }
    ensure!(!listed.contains("side-other"), "{listed}");
    let listed = bob.fitout(&["extension", "list"])?;
    ensure!(listed.contains("side-other") && !listed.contains("side-acme") && !listed.contains("podinfo"), "{listed}");
    let builtin = alice.fitout(&["extension", "list", "--builtin"])?;
    ensure!(builtin.contains("hello") && !builtin.contains("thing") && !builtin.contains("podinfo"), "{builtin}");
    let catalogs = bob.fitout(&["catalog", "list"])?;
    assert_eq!(catalogs.matches("community").count(), 2, "{catalogs}");

    // The own catalog does not shadow the shared one: the scope decides, and the CLI asks where both offer the same.
    private_catalog_shadows_nothing(&faults, &alice)?;
    details(&faults, &alice, &bob)
}

fn private_catalog_shadows_nothing(faults: &Faults, alice: &User) -> Result<()> {
    let both = json!({ "spec": { "source": { "directory": { "embedded": "community" } } } });
    apply(&faults.hub, &object("fitout.dev/v1alpha1", "Catalog", "org-acme", "community", &both))?;
    until("both catalogs offer hello", LIMIT, || {
        let found = alice.names(faults, "extensions.fitout.dev", "org-acme")?;
        ensure!(found.contains(&"community.hello".to_owned()), "{found:?}");
        Ok(())
    })?;
    let ended = fitout(&alice.kubeconfig, Some("acme"), &["install", "hello", "--cluster", "c0"])?;
    assert_eq!(ended.code, 1, "{ended:?}");
    ensure!(ended.err.contains("choose with --scope shared or --scope organization"), "{ended:?}");
    // Only the shared catalog withdraws the version: an instance of the shared one sees it, and one of its own does not.
    let states = json!([{ "extension": "hello", "state": "Withdrawn", "note": "CVE-1" }]);
    let shared = json!({ "spec": { "source": { "directory": { "embedded": "community" } }, "states": states } });
    apply(&faults.hub, &object("fitout.dev/v1alpha1", "Catalog", "fitout-system", "community", &shared))?;
    let plan = |scope: &str| -> Result<String> {
        let words = ["install", "hello", "--cluster", "c0", "--scope", scope, "--dry-run"];
        let ended = fitout(&alice.kubeconfig, Some("acme"), &words)?;
        Ok(format!("{}{}", ended.out, ended.err))
    };
    until("the shared version is withdrawn", LIMIT, || {
        let shown = plan("shared")?;
        ensure!(shown.contains("withdrawn (CVE-1)"), "{shown}");
        Ok(())
    })?;
    let shown = plan("organization")?;
    ensure!(!shown.contains("withdrawn") && shown.contains("Deployment"), "{shown}");
    Ok(())
}

/// Requirements of a chart whose publisher declares none, and the changelog between two versions.
fn details(faults: &Faults, alice: &User, bob: &User) -> Result<()> {
    let folder = faults.hub.sandbox().dir().join("changing");
    for (version, changes) in [("1.0.0", "- first"), ("1.1.0", "- added: second"), ("1.2.0", "- fixed: third")] {
        let chart = folder.join("web").join(version).join("chart");
        fs::create_dir_all(chart.join("templates"))?;
        fs::write(chart.join("Chart.yaml"), format!("apiVersion: v2\nname: web\nversion: {version}\n"))?;
        let role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: { name: web }\nrules:\n  - { \
                    apiGroups: [\"\"], resources: [secrets], verbs: [get] }\n";
        fs::write(chart.join("templates/role.yaml"), role)?;
        let definition = format!(
            "apiVersion: fitout.dev/v1alpha1\nkind: ExtensionDefinition\nmetadata: {{ name: web }}\nspec:\n  extension: \
             web\n  version: {version}\n  helm: {{ chart: chart }}\n  changelog: CHANGELOG.md\n"
        );
        fs::write(folder.join("web").join(version).join("definition.yaml"), definition)?;
        fs::write(folder.join("web").join(version).join("CHANGELOG.md"), format!("{changes}\n"))?;
    }
    let source = json!({ "spec": { "source": { "directory": { "path": folder } } } });
    apply(&faults.hub, &object("fitout.dev/v1alpha1", "Catalog", "fitout-system", "changing", &source))?;
    until("web is offered", LIMIT, || {
        let listed = bob.fitout(&["extension", "list"])?;
        ensure!(listed.contains("changing"), "{listed}");
        Ok(())
    })?;
    let shown = bob.fitout(&["extension", "show", "web", "--version", "1.2.0", "--since", "1.0.0"])?;
    for part in [
        "Requirements, of what its chart renders",
        "writes to the namespaces web",
        "roles of rbac.authorization.k8s.io in web",
        "Changes in 1.2.0\n  - fixed: third",
        "Changes in 1.1.0\n  - added: second",
    ] {
        ensure!(shown.contains(part), "{part}: {shown}");
    }
    ensure!(!shown.contains("first"), "{shown}");
    let unknown = fitout(&bob.kubeconfig, Some("other"), &["extension", "show", "web", "--version", "9.0.0"])?;
    assert_eq!(unknown.code, 1);
    ensure!(unknown.err.contains("web has no version 9.0.0; the newest are 1.2.0, 1.1.0, 1.0.0"), "{unknown:?}");
    // Each source has a version that the other lacks.
    let source = |key: &str, version: &str| -> Result<Value> {
        let folder = faults.hub.sandbox().dir().join(key);
        fs::create_dir_all(folder.join("page").join(version))?;
        let definition = format!(
            "apiVersion: fitout.dev/v1alpha1\nkind: ExtensionDefinition\nmetadata: {{ name: page }}\nspec:\n  extension: \
             page\n  version: {version}\n  manifests: {{ path: m }}\n"
        );
        fs::write(folder.join("page").join(version).join("definition.yaml"), definition)?;
        Ok(json!({ "directory": { "path": folder } }))
    };
    let sources = json!({ "1.35": source("1.35", "1.0.0")?, "1.36": source("1.36", "2.0.0")? });
    let keyed = json!({ "spec": { "sources": sources } });
    apply(&faults.hub, &object("fitout.dev/v1alpha1", "Catalog", "fitout-system", "keyed", &keyed))?;
    until("page is offered", LIMIT, || {
        let listed = bob.fitout(&["extension", "list"])?;
        ensure!(listed.contains("keyed"), "{listed}");
        Ok(())
    })?;
    for version in ["1.0.0", "2.0.0"] {
        let shown = bob.fitout(&["extension", "show", "page", "--version", version])?;
        ensure!(shown.starts_with(&format!("page {version}\n")), "{shown}");
    }
    // An organization's details are its own.
    let spec = json!({ "extension": { "name": "side-acme", "catalog": "sideloaded", "scope": "Organization" } });
    let request = json!({ "apiVersion": "compute.fitout.dev/v1alpha1", "kind": "ExtensionDetails", "spec": spec });
    let create = |user: &User, namespace: &str| {
        let kubectl = faults.hub.kubectl().with_kubeconfig(&user.kubeconfig);
        let words = ["create", "--namespace", namespace, "--output=json", "--filename=-"];
        kubectl.run_with_input(&words, &request.to_string())
    };
    let own: Value = serde_json::from_str(&create(alice, "org-acme")?)?;
    assert_eq!(own["status"]["version"], "1.0.0", "{own}");
    ensure!(create(bob, "org-acme").unwrap_err().to_string().contains("forbidden"), "bob sees details of acme");
    ensure!(create(bob, "org-other").unwrap_err().to_string().contains("does not offer side-acme"), "it is not found");
    Ok(())
}
