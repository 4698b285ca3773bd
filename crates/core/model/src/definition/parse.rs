//! Parsing a definition strictly.

use serde::Deserialize;
use serde_json::Value;

use super::{Definition, shape};
use crate::{Problem, nearest};

const API_VERSION: &str = "fitout.dev/v1alpha1";
const KIND: &str = "ExtensionDefinition";

/// Parses a definition strictly: an unknown field is a problem, with a suggestion, and so is everything that the API server
/// would reject.
pub fn parse_definition(document: &Value) -> Result<Definition, Problem> {
    for (field, expected) in [("apiVersion", API_VERSION), ("kind", KIND)] {
        if document[field].is_null() {
            return Err(Problem { hint: Some(format!("add `{field}: {expected}`")), ..missing(field) });
        }
        if document[field] != expected {
            let message = format!("expected {expected}, found {}", document[field]);
            return Err(Problem { field: field.to_owned(), message, hint: Some("correct it".to_owned()) });
        }
    }
    shape::check(document)?;
    if document["spec"].is_null() {
        return Err(missing("spec"));
    }
    deserialize("spec", &document["spec"])
}

/// Deserializes the value of a field.
pub(crate) fn deserialize<'v, T: Deserialize<'v>>(field: &str, value: &'v Value) -> Result<T, Problem> {
    serde_path_to_error::deserialize(value).map_err(|error| from_serde(field, &error))
}

fn missing(field: &str) -> Problem {
    Problem { field: field.to_owned(), message: "it is missing".to_owned(), hint: Some("add it".to_owned()) }
}

/// Turns an error of serde into a problem. `serde_json` has no error codes, so its message is parsed.
fn from_serde(field: &str, error: &serde_path_to_error::Error<serde_json::Error>) -> Problem {
    let path = error.path().to_string();
    let field = match path.as_str() {
        "." => field.to_owned(),
        path if path.starts_with('[') => format!("{field}{path}"),
        path => format!("{field}.{path}"),
    };
    let message = error.inner().to_string();
    let parts: Vec<&str> = message.split('`').collect();
    match parts[..] {
        ["missing field ", name, ..] => missing(&format!("{field}.{name}")),
        ["unknown variant ", variant, _, ref rest @ ..] => {
            let known: Vec<&str> = rest.iter().copied().step_by(2).collect();
            let hint = nearest(variant, known.iter().copied()).map_or_else(
                || format!("expected one of {}", known.join(", ")),
                |meant| format!("did you mean `{meant}`?"),
            );
            Problem { field, message: format!("unknown value `{variant}`"), hint: Some(hint) }
        }
        _ => Problem { field, message, hint: None },
    }
}

#[cfg(test)]
mod tests {
    use semver::Version;
    use serde_json::json;

    use super::*;
    use crate::{Engine, Lifecycle, Reach};

    fn document(spec: &Value) -> Value {
        json!({ "apiVersion": API_VERSION, "kind": KIND, "metadata": { "name": "x" }, "spec": spec })
    }

    /// A minimal definition, with these fields merged into it.
    fn with(fields: &Value) -> Value {
        let mut spec = json!({ "extension": "web", "version": "1.2.0", "manifests": { "path": "m" } });
        crate::coalesce(&mut spec, fields);
        document(&spec)
    }

    fn problem(document: &Value) -> String {
        parse_definition(document).unwrap_err().to_string()
    }

    #[test]
    fn a_small_definition_is_read() {
        let definition = parse_definition(&with(&json!({}))).unwrap();
        assert_eq!(definition.version, Version::new(1, 2, 0));
        assert!(!definition.bootstrap);
        assert!(matches!(definition.engine(), Some(Engine::Manifests(manifests)) if manifests.path == "m"));
    }

    #[test]
    fn every_field_is_read_and_written_back() {
        let digest = format!("sha256:{}", "0".repeat(64));
        let rights = json!([{ "apiGroups": ["cert-manager.io"], "resources": ["certificates"], "verbs": ["get"] }]);
        let spec = json!({
            "extension": "cert-manager",
            "version": "1.21.2",
            "upgradeFrom": ">=1.19 <1.22",
            "appVersion": "v1.21.2",
            "displayName": "cert-manager",
            "summary": "X.509 certificates for workloads",
            "publisher": "jetstack",
            "logo": "logo.svg",
            "description": "description.md",
            "license": "Apache-2.0",
            "links": [{ "name": "Documentation", "url": "https://cert-manager.example/docs" }],
            "categories": ["security"],
            "changelog": "changelog.md",
            "lifecycle": "Native",
            "kubernetes": ">=1.33 <1.37",
            "platform": ">=0.1",
            "singleton": true,
            "bootstrap": true,
            "requirements": {
                "internetAccess": { "to": "Hosts", "hosts": ["acme-v02.api.letsencrypt.org:443"] },
                "kubeSystemDeployment": true,
                "privileged": true,
                "capabilities": ["storageClass"],
                "namespaces": ["cert-manager"],
                "installer": rights,
                "grants": [{ "nonResourceURLs": ["/metrics"], "verbs": ["get"], "namespaces": ["cert-manager"] }],
                "webhooks": [{
                    "name": "webhook.cert-manager.io",
                    "kind": "Validating",
                    "rules": [{ "apiGroups": ["cert-manager.io"], "resources": ["*/*"], "operations": ["CREATE"] }],
                }],
                "platformData": ["cluster.users.sshKeys"],
                "registries": ["quay.io/jetstack"],
            },
            "dependencies": [{ "name": "storage", "version": ">=1.4 <2" }, { "name": "gateway", "optional": true }],
            "provides": ["certificates"],
            "conflicts": [{ "name": "old-cert-manager", "version": "<1" }],
            "suggests": ["observability"],
            "parameters": "values.schema.json",
            "configuration": { "crd": "certmanagers.operator.example" },
            "helm": {
                "chart": "cert-manager",
                "version": "v1.21.2",
                "repository": "https://charts.example",
                "digest": digest,
                "values": { "crds": { "enabled": true }, "replicaCount": null },
            },
            "operands": [{ "apiVersion": "cert-manager.io/v1", "kind": "ClusterIssuer", "metadata": { "name": "a" } }],
            "images": [format!("quay.io/jetstack/cert-manager-controller@{digest}")],
            "roles": [{ "name": "editor", "displayName": "CertManager Editor", "rules": rights }],
            "menu": { "cluster": [{ "crd": "clusterissuers.cert-manager.io", "list": true, "edit": false }] },
            "pages": { "overview": { "title": "Certificates" } },
        });
        let definition = parse_definition(&document(&spec)).unwrap();
        assert_eq!(serde_json::to_value(&definition).unwrap(), spec);
        assert_eq!(definition.lifecycle, Lifecycle::Native);
        assert_eq!(definition.requirements.unwrap().internet_access.unwrap().to, Reach::Hosts);
    }

    #[test]
    fn each_engine_is_read() {
        let image = format!("quay.io/a@sha256:{}", "0".repeat(64));
        let rows = [
            ("helm", json!({ "chart": "charts/web" })),
            ("olm", json!({ "package": "etcd", "channel": "alpha", "index": "quay.io/index:latest" })),
            ("runtime", json!({ "image": image })),
        ];
        for (engine, content) in rows {
            let document = with(&json!({ "manifests": null, engine: content }));
            let definition = parse_definition(&document).unwrap();
            assert_eq!(serde_json::to_value(&definition).unwrap()[engine], content);
        }
    }

    #[test]
    fn an_unknown_field_is_named_at_every_depth() {
        let rows = [
            (json!({ "kubernets": ">=1.33" }), "spec.kubernets", "did you mean `kubernetes`?"),
            (json!({ "manifests": { "pth": "m" } }), "spec.manifests.pth", "did you mean `path`?"),
            (
                json!({ "requirements": { "internetAcess": {} } }),
                "spec.requirements.internetAcess",
                "did you mean `internetAccess`?",
            ),
            (
                json!({ "requirements": { "internetAccess": { "to": "None", "host": [] } } }),
                "spec.requirements.internetAccess.host",
                "did you mean `hosts`?",
            ),
            (
                json!({ "roles": [{ "name": "a", "rules": [{ "verbs": ["get"], "colour": 1 }] }] }),
                "spec.roles[0].rules[0].colour",
                "remove it",
            ),
            // It has no engine either, but that is not the mistake.
            (json!({ "manifests": null, "manifest": { "path": "m" } }), "spec.manifest", "did you mean `manifests`?"),
        ];
        for (fields, field, hint) in rows {
            assert_eq!(problem(&with(&fields)), format!("{field}: unknown field; {hint}"));
        }
    }

    #[test]
    fn problems_name_the_field_and_the_remedy() {
        let rows = [
            (with(&json!({ "extension": null })), "spec.extension: it is missing; add it"),
            (with(&json!({ "roles": [{ "name": "a" }] })), "spec.roles[0].rules: it is missing; add it"),
            (with(&json!({ "bootstrap": "yes" })), "spec.bootstrap: invalid type: string \"yes\", expected a boolean"),
            (with(&json!({ "lifecycle": "Nativ" })), "spec.lifecycle: unknown value `Nativ`; did you mean `Native`?"),
            (
                with(&json!({ "requirements": { "internetAccess": { "to": "Everywhere" } } })),
                "spec.requirements.internetAccess.to: unknown value `Everywhere`; expected one of None, Hosts, Any",
            ),
        ];
        for (document, expected) in rows {
            assert_eq!(problem(&document), expected);
        }
    }

    #[test]
    fn rules_of_the_api_server_apply_with_the_same_messages() {
        let rows = [
            (json!({ "extension": "The Web" }), "spec.extension: the name of an extension has lowercase letters"),
            (json!({ "version": "1.2" }), "spec.version: a version has three numbers, as SemVer asks for"),
            (json!({ "kubernetes": "latest" }), "spec.kubernetes: a range of versions is expected"),
            (json!({ "upgradeFrom": "> 1 and < 2" }), "spec.upgradeFrom: a range of versions is expected"),
            (json!({ "dependencies": [{ "name": "a", "version": "" }] }), "spec.dependencies[0].version: a range of"),
            (json!({ "platform": ">=0.1" }), "spec: 'platform' is for native extensions"),
            (json!({ "logo": "/etc/passwd" }), "spec.logo: a file is named by its path within"),
            (json!({ "manifests": { "path": "m/.." } }), "spec.manifests.path: a file is named by its path within"),
            (json!({ "helm": { "chart": "web" } }), "spec: a definition has exactly one engine"),
            (json!({ "manifests": null }), "spec: a definition has exactly one engine"),
            (json!({ "images": ["web:v1"] }), "spec.images: an image is named with its digest"),
            (
                json!({ "requirements": { "internetAccess": { "to": "Hosts", "hosts": [] } } }),
                "spec.requirements.internetAccess: 'hosts' is given when, and only when, 'to' is Hosts",
            ),
            (
                json!({ "requirements": { "grants": [{ "verbs": ["get"] }] } }),
                "spec.requirements.grants[0]: a rule names either 'resources' or 'nonResourceURLs'",
            ),
            (json!({ "summary": "a".repeat(513) }), "spec.summary: it has 513 characters, and 512 is the limit"),
            (json!({ "suggests": vec!["a"; 65] }), "spec.suggests: it has 65 entries, and 64 is the limit"),
            (json!({ "manifests": { "path": "" } }), "spec.manifests.path: it is empty; fill it in"),
        ];
        for (fields, expected) in rows {
            let problem = problem(&with(&fields));
            assert!(problem.starts_with(expected), "{problem}");
        }
    }

    #[test]
    fn another_kind_or_a_missing_spec_is_rejected() {
        let rows = [
            (
                json!({ "apiVersion": "v1", "kind": "ConfigMap" }),
                "apiVersion: expected fitout.dev/v1alpha1, found \"v1\"; correct it",
            ),
            (
                json!({ "apiVersion": API_VERSION, "kind": "Extension" }),
                "kind: expected ExtensionDefinition, found \"Extension\"; correct it",
            ),
            (
                json!({ "apiVersion": API_VERSION, "kind": KIND, "sepc": {} }),
                "sepc: unknown field; did you mean `spec`?",
            ),
            (json!({ "apiVersion": API_VERSION, "kind": KIND }), "spec: it is missing; add it"),
            (json!({ "apiVersion": API_VERSION }), "kind: it is missing; add `kind: ExtensionDefinition`"),
            (json!(null), "apiVersion: it is missing; add `apiVersion: fitout.dev/v1alpha1`"),
        ];
        for (document, expected) in rows {
            assert_eq!(problem(&document), expected);
        }
    }
}
