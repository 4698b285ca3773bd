//! Charts from their repositories: fetched once, and then read from the content store by their digest.

pub(crate) mod credentials;
mod fetcher;

pub(crate) use fetcher::Charts;
