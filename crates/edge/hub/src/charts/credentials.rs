//! Repository credentials, from Secrets of the catalog's namespace.

use std::cmp::Reverse;
use std::sync::Arc;

use fitout_api::REPOSITORY_SECRET;
use fitout_git::SshAccess;
use fitout_repositories::{Access, Identity};
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;

use crate::Hub;

/// The credentials for a repository, and the Secret that has them or should have them, for messages.
pub(crate) struct Credentials {
    pub(crate) access: Access,
    /// The key for a git repository at `ssh://…`.
    pub(crate) ssh: Option<SshAccess>,
    pub(crate) secret: String,
}

impl Credentials {
    /// Finds the Secret in this namespace with the longest address that the repository is below.
    pub(crate) fn find(secrets: Vec<Arc<Secret>>, namespace: &str, repository: &str) -> Self {
        let matching = |secret: Arc<Secret>| {
            let prefix = text(&secret, "repository").filter(|_| secret.namespace().as_deref() == Some(namespace))?;
            let prefix = prefix.trim_end_matches('/');
            is_within(repository, prefix).then(|| (prefix.len(), Reverse(secret.name_any()), secret))
        };
        let found = secrets.into_iter().filter_map(matching);
        let Some((_, Reverse(name), secret)) = found.max_by(|one, other| (one.0, &one.1).cmp(&(other.0, &other.1)))
        else {
            let secret = format!("a Secret of type {REPOSITORY_SECRET} in {namespace}");
            return Self { access: Access::default(), ssh: None, secret };
        };
        let key = |name: &str| text(&secret, name);
        let access = Access {
            basic: key("username").zip(key("password")),
            bearer: key("token"),
            identity: key("tls.crt").zip(key("tls.key")).map(|(certificate, key)| Identity { certificate, key }),
            authority: key("ca.crt"),
            docker_config: key(".dockerconfigjson"),
        };
        let ssh = key("ssh-privatekey").map(|private| SshAccess {
            user: key("username"),
            // OpenSSH reads no key without its last line break.
            key: private + "\n",
            known_hosts: key("known_hosts").unwrap_or_default(),
        });
        Self { access, ssh, secret: format!("Secret/{namespace}/{name}") }
    }
}

impl Hub {
    /// The credentials for a repository that a catalog in this namespace names.
    pub(crate) fn credentials(&self, namespace: &str, repository: &str) -> Credentials {
        Credentials::find(self.cache.repositories.state(), namespace, repository)
    }
}

fn text(secret: &Secret, key: &str) -> Option<String> {
    let content = secret.data.as_ref()?.get(key)?;
    Some(String::from_utf8_lossy(&content.0).trim().to_owned())
}

/// Whether an address is below another. Credentials for one server must not be sent to any other.
fn is_within(address: &str, prefix: &str) -> bool {
    address.strip_prefix(prefix).is_some_and(|rest| !prefix.is_empty() && (rest.is_empty() || rest.starts_with('/')))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn credentials_are_for_what_is_below_their_address() {
        let rows = [
            ("https://charts.example.com/a", "https://charts.example.com", true),
            ("https://charts.example.com", "https://charts.example.com", true),
            ("https://charts.example.com.evil.org", "https://charts.example.com", false),
            ("http://charts.example.com", "https://charts.example.com", false),
            ("https://charts.example.com", "", false),
        ];
        for (address, prefix, expected) in rows {
            assert_eq!(is_within(address, prefix), expected, "{address} {prefix}");
        }
    }

    #[test]
    fn the_longest_address_in_the_namespace_wins() {
        let secret = |namespace: &str, name: &str, repository: &str| {
            let encode = |text: &str| k8s_openapi::ByteString(text.as_bytes().to_vec());
            let secret = json!({
                "metadata": { "namespace": namespace, "name": name },
                "data": { "repository": encode(repository), "token": encode(name) },
            });
            Arc::new(serde_json::from_value::<Secret>(secret).unwrap())
        };
        let secrets = vec![
            secret("org-acme", "all", "https://charts.example.com/"),
            secret("org-acme", "team", "https://charts.example.com/team"),
            secret("org-other", "closest", "https://charts.example.com/team/web"),
        ];
        let find = |repository: &str| Credentials::find(secrets.clone(), "org-acme", repository);
        assert_eq!(find("https://charts.example.com/team/web").access.bearer.as_deref(), Some("team"));
        assert_eq!(find("https://charts.example.com/team/web").secret, "Secret/org-acme/team");
        assert_eq!(find("https://charts.example.com/web").access.bearer.as_deref(), Some("all"));
        assert_eq!(find("https://example.org").secret, format!("a Secret of type {REPOSITORY_SECRET} in org-acme"));
    }
}
