//! Reads all charts of an HTTP repository.

use fitout_model::Digest;
use reqwest::Url;
use reqwest::header::ACCEPT_ENCODING;

use crate::index::{AllCharts, IndexReader, ScanError, parse_whole};
use crate::repository::{Repository, is_gzipped, receive};
use crate::{Access, Answer, Cause, Index, IndexedChart, Sources, Validators};

/// Reads an index while it is received, unless the validators say that it has not changed.
pub(crate) async fn read<T: Default + Send>(
    sources: &Sources,
    base: &Url,
    validators: Option<&Validators>,
    access: &Access,
    mut collect: impl FnMut(&mut T, IndexedChart) + Send,
) -> Result<Answer<Index<T>>, Cause> {
    let repository = Repository::new(sources, base, access);
    let url = repository.index_url()?;
    let conditions = validators.map(Validators::conditions).unwrap_or_default();
    let is_conditional = !conditions.is_empty();
    let headers = [vec![(ACCEPT_ENCODING, "gzip".to_owned())], conditions].concat();
    let response = repository.get(url.clone(), &headers).await?;
    if response.status() == 304 && is_conditional {
        return Ok(Answer::Unchanged);
    }
    let response = response.error_for_status()?;
    let limits = sources.http.limits;
    let (validators, is_gzipped) = (Validators::of(&response), is_gzipped(&response));
    let mut charts = T::default();
    let receiver = AllCharts::new(limits.versions, |chart| collect(&mut charts, chart));
    let scanned = receive(response, IndexReader::with_digest(receiver, limits.index, is_gzipped)).await?;
    let scanned = scanned.map(|(read, digest)| (read.generated, digest));
    match scanned {
        Ok((generated, Some(revision))) => Ok(Answer::Changed(Index { charts, revision, validators, generated })),
        Err(ScanError::Unsupported) | Ok((_, None)) => {
            let (validators, (found, generated, revision)) =
                repository.parse_whole(url, move |text| whole(text, limits.versions)).await?;
            let mut charts = T::default();
            for chart in found {
                collect(&mut charts, chart);
            }
            Ok(Answer::Changed(Index { charts, revision, validators, generated }))
        }
        Err(error) => Err(repository.scan_failed(&url, error)),
    }
}

/// The charts of an index that is parsed as a whole, the time at which it was generated, and its digest.
type Whole = (Vec<IndexedChart>, Option<String>, Digest);

fn whole(text: &[u8], limit: usize) -> Result<Whole, crate::IndexError> {
    let found = std::cell::RefCell::new(Vec::new());
    let receiver = || {
        found.borrow_mut().clear();
        AllCharts::new(limit, |chart| found.borrow_mut().push(chart))
    };
    let generated = parse_whole(text, receiver)?.generated;
    Ok((found.into_inner(), generated, Digest::of(text)))
}
