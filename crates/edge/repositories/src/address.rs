//! Addresses: of repositories, of what is in them, and how they are shown.

use reqwest::Url;

use crate::Cause;

/// Where charts are published.
pub(crate) enum Address {
    /// The folder of an `index.yaml`.
    Http(Url),
    /// A place in a registry.
    Registry(Place),
}

/// A place in a registry.
pub(crate) struct Place {
    /// The registry itself.
    pub(crate) base: Url,
    /// Below it, without slashes around.
    pub(crate) path: String,
}

impl Address {
    pub(crate) fn parse(text: &str) -> Result<Self, Cause> {
        let (url, registry) = match text.split_once("://") {
            Some(("oci", rest)) => (format!("https://{rest}"), true),
            Some(("oci+http", rest)) => (format!("http://{rest}"), true),
            Some(("http" | "https", _)) => (text.to_owned(), false),
            _ => {
                return Err(Cause::Address(
                    "is none; begin it with https://, http://, oci:// or oci+http://".to_owned(),
                ));
            }
        };
        let url = Url::parse(&url).map_err(|error| Cause::Address(format!("is none: {error}; correct it")))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Cause::Address("has a user or a password in it; give them as its access".to_owned()));
        }
        if !registry {
            return Ok(Self::Http(url));
        }
        let path = url.path().trim_matches('/').to_owned();
        let mut base = url;
        // Docker's own registry goes by another name than its images.
        if base.host_str() == Some("docker.io") && base.set_host(Some("registry-1.docker.io")).is_err() {
            return Err(Cause::Address("is none; correct it".to_owned()));
        }
        base.set_path("/");
        base.set_query(None);
        base.set_fragment(None);
        Ok(Self::Registry(Place { base, path }))
    }
}

impl Place {
    /// The name of a chart's repository in the registry, and the digest of the manifest where that is part of it.
    pub(crate) fn chart(&self, chart: &str) -> Result<(String, Option<String>), Cause> {
        let whole = [self.path.as_str(), chart].into_iter().filter(|part| !part.is_empty());
        let whole = whole.collect::<Vec<_>>().join("/");
        let (name, digest) = match whole.split_once('@') {
            Some((name, digest)) => (name, Some(digest)),
            None => (whole.as_str(), None),
        };
        let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._-".contains(&byte);
        let segment = |part: &str| part.bytes().all(allowed) && part.bytes().any(|byte| byte.is_ascii_alphanumeric());
        if !name.split('/').all(segment) {
            return Err(Cause::Address(format!(
                "and the chart make {name:?}, which no registry has; write it in lower case, and the version elsewhere"
            )));
        }
        match digest.map(sha256) {
            Some(None) => Err(Cause::Address("has a digest that is no SHA-256; write it as sha256:…".to_owned())),
            digest => Ok((name.to_owned(), digest.flatten())),
        }
    }
}

/// What an entry of an index points at, as Helm resolves it: what is relative is so to the folder of the index, and keeps
/// the query of its address.
pub(crate) fn resolve(base: &Url, reference: &str) -> Option<Url> {
    if let Ok(absolute) = Url::parse(reference) {
        return Some(bare(absolute));
    }
    let mut folder = base.clone();
    folder.set_path(&format!("{}/", base.path().trim_end_matches('/')));
    let mut resolved = folder.join(reference).ok()?;
    resolved.set_query(base.query());
    Some(bare(resolved))
}

/// Where a server sends us.
pub(crate) fn redirect(from: &Url, location: &str) -> Option<Url> {
    from.join(location).ok().map(bare)
}

/// Without a user and a password: what is shown to a server is for us to say, not for an index.
fn bare(mut url: Url) -> Url {
    // It fails only for an address that cannot have either.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url
}

/// Whether the same server answers at both, which is when credentials for the one may be shown to the other.
pub(crate) fn same_server(one: &Url, other: &Url) -> bool {
    let server = |url: &Url| (url.scheme().to_owned(), url.host_str().map(str::to_owned), url.port_or_known_default());
    server(one) == server(other)
}

/// An address as people may see it: without user, password, query and fragment, where secrets are.
pub(crate) fn shown(address: &str) -> String {
    let address = address.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = address.split_once("://") else {
        return address.rsplit('@').next().unwrap_or_default().to_owned();
    };
    let (server, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    format!("{scheme}://{}{path}", server.rsplit('@').next().unwrap_or_default())
}

/// A server as people know it.
pub(crate) fn host(url: &Url) -> String {
    let name = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| name.to_owned(), |port| format!("{name}:{port}"))
}

/// A digest as we write it, from what others write: with or without the name of the algorithm.
pub(crate) fn sha256(text: &str) -> Option<String> {
    let digits = text.strip_prefix("sha256:").unwrap_or(text).to_ascii_lowercase();
    let whole = digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    whole.then(|| format!("sha256:{digits}"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]
    use super::*;

    #[test]
    fn addresses_in_an_index_are_resolved_as_helm_resolves_them() {
        let rows = [
            ("https://a.io/charts", "p-1.tgz", "https://a.io/charts/p-1.tgz"),
            ("https://a.io/charts/", "x/p-1.tgz", "https://a.io/charts/x/p-1.tgz"),
            ("https://a.io/charts", "/p-1.tgz", "https://a.io/p-1.tgz"),
            ("https://a.io/charts", "../p-1.tgz", "https://a.io/p-1.tgz"),
            ("https://a.io/charts?key=1", "p-1.tgz", "https://a.io/charts/p-1.tgz?key=1"),
            ("https://a.io/charts?key=1", "https://b.io/p.tgz", "https://b.io/p.tgz"),
            ("https://a.io/charts", "//b.io/p.tgz", "https://b.io/p.tgz"),
            ("https://a.io/charts", "https://u:p@b.io/p.tgz", "https://b.io/p.tgz"),
        ];
        for (base, reference, wanted) in rows {
            let found = resolve(&Url::parse(base).unwrap(), reference).unwrap();
            assert_eq!(found.as_str(), wanted, "{reference} at {base}");
        }
    }

    #[test]
    fn what_is_shown_has_no_secret() {
        let rows = [
            ("https://user:secret@a.io/charts?sig=secret#secret", "https://a.io/charts"),
            ("oci://user:secret@a.io:5000", "oci://a.io:5000"),
            ("user:secret@a.io", "a.io"),
            ("https://u:p@ss/word@a.io/x", "https://ss/word@a.io/x"),
        ];
        for (address, wanted) in rows {
            assert_eq!(shown(address), wanted);
        }
    }

    #[test]
    fn a_chart_is_the_last_segment_and_may_be_the_whole_address() {
        let place = |text: &str| match Address::parse(text).unwrap() {
            Address::Registry(place) => place,
            Address::Http(url) => panic!("{url}"),
        };
        let digest = format!("sha256:{}", "a".repeat(64));
        assert_eq!(place("oci://a.io/charts/").chart("podinfo").unwrap(), ("charts/podinfo".to_owned(), None));
        assert_eq!(place("oci://a.io/charts/podinfo").chart("").unwrap(), ("charts/podinfo".to_owned(), None));
        let pinned = place("oci://a.io/charts").chart(&format!("podinfo@{digest}")).unwrap();
        assert_eq!(pinned, ("charts/podinfo".to_owned(), Some(digest)));
        assert_eq!(place("oci+http://a.io/x").base.as_str(), "http://a.io/");
        assert_eq!(place("oci://docker.io/x").base.as_str(), "https://registry-1.docker.io/");
        for wrong in ["podinfo:6.0.0", "../podinfo", "Podinfo", "a//b", "podinfo@sha256:1"] {
            assert!(place("oci://a.io/charts").chart(wrong).is_err(), "{wrong}");
        }
    }
}
