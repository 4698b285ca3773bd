//! Charts from their repositories: fetched once, and then read from the content store by their digest.

mod credentials;
mod fetcher;

pub(crate) use fetcher::Charts;
