//! Charts from where they are published: fetched once, and had by their digest from then on.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fitout_api::{ExtensionRevision, REPOSITORY_SECRET};
use fitout_model::{Digest, Helm, Package};
use fitout_plan::{Archive, RenderError};
use fitout_repositories::{Access, Cause, Error, Identity, Sources, Wanted};
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use tokio::sync::OnceCell;

use crate::reconcile::retry::Retry;
use crate::{Hub, SYSTEM};

/// How many bytes of archives are held at most; beyond that, they are had again from where they are kept.
const HELD: usize = 64 << 20;

/// So many charts that cannot be had are remembered.
const MISSED: usize = 10_000;

/// The archives that are in use.
#[derive(Default)]
pub(crate) struct Charts {
    sources: Sources,
    held: Mutex<BTreeMap<Of, Cell>>,
    /// By what was wanted and what was shown for it.
    missed: Mutex<BTreeMap<Digest, Missed>>,
}

/// The namespace of a catalog and the digest of a definition: an organization has nothing by what another shows.
type Of = (String, Digest);

/// An archive and since when it is held. Whoever wants it while it is being fetched waits for that.
type Cell = Arc<OnceCell<(Instant, Archive)>>;

/// A chart that cannot be had for now.
#[derive(Clone, Debug)]
pub(crate) struct Absent {
    /// For a person.
    pub(crate) why: RenderError,
    /// When it is asked for again. Until then this is the answer, whoever asks and however often.
    pub(crate) due: Instant,
}

struct Missed {
    absent: Absent,
    retry: Retry,
}

impl Hub {
    /// The packaged chart of a definition; none where it comes with the definition itself. The first archive that was
    /// installed of a version is the only one that ever will be.
    pub(crate) async fn archive(&self, namespace: &str, package: &Package) -> Result<Option<Archive>, Absent> {
        let Some((helm, repository)) =
            package.definition.helm.as_ref().and_then(|helm| Some((helm, helm.repository.as_ref()?)))
        else {
            return Ok(None);
        };
        let of = (namespace.to_owned(), package.digest.clone());
        let known = || helm.digest.clone().map(Digest::from).or_else(|| self.installed_chart(&of));
        // What nobody has installed yet may be mended where it is published, under the same version.
        let old =
            |cell: Cell| cell.get().is_some_and(|(since, _)| since.elapsed() >= self.options.fetch_retry_interval);
        if old(self.charts.cell(&of)) && known().is_none() {
            self.charts.held().remove(&of);
        }
        let cell = self.charts.cell(&of);
        let fetched = cell.get_or_try_init(|| self.fetch(&of, helm, repository, known())).await;
        let archive = fetched.map(|(_, archive)| archive.clone())?;
        self.charts.keep_within(HELD);
        Ok(Some(archive))
    }

    /// From where it is kept, or else published.
    async fn fetch(
        &self,
        of: &Of,
        helm: &Helm,
        repository: &str,
        known: Option<Digest>,
    ) -> Result<(Instant, Archive), Absent> {
        if let Some(known) = &known
            && let Ok(archive) = self.content.get(known).await
        {
            return Ok((Instant::now(), Archive::new(archive)));
        }
        let (access, place) = self.access(&of.0, repository);
        let asked = Digest::of(format!("{}\n{}\n{}", of.0, of.1, access.fingerprint()));
        let early = |missed: &&Missed| missed.absent.due > Instant::now();
        if let Some(missed) = self.charts.missed().get(&asked).filter(early) {
            return Err(missed.absent.clone());
        }
        let wanted =
            Wanted { repository, chart: &helm.chart, version: helm.version.as_deref(), digest: known.as_ref() };
        match self.charts.sources.fetch(&wanted, &access).await {
            Ok(fetched) => {
                self.charts.missed().remove(&asked);
                Ok((Instant::now(), Archive::new(fetched.archive)))
            }
            Err(error) => Err(self.charts.miss(asked, &error, &place, self.options.fetch_retry_interval)),
        }
    }

    /// The chart that a definition was installed with, by anybody where the catalog is everybody's.
    fn installed_chart(&self, of: &Of) -> Option<Digest> {
        let (namespace, definition) = of;
        let is_own =
            |revision: &Arc<ExtensionRevision>| namespace == SYSTEM || revision.namespace().as_ref() == Some(namespace);
        let mut own = self.cache.revisions_with(definition).into_iter().filter(is_own);
        own.find_map(|revision| revision.spec.chart_digest.clone()).map(Digest::from)
    }

    /// What a repository wants to see, from the secret whose address is nearest to its own, and where that is or should be.
    fn access(&self, namespace: &str, repository: &str) -> (Access, String) {
        let text = |secret: &Secret, key: &str| {
            let content = secret.data.as_ref()?.get(key)?;
            Some(String::from_utf8_lossy(&content.0).trim().to_owned())
        };
        let near = |secret: Arc<Secret>| {
            let prefix = text(&secret, "repository").filter(|_| secret.namespace().as_deref() == Some(namespace))?;
            let prefix = prefix.trim_end_matches('/');
            is_within(repository, prefix).then(|| (prefix.len(), Reverse(secret.name_any()), secret))
        };
        let found = self.cache.repositories.state().into_iter().filter_map(near);
        let Some((_, Reverse(name), secret)) = found.max_by(|one, other| (one.0, &one.1).cmp(&(other.0, &other.1)))
        else {
            return (Access::default(), format!("a Secret of type {REPOSITORY_SECRET} in {namespace}"));
        };
        let key = |name: &str| text(&secret, name);
        let access = Access {
            basic: key("username").zip(key("password")),
            bearer: key("token"),
            identity: key("tls.crt").zip(key("tls.key")).map(|(certificate, key)| Identity { certificate, key }),
            authority: key("ca.crt"),
            docker_config: key(".dockerconfigjson"),
        };
        (access, format!("Secret/{namespace}/{name}"))
    }
}

/// Whether an address is below another: what is shown to one server is for no other.
fn is_within(address: &str, prefix: &str) -> bool {
    address.strip_prefix(prefix).is_some_and(|rest| !prefix.is_empty() && (rest.is_empty() || rest.starts_with('/')))
}

/// What a person is told, given where the access is.
fn told(error: &Error, place: &str) -> RenderError {
    match error.cause {
        _ if error.passing() => RenderError::Unavailable(format!("{error}; it is asked again by itself")),
        Cause::Refused { .. } | Cause::Untrusted { .. } | Cause::Access(_) => {
            RenderError::Invalid(format!("{error}: {place}"))
        }
        _ => RenderError::Invalid(error.to_string()),
    }
}

impl Charts {
    fn held(&self) -> MutexGuard<'_, BTreeMap<Of, Cell>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn missed(&self) -> MutexGuard<'_, BTreeMap<Digest, Missed>> {
        self.missed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cell(&self, of: &Of) -> Cell {
        self.held().entry(of.clone()).or_default().clone()
    }

    /// Takes note that a chart could not be had. What may pass is tried again, ever more slowly and as late as the server
    /// asks; all else may be mended where it is published, and nobody tells us: that is looked at once in a while.
    fn miss(&self, asked: Digest, error: &Error, place: &str, fetch_retry_interval: Duration) -> Absent {
        let mut missed = self.missed();
        if missed.len() >= MISSED {
            missed.clear();
        }
        let mut retry = missed.remove(&asked).map(|missed| missed.retry).unwrap_or_default();
        let pause = if error.passing() {
            retry.pause().max(error.retry_after().unwrap_or_default())
        } else {
            fetch_retry_interval
        };
        let absent = Absent { why: told(error, place), due: Instant::now() + pause };
        missed.insert(asked, Missed { absent: absent.clone(), retry });
        absent
    }

    /// Lets go of some of what is held, where it is too much.
    fn keep_within(&self, limit: usize) {
        let mut held = self.held();
        let size = |cell: &Cell| cell.get().map_or(0, |(_, archive)| archive.content.len());
        while held.values().map(size).sum::<usize>() > limit && held.len() > 1 {
            held.pop_first();
        }
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
