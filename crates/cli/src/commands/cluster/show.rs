//! `fitout cluster show`.

use std::fmt::Write;

use clap::Args;
use fitout_api::{Cluster, conditions};
use fitout_model::UNDETECTABLE_CAPABILITIES;
use kube::ResourceExt;

use super::find;
use crate::Answer;
use crate::connection::Session;
use crate::failure::Failure;
use crate::output::Paint;

#[derive(Args)]
pub(crate) struct Show {
    /// The name of the cluster
    name: String,
}

pub(crate) async fn run(session: &Session, show: &Show) -> Result<Answer, Failure> {
    let cluster = find(session, &show.name).await?;
    Ok(session.output.object(&cluster, || view(&cluster, session.paint))?.into())
}

/// The detected capabilities, and those that cannot be detected.
fn supports(capabilities: &[String]) -> String {
    let unknown: Vec<&str> =
        UNDETECTABLE_CAPABILITIES.into_iter().filter(|name| !capabilities.iter().any(|found| found == name)).collect();
    let known = [capabilities.join(", ")].into_iter().filter(|known| !known.is_empty());
    let unknown = (!unknown.is_empty()).then(|| format!("unknown: {}", unknown.join(", ")));
    known.chain(unknown).collect::<Vec<String>>().join("; ")
}

fn view(cluster: &Cluster, paint: Paint) -> String {
    let status = cluster.status.clone().unwrap_or_default();
    let unknown = || "not known yet".to_owned();
    let nodes = status.nodes.map(|nodes| format!("{} of {} ready", nodes.ready, nodes.total));
    let capabilities = status.version.is_some().then(|| supports(&status.capabilities));
    let mut facts = vec![
        ("Version", status.version.unwrap_or_else(unknown)),
        ("Platform", status.platform.unwrap_or_else(unknown)),
        ("Nodes", nodes.unwrap_or_else(unknown)),
        ("Supports", capabilities.unwrap_or_else(unknown)),
        ("Kubeconfig", format!("secret {}", cluster.spec.kubeconfig_secret)),
    ];
    facts.extend(cluster.spec.planned_version.clone().map(|planned| ("Planned", planned)));
    if cluster.spec.rooted {
        facts.push(("Rooted", "its owner has accepted privileged workloads and workloads in kube-system".to_owned()));
    }
    if cluster.spec.airgapped {
        facts.push(("Airgapped", "images come from the hub's registry".to_owned()));
    }
    let mut text = format!("{}\n", paint.bold(&cluster.name_any()));
    for (label, content) in facts {
        let _ = writeln!(text, "  {label:<10} {content}");
    }
    for condition in &status.conditions {
        let good = conditions::is_true(std::slice::from_ref(condition), &condition.type_);
        let mark = if good { paint.green("✓") } else { paint.red("✗") };
        let _ = write!(text, "\n  {mark} {:<12} {}", condition.type_, condition.message);
    }
    if status.conditions.is_empty() { text + "\nThe hub has not reported a status yet.\n" } else { text + "\n" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undetectable_capabilities_are_shown_as_unknown() {
        assert_eq!(supports(&[]), "unknown: loadBalancer, networkPolicy");
        let known = ["metrics", "storageClass"].map(str::to_owned);
        assert_eq!(supports(&known), "metrics, storageClass; unknown: loadBalancer, networkPolicy");
    }
}
