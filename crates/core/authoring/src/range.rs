//! The Kubernetes range of an extension.

use fitout_helm_ranges::Range;

use crate::kubernetes::{Kubernetes, supported};

/// The range of these supported versions, intersected with the `kubeVersion` of a chart. Versions that are not supported
/// are outside of it, because nothing is known about them.
pub(crate) fn kubernetes_range(fitting: &[&Kubernetes], kube_version: &str) -> String {
    let bounds = bounds(fitting);
    let is_whole = |range: &Range| fitting.iter().all(|kubernetes| kubernetes.is_whole_in(range));
    match Range::parse(kube_version) {
        // The bounds say as much, in fewer words.
        Ok(range) if !is_whole(&range) => {
            let alternatives = kube_version
                .split("||")
                .flat_map(|one| bounds.iter().map(move |bound| format!("{} {bound}", one.trim().replace(',', " "))));
            alternatives.collect::<Vec<_>>().join(" || ")
        }
        _ => bounds.join(" || "),
    }
}

/// A range for each run of successive minor versions.
fn bounds(fitting: &[&Kubernetes]) -> Vec<String> {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for kubernetes in fitting {
        match runs.last_mut() {
            Some((_, end)) if *end == kubernetes.minor => *end += 1,
            _ => runs.push((kubernetes.minor, kubernetes.minor + 1)),
        }
    }
    runs.into_iter().map(|(first, end)| format!(">=1.{first} <1.{end}")).collect()
}

/// The supported versions in a range, each with a patch version in it.
pub(crate) fn admitted(range: Option<&Range>) -> Vec<(&'static Kubernetes, String)> {
    let all = supported().iter();
    all.filter_map(|kubernetes| Some((kubernetes, kubernetes.patch_in(range)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(minors: &[u64], kube_version: &str) -> String {
        let fitting: Vec<&Kubernetes> =
            supported().iter().filter(|kubernetes| minors.contains(&kubernetes.minor)).collect();
        kubernetes_range(&fitting, kube_version)
    }

    #[test]
    fn ranges_name_the_bounds_of_the_supported_versions() {
        let rows = [
            (&[33, 34, 35, 36][..], "", ">=1.33 <1.37"),
            (&[33, 34, 35, 36], ">=1.22.0-0", ">=1.33 <1.37"),
            (&[34, 35], ">= 1.34.0-0, < 1.36.0-0", ">=1.34 <1.36"),
            (&[33, 36], "", ">=1.33 <1.34 || >=1.36 <1.37"),
            (&[34, 35, 36], ">=1.34.2", ">=1.34.2 >=1.34 <1.37"),
            (&[34, 35], "~1.34.2 || ^1.35.1", "~1.34.2 >=1.34 <1.36 || ^1.35.1 >=1.34 <1.36"),
        ];
        for (minors, kube_version, expected) in rows {
            assert_eq!(range(minors, kube_version), expected, "{kube_version}");
            assert!(Range::parse(expected).is_ok());
        }
    }

    #[test]
    fn admitted_versions_have_a_patch_version_in_the_range() {
        let admitted = |text: &str| -> Vec<String> {
            let range = Range::parse(text).unwrap();
            super::admitted(Some(&range)).into_iter().map(|(_, version)| version).collect()
        };
        assert_eq!(admitted(">=1.35 <1.36.1"), ["1.35.4", "1.36.0"]);
        assert_eq!(admitted(">=1.36.9"), ["1.36.999"]);
        assert_eq!(admitted("<1.30"), Vec::<String>::new());
    }
}
