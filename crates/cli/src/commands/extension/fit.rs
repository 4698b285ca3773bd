//! Which version of an extension fits which cluster, and why the others do not.

use fitout_api::{Cluster, Extension, VersionState};
use fitout_resolve::{Candidate, Mismatch, Question, choose, verdict};
use kube::ResourceExt;

use super::candidates::candidates;
use super::versions::{NEWEST, and_more, numbers};
use crate::output::Paint;
use crate::tables::{Layout, fitted_table};

/// The clusters that a line names before it counts the others.
const NAMED: usize = 3;

/// A line for each cluster: the version that it gets, and why.
pub(super) fn table(extension: &Extension, clusters: &[Cluster], layout: Layout) -> String {
    let rows = clusters.iter().map(|cluster| {
        let version = kubernetes(cluster);
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

fn kubernetes(cluster: &Cluster) -> Option<&str> {
    cluster.status.as_ref()?.version.as_deref()
}

/// The version that a cluster with this Kubernetes version gets, and why; or why none fits.
fn fitting(extension: &Extension, kubernetes: &str) -> Result<(String, String), String> {
    let candidates = candidates(extension, Some(kubernetes));
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

/// Whether a version fits some clusters.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Verdict {
    Fits,
    /// It fits, and is deprecated for this reason.
    Deprecated(Option<String>),
    /// It is yanked or withdrawn, for this reason.
    Refused(VersionState, Option<String>),
    /// It does not fit for this reason.
    Misfit(String),
}

impl Verdict {
    fn text(&self, paint: Paint) -> String {
        let stated = |state: &VersionState, note: &Option<String>| {
            note.as_ref().map_or_else(|| state.adjective().to_owned(), |note| format!("{}: {note}", state.adjective()))
        };
        match self {
            Self::Fits => paint.green("✓"),
            Self::Deprecated(note) => {
                format!("{} {}", paint.green("✓"), paint.yellow(&stated(&VersionState::Deprecated, note)))
            }
            Self::Refused(state @ VersionState::Withdrawn, note) => paint.red(&stated(state, note)),
            Self::Refused(state, note) => paint.yellow(&stated(state, note)),
            Self::Misfit(reason) => reason.clone(),
        }
    }
}

/// Lines for each version: the clusters that it fits, and those that it does not fit, with the reason. Clusters whose version
/// is not known are left out. Without a wide layout, these are the newest versions only.
pub(super) fn verdicts(extension: &Extension, clusters: &[Cluster], layout: Layout, paint: Paint) -> String {
    let known: Vec<(String, Vec<Candidate>, &str)> = clusters
        .iter()
        .filter_map(|cluster| {
            let kubernetes = kubernetes(cluster)?;
            Some((cluster.name_any(), candidates(extension, Some(kubernetes)), kubernetes))
        })
        .collect();
    if known.is_empty() {
        return String::new();
    }
    let shown = if layout.wide { usize::MAX } else { NEWEST };
    let mut rows = vec![];
    for version in numbers(&extension.spec.versions).into_iter().take(shown) {
        let mut groups: Vec<(Verdict, Vec<&str>)> = vec![];
        for (cluster, candidates, kubernetes) in &known {
            let verdict = judge(extension, version, candidates, kubernetes);
            match groups.iter_mut().find(|(of_group, _)| *of_group == verdict) {
                Some((_, names)) => names.push(cluster),
                None => groups.push((verdict, vec![cluster])),
            }
        }
        groups.sort_by_key(|(verdict, _)| !matches!(verdict, Verdict::Fits | Verdict::Deprecated(_)));
        for (at, (verdict, names)) in groups.iter().enumerate() {
            let first = if at == 0 { version } else { "" };
            let names = match names.len() {
                count if count > 1 && count == clusters.len() => "all".to_owned(),
                _ => and_more(names, if layout.wide { usize::MAX } else { NAMED }),
            };
            rows.push(vec![first.to_owned(), names, verdict.text(paint)]);
        }
    }
    fitted_table(&["VERSION", "CLUSTERS", "FITS"], rows, 2, layout)
}

/// Whether a version fits a cluster with this Kubernetes version, which is offered these candidates.
fn judge(extension: &Extension, version: &str, candidates: &[Candidate], kubernetes: &str) -> Verdict {
    let Some(candidate) = candidates.iter().find(|candidate| candidate.version == version) else {
        let key = fitout_snapshot::key_of(kubernetes);
        return Verdict::Misfit(format!("not in the source for Kubernetes {key}"));
    };
    match verdict(&extension.spec.extension, candidate, kubernetes) {
        Ok(None) if candidate.state == VersionState::Deprecated => {
            Verdict::Deprecated(candidate.note.map(str::to_owned))
        }
        Ok(None) => Verdict::Fits,
        Ok(Some(Mismatch::State { state, note, .. })) => Verdict::Refused(state, note),
        Ok(Some(Mismatch::Kubernetes { range, .. })) => Verdict::Misfit(format!("needs Kubernetes {range}")),
        Ok(Some(mismatch)) => Verdict::Misfit(mismatch.to_string()),
        Err(error) => Verdict::Misfit(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::{Value, json};

    use super::*;

    fn extension(versions: &[(&str, Value)]) -> Extension {
        let digest = format!("sha256:{}", "0".repeat(64));
        let version = |(version, rest): &(&str, Value)| {
            let mut value = json!({ "version": version, "digest": digest });
            value.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
            value
        };
        let versions: Vec<Value> = versions.iter().map(version).collect();
        serde_json::from_value(json!({
            "apiVersion": "fitout.dev/v1alpha1", "kind": "Extension", "metadata": { "name": "c.web" },
            "spec": { "catalog": "c", "extension": "web", "versions": versions },
        }))
        .unwrap()
    }

    fn clusters(all: &[(&str, Option<&str>)]) -> Vec<Cluster> {
        let cluster = |(name, version): &(&str, Option<&str>)| {
            json!({ "apiVersion": "fitout.dev/v1alpha1", "kind": "Cluster", "metadata": { "name": name },
                "spec": { "kubeconfigSecret": "x" }, "status": { "version": version } })
        };
        all.iter().map(|one| serde_json::from_value(cluster(one)).unwrap()).collect()
    }

    fn states() -> Extension {
        extension(&[
            ("3.0.0", json!({ "state": "Withdrawn", "note": "CVE-2026-1; 3.0.1 will have the fix" })),
            ("2.1.0", json!({ "kubernetes": ">=1.36" })),
            ("2.0.0", json!({ "key": "1.35" })),
            ("1.1.0", json!({ "state": "Yanked" })),
            ("1.0.0", json!({ "kubernetes": "<1.37", "state": "Deprecated", "note": "use 2.x" })),
        ])
    }

    #[test]
    fn the_source_of_the_cluster_and_the_state_count() {
        let of = |kubernetes: &str| fitting(&states(), kubernetes).map(|(version, _)| version);
        assert_eq!(of("v1.35.4").unwrap(), "2.0.0");
        assert_eq!(of("v1.36.3").unwrap(), "2.1.0");
        let old = extension(&[("3.0.0", json!({ "state": "Withdrawn", "note": "CVE-1" }))]);
        let none = fitting(&old, "v1.37.0").unwrap_err();
        assert_eq!(none, "web 3.0.0 is withdrawn (CVE-1); no other version fits either");
    }

    #[test]
    fn every_version_says_which_clusters_it_fits() {
        let all = [
            ("edge", Some("v1.37.0")),
            ("new", None),
            ("old", Some("v1.35.4+k3s1")),
            ("prod", Some("v1.36.3")),
            ("staging", Some("v1.36.1")),
        ];
        let narrow = Layout { wide: false, width: Some(60) };
        assert_snapshot!(verdicts(&states(), &clusters(&all), narrow, Paint::new(false)), @r"
        VERSION   CLUSTERS                   FITS
        3.0.0     edge, old, prod, staging   withdrawn: CVE-2026-1;…
        2.1.0     edge, prod, staging        ✓
                  old                        needs Kubernetes >=1.36
        2.0.0     old                        ✓
                  edge                       not in the source for …
                  prod, staging              not in the source for …
        1.1.0     edge, old, prod, staging   yanked
        1.0.0     old, prod, staging         ✓ deprecated: use 2.x
                  edge                       needs Kubernetes <1.37
        ");
        let wide = Layout { wide: true, width: None };
        assert_snapshot!(verdicts(&states(), &clusters(&all[2..]), wide, Paint::new(false)), @r"
        VERSION   CLUSTERS        FITS
        3.0.0     all             withdrawn: CVE-2026-1; 3.0.1 will have the fix
        2.1.0     prod, staging   ✓
                  old             needs Kubernetes >=1.36
        2.0.0     old             ✓
                  prod, staging   not in the source for Kubernetes 1.36
        1.1.0     all             yanked
        1.0.0     all             ✓ deprecated: use 2.x
        ");
    }

    #[test]
    fn many_clusters_are_counted_and_old_versions_left_out() {
        let names: Vec<String> = (1..=6).map(|number| format!("c{number}")).collect();
        let all: Vec<_> = names.iter().map(|name| (name.as_str(), Some("v1.36.3"))).collect();
        let versions: Vec<String> = (0..12).rev().map(|minor| format!("1.{minor}.0")).collect();
        let versions: Vec<_> = versions.iter().map(|version| (version.as_str(), json!({}))).collect();
        let mut clusters = clusters(&all);
        clusters[5] = self::clusters(&[("c6", Some("v1.30.0"))]).remove(0);
        let mut extension = extension(&versions);
        extension.spec.versions[0].kubernetes = Some("<1.31".to_owned());
        let text = verdicts(&extension, &clusters, Layout::default(), Paint::new(false));
        assert_eq!(text.lines().count(), 12, "{text}");
        assert_snapshot!(text.lines().take(4).collect::<Vec<_>>().join("\n"), @r"
        VERSION   CLUSTERS                FITS
        1.11.0    c6                      ✓
                  c1, c2, c3 and 2 more   needs Kubernetes <1.31
        1.10.0    all                     ✓
        ");
        let all = verdicts(&extension, &clusters, Layout { wide: true, width: None }, Paint::new(false));
        assert!(all.lines().count() == 14 && all.contains("c1, c2, c3, c4, c5"), "{all}");
    }
}
