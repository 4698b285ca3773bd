//! The Kubernetes range: every version that it admits must serve every rendered kind.

use std::collections::BTreeSet;

use fitout_helm_ranges::Range;
use fitout_model::{Digest, Gvk};

use super::{LintContext, Report};
use crate::derive::kinds;
use crate::footprint::Footprint;
use crate::kubernetes::{Kubernetes, span};
use crate::range::{admitted, kubernetes_range};
use crate::rendering::{OTHER_RELEASE, Source, render};

const FIELD: &str = "spec.kubernetes";

/// Renders for each supported version that the range admits, and returns the footprint for all of them; none where nothing
/// could be rendered.
pub(super) fn check(report: &mut Report, archive: Option<&[u8]>, context: LintContext) -> Option<Footprint> {
    let definition = report.definition();
    let range = definition.kubernetes.as_ref().and_then(|range| Range::parse(range).ok());
    let versions = admitted(range.as_ref());
    if versions.is_empty() {
        let range = definition.kubernetes.as_deref().unwrap_or_default();
        let message = format!("{range} admits none of the supported Kubernetes versions {}", span());
        report.warning(FIELD, message, "publish a version that supports one of them");
        return None;
    }
    let files = &report.subject.directory.files;
    let contents: Vec<u8> = files.values().flatten().chain(archive.into_iter().flatten()).copied().collect();
    let digest = Digest::of(contents);
    let (environment, values) = (context.environment, context.values);
    let source = Source { definition, files, archive, values, world: environment, digest: &digest };
    let mut footprint: Option<Footprint> = None;
    let mut newest = None;
    let (mut fitting, mut problems): (Vec<&Kubernetes>, Vec<(u64, String, String)>) = (Vec::new(), Vec::new());
    for (kubernetes, version) in versions {
        let objects = match render(&source, kubernetes, &version, &definition.extension) {
            Ok(objects) => objects,
            Err(problem) => {
                let remedy = problem.hint.unwrap_or_else(|| "correct it".to_owned());
                problems.push((kubernetes.minor, format!("{}: {}", problem.field, problem.message), remedy));
                continue;
            }
        };
        let missing: BTreeSet<&Gvk> = objects.missing(kubernetes).map(|placed| &placed.id.gvk).collect();
        if missing.is_empty() {
            fitting.push(kubernetes);
        } else {
            let message = format!("Kubernetes 1.{} does not serve {}", kubernetes.minor, kinds(missing));
            problems.push((kubernetes.minor, message, String::new()));
        }
        let next = Footprint::of(&objects, kubernetes, &definition.extension);
        newest = Some((kubernetes, version, objects));
        footprint = Some(footprint.map_or_else(|| next.clone(), |footprint| footprint.union(next.clone())));
    }
    add(report, problems, &fitting);
    if let (Some(false), Some((kubernetes, version, objects))) = (definition.singleton, newest)
        && let Ok(other) = render(&source, kubernetes, &version, OTHER_RELEASE)
        && let Some(id) = objects.shared_with(&other)
    {
        let message = format!("two instances of it cannot exist on one cluster, because both have {id}");
        report.error("spec.singleton", message, "set it to true, or name the object after the release");
    }
    footprint
}

fn add(report: &mut Report, problems: Vec<(u64, String, String)>, fitting: &[&Kubernetes]) {
    let range = report.definition().kubernetes.clone().unwrap_or_else(|| "any version".to_owned());
    // A chart that renders for no version at all has one problem.
    if fitting.is_empty()
        && let Some((_, message, remedy)) =
            problems.first().filter(|(_, first, _)| problems.iter().all(|(_, message, _)| message == first))
    {
        report.error("spec", format!("it cannot be rendered: {message}"), remedy);
        return;
    }
    let narrower = kubernetes_range(fitting, "");
    for (minor, message, remedy) in problems {
        let remedy = match fitting {
            [] if remedy.is_empty() => "use kinds that supported versions serve".to_owned(),
            [] => remedy,
            _ => format!("narrow it to \"{narrower}\", or change what is rendered for Kubernetes 1.{minor}"),
        };
        report.error(FIELD, format!("it admits Kubernetes 1.{minor} ({range}), but {message}"), &remedy);
    }
}
