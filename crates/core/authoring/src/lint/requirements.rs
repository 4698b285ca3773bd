//! The requirements: all that is used is declared, and nothing else.

use std::collections::BTreeSet;

use fitout_model::{AccessRule, Requirements, Webhook, WebhookKind};

use super::Report;
use crate::access::{describe, uncovered};
use crate::derive::kinds;
use crate::footprint::{Footprint, is_pinned, registry, without_tag};

pub(super) fn check(report: &mut Report, footprint: &Footprint) {
    let requirements = report.definition().requirements.clone().unwrap_or_default();
    namespaces(report, footprint, &requirements);
    workloads(report, footprint, &requirements);
    access(report, footprint, &requirements);
    webhooks(report, footprint, &requirements);
    images(report, footprint, &requirements);
    dependencies(report, footprint);
}

fn namespaces(report: &mut Report, footprint: &Footprint, requirements: &Requirements) {
    const FIELD: &str = "spec.requirements.namespaces";
    let declared: BTreeSet<String> = requirements.namespaces.iter().cloned().collect();
    for namespace in footprint.namespaces.difference(&declared) {
        report.error(FIELD, format!("it writes to namespace {namespace}, which is not declared"), "add it");
    }
    for namespace in declared.difference(&footprint.namespaces) {
        report.warning(FIELD, format!("it does not write to namespace {namespace}"), "remove it");
    }
}

fn workloads(report: &mut Report, footprint: &Footprint, requirements: &Requirements) {
    let rows = [
        (
            "privileged",
            requirements.privileged,
            &footprint.privileged,
            "it has privileged pods",
            "it has no privileged pod",
        ),
        (
            "kubeSystemDeployment",
            requirements.kube_system_deployment,
            &footprint.kube_system,
            "it has workloads in kube-system",
            "it has no workload in kube-system",
        ),
    ];
    for (name, is_declared, found, used, unused) in rows {
        let field = format!("spec.requirements.{name}");
        match (is_declared, found.is_empty()) {
            (false, false) => {
                report.error(&field, format!("{used}, which is not declared: {}", some(found)), "set it to true");
            }
            (true, true) => report.warning(&field, unused.to_owned(), "remove it"),
            _ => {}
        }
    }
    for capability in &footprint.capabilities {
        if !requirements.capabilities.iter().any(|declared| declared == capability) {
            let message = format!("it needs {capability}, which is not declared");
            report.warning("spec.requirements.capabilities", message, "add it, so that users are warned");
        }
    }
}

fn access(report: &mut Report, footprint: &Footprint, requirements: &Requirements) {
    const INSTALLER: &str = "spec.requirements.installer";
    const GRANTS: &str = "spec.requirements.grants";
    if requirements.installer.is_empty() && !footprint.installer.is_empty() {
        let message = "it does not declare the permissions that are needed to install it".to_owned();
        report.warning(INSTALLER, message, "add the rules: `fitout extension derive` writes them for a chart");
    } else {
        let (used, declared) = (&footprint.installer, &requirements.installer);
        for rule in &uncovered(used, declared) {
            report.error(
                INSTALLER,
                format!("installing it needs an undeclared permission: {}", describe(rule)),
                "add it",
            );
        }
        for rule in &uncovered(declared, used) {
            report.warning(INSTALLER, format!("installing it does not need {}", describe(rule)), "remove it");
        }
    }
    let declared: &[AccessRule] = &requirements.grants;
    for rule in &uncovered(&footprint.grants, declared) {
        report.error(GRANTS, format!("its roles grant an undeclared permission: {}", describe(rule)), "add it");
    }
    for role in &footprint.unknown_roles {
        let message = format!("it binds {role}, whose rules are unknown because it is not part of it");
        report.warning(GRANTS, message, "make sure that the rules of that role are declared");
    }
    // The rules of an unknown role may be any.
    if footprint.unknown_roles.is_empty() {
        for rule in &uncovered(declared, &footprint.grants) {
            report.warning(GRANTS, format!("none of its bound roles grants {}", describe(rule)), "remove it");
        }
    }
}

fn webhooks(report: &mut Report, footprint: &Footprint, requirements: &Requirements) {
    const FIELD: &str = "spec.requirements.webhooks";
    let name = |webhook: &Webhook| {
        let kind = if webhook.kind == WebhookKind::Mutating { "mutating" } else { "validating" };
        format!("{kind} webhook {}", webhook.name)
    };
    for webhook in footprint.webhooks.iter().filter(|webhook| !requirements.webhooks.contains(webhook)) {
        let message = format!("the {} with its rules is not declared", name(webhook));
        report.error(FIELD, message, "declare it with the API groups, resources and operations of its rules");
    }
    for webhook in requirements.webhooks.iter().filter(|webhook| !footprint.webhooks.contains(webhook)) {
        report.warning(
            FIELD,
            format!("it has no {} with these rules", name(webhook)),
            "remove it, or correct its rules",
        );
    }
}

fn images(report: &mut Report, footprint: &Footprint, requirements: &Requirements) {
    const REGISTRIES: &str = "spec.requirements.registries";
    const IMAGES: &str = "spec.images";
    let contains = |declared: &str, registry: &str| {
        registry.strip_prefix(declared).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let used = footprint.registries();
    for registry in used.iter().filter(|used| !requirements.registries.iter().any(|declared| contains(declared, used)))
    {
        let image = footprint.images.iter().find(|image| self::registry(image) == *registry);
        let image = image.map_or("", String::as_str);
        report.error(REGISTRIES, format!("registry {registry} of image {image} is not declared"), "add it");
    }
    for declared in requirements.registries.iter().filter(|declared| !used.iter().any(|used| contains(declared, used)))
    {
        report.warning(REGISTRIES, format!("none of its images is from {declared}"), "remove it");
    }
    let pinned = |images: &[String]| -> BTreeSet<String> {
        images.iter().filter(|image| is_pinned(image)).map(|image| without_tag(image)).collect()
    };
    let declared = pinned(&report.definition().images);
    let used = pinned(&footprint.images.iter().cloned().collect::<Vec<_>>());
    if !declared.is_empty() {
        for image in used.difference(&declared) {
            report.error(IMAGES, format!("image {image} is not declared"), "add it");
        }
    }
    for image in declared.difference(&used) {
        report.warning(IMAGES, format!("it does not use image {image}"), "remove it");
    }
}

fn dependencies(report: &mut Report, footprint: &Footprint) {
    if !footprint.foreign.is_empty() && report.definition().dependencies.is_empty() {
        let message = format!(
            "it has objects of kinds that neither Kubernetes nor it defines, and depends on no extension: {}",
            kinds(&footprint.foreign)
        );
        report.warning("spec.dependencies", message, "name the extension that defines them");
    }
}

/// The first few of a list.
fn some(all: &BTreeSet<String>) -> String {
    const SHOWN: usize = 3;
    let shown: Vec<&str> = all.iter().take(SHOWN).map(String::as_str).collect();
    let more = all.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}
