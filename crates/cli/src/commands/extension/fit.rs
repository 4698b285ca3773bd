//! Which version of an extension fits which cluster, and why the others do not.

use fitout_api::{Cluster, Extension, ExtensionVersion};
use fitout_resolve::{Candidate, Question, choose};
use kube::ResourceExt;

use crate::tables::{Layout, fitted_table};

/// A line for each cluster: the version that it gets, and why.
pub(super) fn table(extension: &Extension, clusters: &[Cluster], layout: Layout) -> String {
    let rows = clusters.iter().map(|cluster| {
        let version = cluster.status.as_ref().and_then(|status| status.version.as_deref());
        let (fits, why) = match version {
            Some(kubernetes) => match fitting(extension, kubernetes) {
                Ok((version, why)) => (version, why),
                Err(why) => ("none".to_owned(), why),
            },
            None => ("-".to_owned(), "the hub does not know the cluster's version yet".to_owned()),
        };
        vec![cluster.name_any(), version.unwrap_or("-").to_owned(), fits, why]
    });
    fitted_table(&["CLUSTER", "KUBERNETES", "FITS", "WHY"], rows, 3, layout)
}

/// The version that a cluster with this Kubernetes version gets, and why; or why none fits.
fn fitting(extension: &Extension, kubernetes: &str) -> Result<(String, String), String> {
    let key = fitout_snapshot::key_of(kubernetes);
    let of_cluster = |version: &&ExtensionVersion| version.key.as_deref().is_none_or(|of_version| of_version == key);
    let candidates: Vec<Candidate<'_>> = extension
        .spec
        .versions
        .iter()
        .filter(of_cluster)
        .map(|version| Candidate {
            version: &version.version,
            kubernetes: version.kubernetes.as_deref(),
            replaces: None,
            state: version.state,
            note: version.note.as_deref(),
            offered: true,
        })
        .collect();
    let question = Question {
        extension: &extension.spec.extension,
        versions: &candidates,
        wanted: None,
        kubernetes,
        installed: None,
        latest: false,
        stays_on_withdrawn: false,
    };
    choose(&question)
        .map(|choice| (candidates[choice.index].version.to_owned(), choice.why))
        .map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_source_of_the_cluster_and_the_state_count() {
        let digest = format!("sha256:{}", "0".repeat(64));
        let version = |version: &str, rest: serde_json::Value| {
            let mut value = json!({ "version": version, "digest": digest });
            value.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
            value
        };
        let extension: Extension = serde_json::from_value(json!({
            "apiVersion": "fitout.dev/v1alpha1", "kind": "Extension", "metadata": { "name": "c.web" },
            "spec": { "catalog": "c", "extension": "web", "versions": [
                version("3.0.0", json!({ "state": "Withdrawn", "note": "CVE-1" })),
                version("2.0.0", json!({ "key": "1.35" })),
                version("1.0.0", json!({ "kubernetes": "<1.37" })),
            ] },
        }))
        .unwrap();
        let of = |kubernetes: &str| fitting(&extension, kubernetes).map(|(version, _)| version);
        assert_eq!(of("v1.35.4").unwrap(), "2.0.0");
        assert_eq!(of("v1.36.3").unwrap(), "1.0.0");
        assert_eq!(of("v1.37.0").unwrap_err(), "web 3.0.0 is withdrawn (CVE-1); no other version fits either");
    }
}
