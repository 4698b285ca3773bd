//! What a cluster says its version is.

use crate::{Error, Version};

/// The words that Kubernetes itself puts on what is not yet released.
const STAGES: [&str; 3] = ["alpha", "beta", "rc"];

/// Reads a cluster's version as it is held against a range.
///
/// Vendors add a suffix to the release they ship: `v1.33.4-gke.100` is 1.33.4 and not something before it, so the
/// suffix is dropped, whatever is in it. Kubernetes' own pre-releases, such as `v1.36.0-rc.0`, stay what they are.
/// [`Version::original`] has all that the cluster said.
pub fn kubernetes(text: &str) -> Result<Version, Error> {
    let (numbers, suffix) = text.split_at(text.find(['-', '+']).unwrap_or(text.len()));
    let version = match suffix.strip_prefix('-').and_then(stage) {
        Some(stage) => Version::parse(&format!("{numbers}-{stage}")),
        None => Version::parse(numbers),
    };
    Ok(version?.said(text))
}

/// The stage that a suffix begins with: one of the words, and the numbers after it. A word with something attached is
/// a vendor's, as in `-rc1+k3s1`: a candidate of k3s, of a Kubernetes that is released.
fn stage(suffix: &str) -> Option<&str> {
    let end = suffix.find(['-', '+']).unwrap_or(suffix.len());
    let mut parts = suffix[..end].split('.');
    let word = parts.next().filter(|word| STAGES.contains(word))?;
    let numbers = parts.take_while(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    // Each number has a dot before it.
    let length = word.len() + numbers.map(|number| number.len() + 1).sum::<usize>();
    Some(&suffix[..length])
}

#[cfg(test)]
mod tests {
    use super::kubernetes;
    use crate::Range;

    #[test]
    fn a_vendors_release_is_in_the_range_of_its_release() {
        let range = Range::parse(">=1.33.4 <1.37").unwrap();
        for text in ["v1.33.4-gke.100", "v1.34.1+k3s1", "v1.35.0-eks-abc123"] {
            assert!(range.matches(&kubernetes(text).unwrap()), "{text}");
        }
    }

    #[test]
    fn a_prerelease_of_kubernetes_is_only_in_ranges_that_ask_for_it() {
        let version = kubernetes("v1.36.0-rc.0").unwrap();
        assert!(!Range::parse(">=1.33").unwrap().matches(&version));
        assert!(Range::parse(">=1.33-0").unwrap().matches(&version));
    }

    #[test]
    fn what_the_cluster_said_is_kept() {
        assert_eq!(kubernetes("v1.33.4-gke.100").unwrap().original(), "v1.33.4-gke.100");
    }
}
