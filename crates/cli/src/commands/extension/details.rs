//! The details of one version of an extension, which the hub computes: requirements and changelog.

use std::fmt::Write;

use fitout_api::{
    Extension, ExtensionDetails, ExtensionDetailsSpec, ExtensionDetailsStatus, ExtensionReference, Scope,
};
use fitout_model::{AccessRule, Definition, InternetAccess, Reach, Requirements, Webhook, WebhookKind};
use kube::ResourceExt;
use kube::api::{ObjectMeta, PostParams};

use crate::connection::{SHARED, Session};
use crate::failure::{Failure, refused};
use crate::output::Paint;
use crate::plans::unserved;

/// The version whose details are shown, and where its changelog begins.
pub(super) struct Request<'a> {
    pub(super) version: Option<&'a str>,
    pub(super) since: Option<&'a str>,
}

/// Asks the hub for the details of a version.
pub(super) async fn ask(
    session: &Session,
    extension: &Extension,
    request: &Request<'_>,
) -> Result<ExtensionDetails, Failure> {
    let is_shared = extension.namespace().as_deref() == Some(SHARED);
    let spec = ExtensionDetailsSpec {
        extension: ExtensionReference {
            name: extension.spec.extension.clone(),
            catalog: extension.spec.catalog.clone(),
            scope: if is_shared { Scope::Shared } else { Scope::Organization },
        },
        version: request.version.map(str::to_owned),
        key: None,
        since: request.since.map(str::to_owned),
    };
    let details = ExtensionDetails { metadata: ObjectMeta::default(), spec, status: None };
    match session.own::<ExtensionDetails>().create(&PostParams::default(), &details).await {
        Ok(details) => Ok(details),
        Err(kube::Error::Api(status)) if unserved(&status) => {
            let hint = "run it with --api-address, and register its API";
            Err(Failure::new("the hub serves no details of extensions").hint(hint))
        }
        Err(error) => Err(refused(&format!("read the details of {}", extension.spec.extension), &error)),
    }
}

/// The details as text.
pub(super) fn describe(details: &ExtensionDetails, paint: Paint) -> String {
    let ExtensionDetailsStatus { version, definition, derived, notes, changelog, .. } =
        details.status.clone().unwrap_or_default();
    let name = &details.spec.extension.name;
    let mut text = format!("{name} {version}\n");
    if let Some(definition) = &definition {
        text += &facts(definition);
        text += "\nRequirements";
        text += if derived { ", of what its chart renders with its own values\n" } else { "\n" };
        let lines = definition.requirements.as_ref().map(requirements).unwrap_or_default();
        for line in &lines {
            let _ = writeln!(text, "  {line}");
        }
        if lines.is_empty() {
            text += "  none\n";
        }
    }
    for note in &notes {
        let _ = writeln!(text, "{} {note}", paint.cyan("note:"));
    }
    for changes in &changelog {
        let _ = write!(text, "\nChanges in {}\n", changes.version);
        for line in changes.text.lines() {
            let _ = writeln!(text, "{}", format!("  {line}").trim_end());
        }
    }
    if changelog.is_empty() && details.spec.since.is_some() {
        text += "\nits publisher gives no changelog for these versions\n";
    }
    text
}

fn facts(definition: &Definition) -> String {
    let dependencies = definition.dependencies.iter().map(|dependency| {
        let version = dependency.version.as_ref().map_or_else(String::new, |version| format!(" {version}"));
        format!("{}{version}{}", dependency.name, if dependency.optional { " (optional)" } else { "" })
    });
    let dependencies = dependencies.collect::<Vec<_>>().join(", ");
    let rows = [
        ("Summary", definition.summary.clone().unwrap_or_default()),
        ("Kubernetes", definition.kubernetes.clone().unwrap_or_else(|| "any".to_owned())),
        ("Application", definition.app_version.clone().unwrap_or_default()),
        ("License", definition.license.clone().unwrap_or_default()),
        ("Depends on", dependencies),
        ("Provides", definition.provides.join(", ")),
    ];
    let mut lines = String::new();
    for (name, text) in rows.into_iter().filter(|(_, text)| !text.is_empty()) {
        let _ = writeln!(lines, "  {name:<12} {text}");
    }
    lines
}

/// A line for each kind of requirement.
fn requirements(requirements: &Requirements) -> Vec<String> {
    let mut lines = vec![];
    if requirements.privileged {
        lines.push("privileged pods".to_owned());
    }
    if requirements.kube_system_deployment {
        lines.push("workloads in kube-system".to_owned());
    }
    if let Some(InternetAccess { to, hosts }) = &requirements.internet_access {
        lines.push(match to {
            Reach::None => "no access to the internet".to_owned(),
            Reach::Hosts => format!("access to {}", hosts.join(", ")),
            Reach::Any => "access to any host of the internet".to_owned(),
        });
    }
    let mut list = |what: &str, names: &[String]| {
        if !names.is_empty() {
            lines.push(format!("{what} {}", names.join(", ")));
        }
    };
    list("cluster capabilities:", &requirements.capabilities);
    list("writes to the namespaces", &requirements.namespaces);
    list("images from", &requirements.registries);
    list("platform data:", &requirements.platform_data);
    for Webhook { name, kind, .. } in &requirements.webhooks {
        let act = match kind {
            WebhookKind::Validating => "may reject requests",
            WebhookKind::Mutating => "may change objects",
        };
        lines.push(format!("webhook {name}, which {act}"));
    }
    lines.extend(requirements.grants.iter().map(|rule| format!("its workloads may {}", allowed(rule))));
    lines.extend(requirements.installer.iter().map(|rule| format!("its installation may {}", allowed(rule))));
    lines
}

/// A rule in words: `get, list secrets in web`.
fn allowed(rule: &AccessRule) -> String {
    let verbs =
        if rule.verbs.iter().any(|verb| verb == "*") { "do anything with".to_owned() } else { rule.verbs.join(", ") };
    if !rule.non_resource_urls.is_empty() {
        return format!("{verbs} {}", rule.non_resource_urls.join(", "));
    }
    let groups: Vec<&str> = rule.api_groups.iter().map(String::as_str).filter(|group| !group.is_empty()).collect();
    let mut text = format!("{verbs} {}", rule.resources.join(", ").replace('*', "every resource"));
    if !groups.is_empty() {
        let _ = write!(text, " of {}", groups.join(", ").replace('*', "every API group"));
    }
    if !rule.resource_names.is_empty() {
        let _ = write!(text, " named {}", rule.resource_names.join(", "));
    }
    match rule.namespaces.as_slice() {
        [] => text + " in the whole cluster",
        namespaces => format!("{text} in {}", namespaces.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::json;

    use super::*;

    #[test]
    fn requirements_and_changes_of_a_version() {
        let details: ExtensionDetails = serde_json::from_value(json!({
            "apiVersion": "compute.fitout.dev/v1alpha1", "kind": "ExtensionDetails", "metadata": {},
            "spec": { "extension": { "name": "web", "catalog": "apps" }, "since": "1.0.0" },
            "status": {
                "version": "1.2.0", "derived": true, "notes": ["no chart shows which hosts it connects to"],
                "definition": {
                    "extension": "web", "version": "1.2.0", "summary": "A page", "kubernetes": ">=1.30",
                    "manifests": { "path": "m" },
                    "dependencies": [{ "name": "storage", "version": ">=1.4" }, { "name": "gateway", "optional": true }],
                    "requirements": {
                        "privileged": true, "namespaces": ["web"], "registries": ["quay.io/web"],
                        "internetAccess": { "to": "Hosts", "hosts": ["example.com:443"] },
                        "webhooks": [{ "name": "check", "kind": "Validating" }],
                        "grants": [{ "apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list"] }],
                        "installer": [{ "apiGroups": ["apps"], "resources": ["*"], "verbs": ["*"], "namespaces": ["web"] }],
                    },
                },
                "changelog": [{ "version": "1.2.0", "text": "- faster\n\n- safer" }, { "version": "1.1.0", "text": "- new" }],
            },
        }))
        .unwrap();
        assert_snapshot!(describe(&details, Paint::new(false)), @r"
        web 1.2.0
          Summary      A page
          Kubernetes   >=1.30
          Depends on   storage >=1.4, gateway (optional)

        Requirements, of what its chart renders with its own values
          privileged pods
          access to example.com:443
          writes to the namespaces web
          images from quay.io/web
          webhook check, which may reject requests
          its workloads may get, list secrets in the whole cluster
          its installation may do anything with every resource of apps in web
        note: no chart shows which hosts it connects to

        Changes in 1.2.0
          - faster

          - safer

        Changes in 1.1.0
          - new
        ");
        let mut none = details;
        none.status = Some(ExtensionDetailsStatus { version: "1.2.0".to_owned(), ..ExtensionDetailsStatus::default() });
        assert_snapshot!(describe(&none, Paint::new(false)), @r"
        web 1.2.0

        its publisher gives no changelog for these versions
        ");
    }
}
