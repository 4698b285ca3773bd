//! Roles and menu entries: they name kinds that exist.

use fitout_model::{Scope, nearest};

use super::Report;
use crate::footprint::Footprint;
use crate::kubernetes::is_builtin_group;

pub(super) fn check(report: &mut Report, footprint: &Footprint) {
    let definition = report.definition();
    for (index, role) in definition.roles.iter().enumerate() {
        for (at, rule) in role.rules.iter().enumerate() {
            let groups = rule.api_groups.iter().filter(|group| *group != "*" && !is_builtin_group(group));
            for group in groups {
                let of_group = || footprint.crds.values().filter(move |crd| crd.group == *group);
                let resources = rule.resources.iter().filter(|resource| !resource.contains('*'));
                for resource in resources {
                    let plain = resource.split('/').next().unwrap_or_default();
                    if !of_group().any(|crd| crd.resource == plain) {
                        let meant = nearest(plain, of_group().map(|crd| crd.resource.as_str()));
                        let field = format!("spec.roles[{index}].rules[{at}].resources");
                        let message =
                            format!("role {} names {plain}.{group}, which the extension does not define", role.name);
                        report.error(&field, message, &meant_or(meant, "remove it"));
                    }
                }
            }
        }
    }
    menu(report, footprint);
}

fn menu(report: &mut Report, footprint: &Footprint) {
    let definition = report.definition();
    for (place, scope, other) in [("cluster", Scope::Cluster, "project"), ("project", Scope::Namespaced, "cluster")] {
        let entries = definition.menu.as_ref().and_then(|menu| menu.get(place)?.as_array());
        for (index, entry) in entries.into_iter().flatten().enumerate() {
            let field = format!("spec.menu.{place}[{index}].crd");
            let Some(name) = entry["crd"].as_str() else { continue };
            match footprint.crds.get(name) {
                None => {
                    let meant = nearest(name, footprint.crds.keys().map(String::as_str));
                    let message = format!("the menu names {name}, which the extension does not define");
                    report.error(&field, message, &meant_or(meant, "remove the entry"));
                }
                Some(crd) if crd.scope != scope => {
                    let kind = if scope == Scope::Cluster { "in namespaces" } else { "cluster-scoped" };
                    report.error(&field, format!("objects of {name} are {kind}"), &format!("move it to menu.{other}"));
                }
                Some(_) => {}
            }
        }
    }
}

fn meant_or(meant: Option<&str>, remedy: &str) -> String {
    meant.map_or_else(|| remedy.to_owned(), |meant| format!("did you mean {meant}?"))
}
