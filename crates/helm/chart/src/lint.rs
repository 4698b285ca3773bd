//! What is wrong with a chart, or will be.

use std::rc::Rc;

use fitout_go_template::Map;
use fitout_helm_functions::Environment;
use fitout_helm_ranges::{Range, Version};

use crate::manifest::{self, Head};
use crate::render::{self, Capabilities, Error, Options};
use crate::values::{self, Release};
use crate::{Chart, Warnings, dependencies};

/// How bad something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The chart does not work.
    Error,
    /// It works here, and may not elsewhere.
    Warning,
    /// It could be better.
    Advice,
}

/// Something that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionUpdate {
    /// How bad it is.
    pub severity: Severity,
    /// The file it is about, within the chart.
    pub path: String,
    /// What it is, and what to do about it.
    pub message: String,
    /// The error of a template, with its place.
    pub error: Option<Error>,
}

struct Findings(Vec<ConditionUpdate>);

impl Findings {
    fn add(&mut self, severity: Severity, path: &str, message: impl Into<String>) {
        self.0.push(ConditionUpdate { severity, path: path.to_owned(), message: message.into(), error: None });
    }

    fn check(&mut self, good: bool, severity: Severity, path: &str, message: &str) {
        if !good {
            self.add(severity, path, message);
        }
    }
}

const METADATA: &str = "Chart.yaml";

/// Looks at all of a chart, rendered with these values.
pub fn lint(
    chart: &Chart,
    given: &Map,
    release: &Release,
    capabilities: &Capabilities,
    world: &Rc<dyn Environment>,
) -> Vec<ConditionUpdate> {
    let mut findings = Findings(Vec::new());
    metadata(chart, &mut findings);
    if let Err(missing) = dependencies::check(chart) {
        findings.add(Severity::Error, "charts/", missing);
    }
    findings.check(
        chart.raw.iter().any(|file| &*file.name == "values.yaml"),
        Severity::Advice,
        "values.yaml",
        "there is none",
    );
    if chart.templates.is_empty() && !chart.is_library() {
        findings.add(Severity::Warning, "templates/", "there are no templates");
    }
    templates(chart, &mut findings);
    if findings.0.iter().all(|finding| finding.severity != Severity::Error) {
        rendered(chart.clone(), given, release, capabilities, world, &mut findings);
    }
    findings.0
}

fn metadata(chart: &Chart, findings: &mut Findings) {
    let metadata = &chart.metadata;
    match Version::parse_strict(&metadata.version) {
        Ok(_) => {}
        Err(_) if Version::parse(&metadata.version).is_ok() => {
            let message =
                format!("version {:?} is not three numbers with dots: registries want that", metadata.version);
            findings.add(Severity::Warning, METADATA, message);
        }
        Err(error) => findings.add(Severity::Error, METADATA, format!("version {:?}: {error}", metadata.version)),
    }
    if !metadata.kube_version.is_empty()
        && let Err(error) = Range::parse(&metadata.kube_version)
    {
        findings.add(Severity::Error, METADATA, format!("kubeVersion {:?}: {error}", metadata.kube_version));
    }
    findings.check(!metadata.icon.is_empty(), Severity::Advice, METADATA, "icon is recommended");
    findings.check(!metadata.deprecated, Severity::Advice, METADATA, "the chart says that it is deprecated");
    for maintainer in metadata.maintainers.iter().filter(|maintainer| maintainer.name.is_empty()) {
        findings.add(Severity::Error, METADATA, format!("maintainer {:?} has no name", maintainer.email));
    }
    for dependency in metadata.dependencies.iter().flatten() {
        if !dependency.version.is_empty()
            && let Err(error) = Range::parse(&dependency.version)
        {
            let message = format!("dependency {}: version {:?}: {error}", dependency.name, dependency.version);
            findings.add(Severity::Error, METADATA, message);
        }
    }
}

fn templates(chart: &Chart, findings: &mut Findings) {
    for template in &*chart.templates {
        let known = [".yaml", ".yml", ".tpl", ".txt"].iter().any(|end| template.name.ends_with(end));
        let message = "the name does not end with .yaml, .yml, .tpl or .txt";
        findings.check(known, Severity::Error, &template.name, message);
    }
}

fn rendered(
    mut chart: Chart,
    given: &Map,
    release: &Release,
    capabilities: &Capabilities,
    world: &Rc<dyn Environment>,
    findings: &mut Findings,
) {
    let mut warnings = Warnings::new();
    let options = Options { lint: true, ..Options::default() };
    let files = dependencies::process(&mut chart, given, &mut warnings).and_then(|()| {
        values::render_values(&chart, given, release, capabilities.value(), options.schemas, &mut warnings)
    });
    for warning in warnings {
        findings.add(Severity::Warning, "values.yaml", warning);
    }
    let top = match files {
        Ok(top) => top,
        Err(error) => return findings.add(Severity::Error, "values.yaml", error.to_string()),
    };
    let files = match render::render(&chart, &top, world, &options) {
        Ok(files) => files,
        Err(error) => {
            let message = error.message.clone();
            return findings.0.push(ConditionUpdate {
                severity: Severity::Error,
                path: "templates/".to_owned(),
                message,
                error: Some(error),
            });
        }
    };
    for (path, text) in files.iter().filter(|(path, _)| !path.ends_with("NOTES.txt")) {
        let shown = path.split_once('/').map_or(path.as_str(), |(_, rest)| rest);
        let text = text.to_str();
        let first = text.lines().find(|line| !line.trim().is_empty());
        findings.check(
            first.is_none_or(|line| !line.starts_with([' ', '\t'])),
            Severity::Warning,
            shown,
            "what is rendered begins with spaces, which may be read in another way than it is meant",
        );
        for document in manifest::documents(&text) {
            match Head::read(document) {
                Ok(head) => object(&head, document, shown, findings),
                Err(why) => findings.add(Severity::Error, shown, format!("what is rendered is no object: {why}")),
            }
        }
    }
}

fn object(head: &Head, document: &str, path: &str, findings: &mut Findings) {
    // Nothing but a comment.
    if *head == Head::default() {
        return;
    }
    let Head { api_version, kind, name, annotations } = head;
    findings.check(!api_version.is_empty(), Severity::Error, path, &format!("{kind} {name} has no apiVersion"));
    findings.check(!kind.is_empty(), Severity::Error, path, &format!("{name:?} has no kind"));
    let rbac = ["Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"].contains(&kind.as_str());
    let named = if rbac { !name.contains(['/', '%']) } else { is_subdomain(name) };
    if !kind.ends_with("List") {
        let message = format!("{kind} {name:?}: the name is not one that Kubernetes takes");
        findings.check(named && !name.is_empty(), Severity::Warning, path, &message);
    }
    if let Some(events) = annotations.get("helm.sh/hook") {
        let message =
            format!("{kind} {name} is a hook of {events:?}: one of these is no event, so it is never applied");
        findings.check(manifest::events(events).is_some(), Severity::Warning, path, &message);
    }
    if ["Deployment", "ReplicaSet", "DaemonSet", "StatefulSet"].contains(&kind.as_str()) {
        let selects = document.contains("matchLabels") || document.contains("matchExpressions");
        findings.check(selects, Severity::Error, path, &format!("{kind} {name} has no selector"));
    }
}

/// A name as most kinds have it: letters, digits, dashes and dots.
fn is_subdomain(name: &str) -> bool {
    let part = |part: &str| {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        part.starts_with(plain) && part.ends_with(plain) && part.chars().all(|c| plain(c) || c == '-')
    };
    name.len() <= 253 && name.split('.').all(part)
}
