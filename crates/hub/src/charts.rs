//! Charts from where they are published: fetched once, and had by their digest from then on.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use fitout_api::REPOSITORY_SECRET;
use fitout_model::{Digest, Package};
use fitout_plan::{Archive, Unprepared};
use fitout_source::{Access, Identity, Sources, Wanted};
use k8s_openapi::api::core::v1::Secret;
use kube::Api;
use kube::api::ListParams;

use crate::Hub;

/// How many bytes of archives are held at most; beyond that, they are had again from where they are kept.
const HELD: usize = 64 << 20;

/// The archives that are in use.
#[derive(Default)]
pub(crate) struct Charts {
    sources: Sources,
    /// By the digest of the definition that names them.
    held: Mutex<BTreeMap<Digest, Archive>>,
}

impl Hub {
    /// The packaged chart of a definition; none where it comes with the definition itself. The first archive that was
    /// installed of a version is the only one that ever will be.
    pub(crate) async fn archive(&self, namespace: &str, package: &Package) -> Result<Option<Archive>, Unprepared> {
        let Some(helm) = &package.definition.helm else { return Ok(None) };
        let Some(repository) = &helm.repository else { return Ok(None) };
        if let Some(held) = self.charts.held().get(&package.digest) {
            return Ok(Some(held.clone()));
        }
        let known = helm.digest.clone().map(Digest::from).or_else(|| self.installed_chart(&package.digest));
        if let Some(known) = &known
            && let Ok(archive) = self.content.get(known).await
        {
            return Ok(Some(self.charts.hold(&package.digest, archive)));
        }
        let access = self.access(namespace, repository).await?;
        let wanted =
            Wanted { repository, chart: &helm.chart, version: helm.version.as_deref(), digest: known.as_ref() };
        let fetched = self.charts.sources.fetch(&wanted, &access).await.map_err(|error| {
            if error.passing() { Unprepared::Waiting(error.to_string()) } else { Unprepared::Wrong(error.to_string()) }
        })?;
        Ok(Some(self.charts.hold(&package.digest, fetched.archive)))
    }

    /// The chart that a definition was installed with.
    fn installed_chart(&self, definition: &Digest) -> Option<Digest> {
        let mut revisions = self.index.revisions.state().into_iter();
        let same = revisions.find_map(|revision| {
            let spec = &revision.spec;
            spec.chart_digest.clone().filter(|_| spec.definition_digest == definition.as_str())
        });
        same.map(Digest::from)
    }

    /// What a repository wants to see, from the secret that names it.
    async fn access(&self, namespace: &str, repository: &str) -> Result<Access, Unprepared> {
        let secrets: Api<Secret> = Api::namespaced(self.client.clone(), namespace);
        let typed = ListParams::default().fields(&format!("type={REPOSITORY_SECRET}"));
        let found = secrets.list(&typed).await.map_err(|error| Unprepared::Waiting(error.to_string()))?;
        let text = |secret: &Secret, key: &str| {
            let content = secret.data.as_ref()?.get(key)?;
            Some(String::from_utf8_lossy(&content.0).trim().to_owned())
        };
        let of = |secret: &&Secret| {
            text(secret, "repository").is_some_and(|prefix| is_within(repository, prefix.trim_end_matches('/')))
        };
        let Some(secret) = found.items.iter().find(of) else { return Ok(Access::default()) };
        let key = |name: &str| text(secret, name);
        Ok(Access {
            basic: key("username").zip(key("password")),
            bearer: key("token"),
            identity: key("tls.crt").zip(key("tls.key")).map(|(certificate, key)| Identity { certificate, key }),
            authority: key("ca.crt"),
            docker_config: key(".dockerconfigjson"),
        })
    }
}

/// Whether an address is below another: what is shown to one server is for no other.
fn is_within(address: &str, prefix: &str) -> bool {
    address.strip_prefix(prefix).is_some_and(|rest| !prefix.is_empty() && (rest.is_empty() || rest.starts_with('/')))
}

impl Charts {
    fn held(&self) -> MutexGuard<'_, BTreeMap<Digest, Archive>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hold(&self, definition: &Digest, content: Vec<u8>) -> Archive {
        let archive = Archive::new(content);
        let mut held = self.held();
        held.insert(definition.clone(), archive.clone());
        while held.values().map(|archive| archive.content.len()).sum::<usize>() > HELD && held.len() > 1 {
            held.pop_first();
        }
        archive
    }
}

#[cfg(test)]
mod tests {
    use super::is_within;

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
}
