//! A chart of an HTTP repository.

use std::io::Read;
use std::sync::Arc;

use fitout_helm_ranges::Version;
use flate2::read::GzDecoder;
use reqwest::Url;
use reqwest::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderName};

use crate::access::Credential;
use crate::address::{resolve, shown};
use crate::choice::choose;
use crate::expected::Expected;
use crate::index::{Arriving, Fault, Release, whole};
use crate::known::{Known, unless};
use crate::web::{Answer, Ask};
use crate::{Access, Cause, Fetched, Sources, Wanted, registry};

/// The chart, from the first of its addresses that has it.
pub(crate) async fn fetch(
    sources: &Sources,
    base: &Url,
    wanted: &Wanted<'_>,
    access: &Access,
) -> Result<Fetched, Cause> {
    let visit = Visit { sources, base, access, credential: access.credential() };
    let releases = visit.releases(wanted.chart).await?;
    let offered = releases.iter().filter_map(|release| Some((Version::parse(&release.version).ok()?, release)));
    let release = choose(offered.collect(), wanted.version)?;
    let expected = Expected::new(&release.version, release.digest.as_deref(), wanted.digest)?;
    let mut failed: Option<Cause> = None;
    for reference in &release.urls {
        match visit.archive(reference, &expected).await {
            Ok(fetched) => return Ok(fetched),
            // What may pass is worth more to whoever has to decide whether to try again.
            Err(cause) if failed.as_ref().is_none_or(|first| cause.passing() && !first.passing()) => {
                failed = Some(cause);
            }
            Err(_) => {}
        }
    }
    Err(failed.unwrap_or_else(|| Cause::NoArchive(release.version.clone())))
}

/// One visit to a repository.
struct Visit<'a> {
    sources: &'a Sources,
    base: &'a Url,
    access: &'a Access,
    credential: Credential,
}

impl Visit<'_> {
    async fn get(&self, url: Url, headers: &[(HeaderName, String)]) -> Result<Answer, Cause> {
        let ask = Ask { url, home: self.base, access: self.access, credential: &self.credential, headers };
        self.sources.web.get(ask).await
    }

    /// The versions of a chart, asked for only if there may be others than we know.
    async fn releases(&self, chart: &str) -> Result<Arc<Vec<Release>>, Cause> {
        let none = || Cause::Address("is none; correct it".to_owned());
        let url = resolve(self.base, "index.yaml").ok_or_else(none)?;
        let key = Known::key(&url, chart, self.access);
        let memory = self.sources.known.recall(&key);
        let mut headers = vec![(ACCEPT_ENCODING, "gzip".to_owned())];
        headers.extend(memory.iter().flat_map(|memory| memory.unless.clone()));
        let answer = self.get(url.clone(), &headers).await?;
        if let (304, Some(memory)) = (answer.status(), memory) {
            return Ok(memory.releases);
        }
        let answer = answer.accepted()?;
        let unless = unless(&answer);
        let what = shown(url.as_str());
        let found = match self.scan(answer, chart).await? {
            Ok(found) => found,
            Err(Fault::Unusual) => self.held(url, chart).await?,
            Err(Fault::TooLarge) => return Err(Cause::TooLarge { what, limit: self.sources.web.limits.index }),
            Err(Fault::Wrong(why)) => return Err(Cause::Malformed { what, why }),
        };
        let releases = Arc::new(found.ok_or(Cause::NoChart)?);
        self.sources.known.remember(key, &releases, unless);
        Ok(releases)
    }

    /// Reads an index as it arrives.
    async fn scan(&self, mut answer: Answer, chart: &str) -> Result<Result<Option<Vec<Release>>, Fault>, Cause> {
        let mut arriving = Arriving::new(chart, self.sources.web.limits.index, is_packed(&answer));
        while let Some(chunk) = answer.chunk().await? {
            match arriving.take(chunk.as_ref()) {
                Ok(true) => {}
                Ok(false) => break,
                Err(fault) => return Ok(Err(fault)),
            }
        }
        Ok(arriving.finish())
    }

    /// Reads an index as a whole. It is asked for again: whoever scans does not keep what was before.
    async fn held(&self, url: Url, chart: &str) -> Result<Option<Vec<Release>>, Cause> {
        let limit = self.sources.web.limits.held;
        // It fails only where nobody reads any more.
        let _turn = self.sources.hold.acquire().await;
        let answer = self.get(url, &[]).await?.accepted()?;
        let (what, packed) = (answer.what().to_owned(), is_packed(&answer));
        let malformed = |why: String| Cause::Malformed { what: what.clone(), why };
        let mut text = answer.bytes(limit).await?;
        if packed {
            let mut plain = Vec::new();
            let read = GzDecoder::new(text.as_slice()).take(limit + 1).read_to_end(&mut plain);
            read.map_err(|error| malformed(error.to_string()))?;
            text = plain;
        }
        if text.len() as u64 > limit {
            return Err(Cause::TooLarge { what, limit });
        }
        let chart = chart.to_owned();
        // It takes seconds, which others shall not wait.
        let read = tokio::task::spawn_blocking(move || whole(&text, &chart)).await;
        read.map_err(|error| malformed(error.to_string()))?.map_err(malformed)
    }

    /// The archive of a release, from one of its addresses.
    async fn archive(&self, reference: &str, expected: &Expected<'_>) -> Result<Fetched, Cause> {
        if reference.starts_with("oci://") {
            return registry::follow(&self.sources.web, reference, expected, &self.access.elsewhere()).await;
        }
        let url = resolve(self.base, reference).filter(|url| matches!(url.scheme(), "http" | "https"));
        let malformed = || Cause::Malformed {
            what: "the index".to_owned(),
            why: format!("it has the address {:?}", shown(reference)),
        };
        let answer = self.get(url.ok_or_else(malformed)?, &[]).await?.accepted()?;
        let what = answer.what().to_owned();
        let archive = answer.bytes(self.sources.web.limits.archive).await?;
        expected.check(&what, archive)
    }
}

fn is_packed(answer: &Answer) -> bool {
    answer.header(&CONTENT_ENCODING).any(|encoding| encoding.trim().eq_ignore_ascii_case("gzip"))
}
