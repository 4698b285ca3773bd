//! Fetches a chart from an HTTP repository.

use std::io::Read;
use std::sync::Arc;

use fitout_helm_ranges::Version;
use fitout_model::Digest;
use flate2::read::GzDecoder;
use reqwest::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderName};
use reqwest::{Method, Url};

use crate::access::Credential;
use crate::address::{redacted, resolve};
use crate::choice::choose;
use crate::expected::Expected;
use crate::http::{Request, Response};
use crate::index::{Charts, Found, IndexReader, OneChart, Release, ScanError, parse_whole};
use crate::index_cache::IndexCache;
use crate::registry::pull;
use crate::{Access, AddressError, Cause, Fetched, IndexError, ResponseError, Sources, Validators, Wanted};

/// Fetches a chart from the first of its URLs that has it.
pub(crate) async fn fetch(
    sources: &Sources,
    base: &Url,
    wanted: &Wanted<'_>,
    access: &Access,
) -> Result<Fetched, Cause> {
    let repository = Repository::new(sources, base, access);
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
pub(crate) struct Repository<'a> {
    pub(crate) sources: &'a Sources,
    base: &'a Url,
    access: &'a Access,
    credential: Credential,
}

impl<'a> Repository<'a> {
    pub(crate) fn new(sources: &'a Sources, base: &'a Url, access: &'a Access) -> Self {
        Self { sources, base, access, credential: access.credential() }
    }

    /// The URL of the index.
    pub(crate) fn index_url(&self) -> Result<Url, Cause> {
        resolve(self.base, "index.yaml").ok_or(Cause::Address(AddressError::NoBase))
    }

    pub(crate) async fn get(&self, url: Url, headers: &[(HeaderName, String)]) -> Result<Response, Cause> {
        let (home, access, credential) = (self.base, self.access, &self.credential);
        let request = Request { method: Method::GET, url, home, access, credential, headers, body: None };
        self.sources.http.send(request).await
    }

    /// Reads the versions of a chart, from the cache if the index has not changed.
    async fn releases(&self, chart: &str) -> Result<Arc<Vec<Release>>, Cause> {
        let url = self.index_url()?;
        let key = IndexCache::key(&url, chart, self.access);
        let cached = self.sources.indexes.get(&key);
        let mut headers = vec![(ACCEPT_ENCODING, "gzip".to_owned())];
        headers.extend(cached.iter().flat_map(|cached| cached.conditions.clone()));
        let response = self.get(url.clone(), &headers).await?;
        if let (304, Some(cached)) = (response.status(), cached) {
            return Ok(cached.releases);
        }
        let response = response.error_for_status()?;
        let conditions = Validators::of(&response).conditions();
        let read = match self.scan(response, chart).await? {
            Ok(read) => read,
            Err(ScanError::Unsupported) => {
                let chart = chart.to_owned();
                self.parse_whole(url, move |text| {
                    parse_whole(text, || OneChart::new(&chart)).map(|read| read.charts.releases)
                })
                .await?
                .1
            }
            Err(error) => return Err(self.scan_failed(&url, error)),
        };
        let releases = Arc::new(read.ok_or(Cause::NoChart)?);
        self.sources.indexes.insert(key, &releases, conditions);
        Ok(releases)
    }

    /// The cause of a failed scan of the index.
    pub(crate) fn scan_failed(&self, url: &Url, error: ScanError) -> Cause {
        let what = redacted(url.as_str());
        match error {
            ScanError::TooLarge => Cause::TooLarge { what, limit: self.sources.http.limits.index },
            ScanError::Invalid(error) => Cause::Malformed { what, reason: ResponseError::Index(error) },
            ScanError::Unsupported => Cause::Malformed { what, reason: ResponseError::Index(IndexError::NotAMapping) },
        }
    }

    /// Scans an index for a chart while it is received.
    async fn scan(&self, response: Response, chart: &str) -> Result<Result<Option<Vec<Release>>, ScanError>, Cause> {
        let limit = self.sources.http.limits.index;
        let reader = IndexReader::new(OneChart::new(chart), limit, is_gzipped(&response));
        Ok(receive(response, reader).await?.map(|(read, _)| read.charts.releases))
    }

    /// Parses an index as a whole. Requests it again, because the scan has not kept its text.
    pub(crate) async fn parse_whole<T: Send + 'static>(
        &self,
        url: Url,
        parse: impl FnOnce(&[u8]) -> Result<T, IndexError> + Send + 'static,
    ) -> Result<(Validators, T), Cause> {
        let limit = self.sources.http.limits.held;
        // Fails only if the semaphore is closed, which it never is.
        let _permit = self.sources.whole_index.acquire().await;
        let response = self.get(url, &[]).await?.error_for_status()?;
        let (what, is_gzipped, validators) =
            (response.what().to_owned(), is_gzipped(&response), Validators::of(&response));
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
        // Parsing takes seconds and must not block other tasks.
        let parsed = tokio::task::spawn_blocking(move || parse(&text)).await;
        let parsed = parsed.map_err(|error| malformed(ResponseError::Task(error)))?;
        Ok((validators, parsed.map_err(|error| malformed(ResponseError::Index(error)))?))
    }

    /// Fetches an archive from one of its URLs.
    async fn archive(&self, reference: &str, expected: &Expected<'_>) -> Result<Fetched, Cause> {
        if reference.starts_with("oci://") {
            return pull::fetch_url(&self.sources.http, reference, expected, &self.access.elsewhere()).await;
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

/// Reads an index while it is received.
pub(crate) async fn receive<C: Charts>(
    mut response: Response,
    mut reader: IndexReader<C>,
) -> Result<Result<(Found<C>, Option<Digest>), ScanError>, Cause> {
    while let Some(chunk) = response.chunk().await? {
        match reader.read(chunk.as_ref()) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => return Ok(Err(error)),
        }
    }
    Ok(reader.finish())
}

pub(crate) fn is_gzipped(response: &Response) -> bool {
    response.header(&CONTENT_ENCODING).any(|encoding| encoding.trim().eq_ignore_ascii_case("gzip"))
}
