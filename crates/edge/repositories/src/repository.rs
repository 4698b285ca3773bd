//! Fetches a chart from an HTTP repository.

use std::io::Read;
use std::sync::Arc;

use fitout_helm_ranges::Version;
use flate2::read::GzDecoder;
use reqwest::Url;
use reqwest::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderName};

use crate::access::Credential;
use crate::address::{redacted, resolve};
use crate::choice::choose;
use crate::expected::Expected;
use crate::http::{Request, Response};
use crate::index::{IndexReader, Release, ScanError, parse_whole};
use crate::index_cache::{IndexCache, conditions};
use crate::{Access, AddressError, Cause, Fetched, IndexError, ResponseError, Sources, Wanted, registry};

/// Fetches a chart from the first of its URLs that has it.
pub(crate) async fn fetch(
    sources: &Sources,
    base: &Url,
    wanted: &Wanted<'_>,
    access: &Access,
) -> Result<Fetched, Cause> {
    let repository = Repository { sources, base, access, credential: access.credential() };
    let releases = repository.releases(wanted.chart).await?;
    let offered = releases.iter().filter_map(|release| Some((Version::parse(&release.version).ok()?, release)));
    let release = choose(offered.collect(), wanted.version)?;
    let expected = Expected::new(&release.version, release.digest.as_deref(), wanted.digest)?;
    let mut failed: Option<Cause> = None;
    for reference in &release.urls {
        match repository.archive(reference, &expected).await {
            Ok(fetched) => return Ok(fetched),
            // A transient error is reported first, because the caller decides by it whether to retry.
            Err(cause) if failed.as_ref().is_none_or(|first| cause.passing() && !first.passing()) => {
                failed = Some(cause);
            }
            Err(_) => {}
        }
    }
    Err(failed.unwrap_or_else(|| Cause::NoArchive(release.version.clone())))
}

/// A repository and the credentials for it.
struct Repository<'a> {
    sources: &'a Sources,
    base: &'a Url,
    access: &'a Access,
    credential: Credential,
}

impl Repository<'_> {
    async fn get(&self, url: Url, headers: &[(HeaderName, String)]) -> Result<Response, Cause> {
        let request = Request { url, home: self.base, access: self.access, credential: &self.credential, headers };
        self.sources.http.get(request).await
    }

    /// Reads the versions of a chart, from the cache if the index has not changed.
    async fn releases(&self, chart: &str) -> Result<Arc<Vec<Release>>, Cause> {
        let url = resolve(self.base, "index.yaml").ok_or(Cause::Address(AddressError::NoBase))?;
        let key = IndexCache::key(&url, chart, self.access);
        let cached = self.sources.indexes.get(&key);
        let mut headers = vec![(ACCEPT_ENCODING, "gzip".to_owned())];
        headers.extend(cached.iter().flat_map(|cached| cached.conditions.clone()));
        let response = self.get(url.clone(), &headers).await?;
        if let (304, Some(cached)) = (response.status(), cached) {
            return Ok(cached.releases);
        }
        let response = response.error_for_status()?;
        let conditions = conditions(&response);
        let what = redacted(url.as_str());
        let found = match self.scan(response, chart).await? {
            Ok(found) => found,
            Err(ScanError::Unsupported) => self.parse_whole(url, chart).await?,
            Err(ScanError::TooLarge) => return Err(Cause::TooLarge { what, limit: self.sources.http.limits.index }),
            Err(ScanError::Invalid(error)) => {
                return Err(Cause::Malformed { what, reason: ResponseError::Index(error) });
            }
        };
        let releases = Arc::new(found.ok_or(Cause::NoChart)?);
        self.sources.indexes.insert(key, &releases, conditions);
        Ok(releases)
    }

    /// Scans an index while it is received.
    async fn scan(
        &self,
        mut response: Response,
        chart: &str,
    ) -> Result<Result<Option<Vec<Release>>, ScanError>, Cause> {
        let mut reader = IndexReader::new(chart, self.sources.http.limits.index, is_gzipped(&response));
        while let Some(chunk) = response.chunk().await? {
            match reader.read(chunk.as_ref()) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => return Ok(Err(error)),
            }
        }
        Ok(reader.finish())
    }

    /// Parses an index as a whole. Requests it again, because the scan has not kept its text.
    async fn parse_whole(&self, url: Url, chart: &str) -> Result<Option<Vec<Release>>, Cause> {
        let limit = self.sources.http.limits.held;
        // Fails only if the semaphore is closed, which it never is.
        let _permit = self.sources.whole_index.acquire().await;
        let response = self.get(url, &[]).await?.error_for_status()?;
        let (what, is_gzipped) = (response.what().to_owned(), is_gzipped(&response));
        let malformed = |reason| Cause::Malformed { what: what.clone(), reason };
        let mut text = response.bytes(limit).await?;
        if is_gzipped {
            let mut plain = Vec::new();
            let read = GzDecoder::new(text.as_slice()).take(limit + 1).read_to_end(&mut plain);
            read.map_err(|error| malformed(ResponseError::Index(IndexError::Gzip(error.to_string()))))?;
            text = plain;
        }
        if text.len() as u64 > limit {
            return Err(Cause::TooLarge { what, limit });
        }
        let chart = chart.to_owned();
        // Parsing takes seconds and must not block other tasks.
        let parsed = tokio::task::spawn_blocking(move || parse_whole(&text, &chart)).await;
        let parsed = parsed.map_err(|error| malformed(ResponseError::Task(error)))?;
        parsed.map_err(|error| malformed(ResponseError::Index(error)))
    }

    /// Fetches an archive from one of its URLs.
    async fn archive(&self, reference: &str, expected: &Expected<'_>) -> Result<Fetched, Cause> {
        if reference.starts_with("oci://") {
            return registry::fetch_url(&self.sources.http, reference, expected, &self.access.elsewhere()).await;
        }
        let url = resolve(self.base, reference).filter(|url| matches!(url.scheme(), "http" | "https"));
        let malformed =
            || Cause::Malformed { what: "the index".to_owned(), reason: ResponseError::Url(redacted(reference)) };
        let response = self.get(url.ok_or_else(malformed)?, &[]).await?.error_for_status()?;
        let what = response.what().to_owned();
        let archive = response.bytes(self.sources.http.limits.archive).await?;
        expected.verify(&what, archive)
    }
}

fn is_gzipped(response: &Response) -> bool {
    response.header(&CONTENT_ENCODING).any(|encoding| encoding.trim().eq_ignore_ascii_case("gzip"))
}
