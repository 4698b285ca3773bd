//! The versions of an extension as candidates of the resolver.

use fitout_api::{Extension, ExtensionVersion};
use fitout_resolve::Candidate;

/// The versions that the catalog offers to a cluster with this Kubernetes version; without one, all versions. Where they can be
/// upgraded from is not listed in the `Extension`.
pub(crate) fn candidates<'a>(extension: &'a Extension, kubernetes: Option<&str>) -> Vec<Candidate<'a>> {
    let key = kubernetes.map(fitout_snapshot::key_of);
    let is_offered = |version: &&ExtensionVersion| match (&version.key, &key) {
        (Some(of_version), Some(of_cluster)) => of_version == of_cluster,
        _ => true,
    };
    let candidate = |version: &'a ExtensionVersion| Candidate {
        version: &version.version,
        kubernetes: version.kubernetes.as_deref(),
        replaces: None,
        state: version.state,
        note: version.note.as_deref(),
        offered: true,
    };
    extension.spec.versions.iter().filter(is_offered).map(candidate).collect()
}
