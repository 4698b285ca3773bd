//! Why a single version cannot be installed on a cluster.

use fitout_helm_ranges::kubernetes;

use crate::{Candidate, Mismatch, Question, ResolveError, kubernetes_mismatch, state_mismatch};

/// Why a version cannot be installed anew on a cluster with this Kubernetes version; none where it can be.
///
/// It judges the version by the rules of [`choose`](crate::choose), without regard to what is installed or to other versions.
pub fn verdict(extension: &str, candidate: &Candidate, reported: &str) -> Result<Option<Mismatch>, ResolveError> {
    let cluster = kubernetes(reported)
        .map_err(|error| ResolveError::KubernetesVersion { version: reported.to_owned(), error })?;
    let question = Question {
        extension,
        versions: &[],
        wanted: None,
        kubernetes: reported,
        installed: None,
        latest: false,
        stays_on_withdrawn: false,
    };
    match state_mismatch(&question, candidate) {
        Some(mismatch) => Ok(Some(mismatch)),
        None => kubernetes_mismatch(&question, candidate, &cluster),
    }
}

#[cfg(test)]
mod tests {
    use fitout_model::VersionState;

    use super::*;
    use crate::choose;

    const fn version<'a>(version: &'a str, kubernetes: Option<&'a str>, state: VersionState) -> Candidate<'a> {
        Candidate { version, kubernetes, replaces: None, state, note: Some("n"), offered: true }
    }

    const VERSIONS: [Candidate<'static>; 5] = [
        version("2.0.0", Some(">=1.36"), VersionState::Listed),
        version("1.3.0", None, VersionState::Deprecated),
        version("1.2.0", Some(">=1.36"), VersionState::Withdrawn),
        version("1.1.0", None, VersionState::Yanked),
        version("1.0.0", Some("<1.30"), VersionState::Listed),
    ];

    fn reasons(kubernetes: &str) -> Vec<String> {
        let reason = |candidate| match verdict("web", candidate, kubernetes) {
            Ok(Some(mismatch)) => mismatch.to_string(),
            Ok(None) => "fits".to_owned(),
            Err(error) => error.to_string(),
        };
        VERSIONS.iter().map(reason).collect()
    }

    #[test]
    fn state_and_kubernetes_version_decide() {
        let expected = [
            "web 2.0.0 needs Kubernetes >=1.36, the cluster is v1.35.4+k3s1",
            "fits",
            "web 1.2.0 is withdrawn (n)",
            "web 1.1.0 is yanked (n)",
            "web 1.0.0 needs Kubernetes <1.30, the cluster is v1.35.4+k3s1",
        ];
        assert_eq!(reasons("v1.35.4+k3s1"), expected);
        assert!(reasons("none").iter().all(|reason| reason.starts_with("the cluster's version none cannot be parsed")));
    }

    #[test]
    fn a_single_version_is_chosen_exactly_if_it_fits() {
        for kubernetes in ["v1.29.0", "v1.35.4+k3s1", "v1.36.3"] {
            for candidate in VERSIONS {
                let question = Question {
                    extension: "web",
                    versions: &[candidate],
                    wanted: None,
                    kubernetes,
                    installed: None,
                    latest: false,
                    stays_on_withdrawn: false,
                };
                let fits = verdict("web", &candidate, kubernetes).unwrap().is_none();
                assert_eq!(choose(&question).is_ok(), fits, "{} on {kubernetes}", candidate.version);
            }
        }
    }
}
