//! Addresses of repositories, URLs in their indexes, and addresses in messages.

use reqwest::Url;

use crate::AddressError;

/// The address of a repository.
pub(crate) enum Address {
    /// The folder of an `index.yaml`.
    Http(Url),
    /// A path in a registry.
    Registry(RegistryPath),
}

/// A path in a registry.
pub(crate) struct RegistryPath {
    /// The registry.
    pub(crate) base: Url,
    /// The path, without slashes at either end.
    pub(crate) path: String,
}

impl Address {
    pub(crate) fn parse(text: &str) -> Result<Self, AddressError> {
        let (url, registry) = match text.split_once("://") {
            Some(("oci", rest)) => (format!("https://{rest}"), true),
            Some(("oci+http", rest)) => (format!("http://{rest}"), true),
            Some(("http" | "https", _)) => (text.to_owned(), false),
            _ => return Err(AddressError::Scheme),
        };
        let url = Url::parse(&url).map_err(AddressError::Url)?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(AddressError::Credentials);
        }
        if !registry {
            return Ok(Self::Http(url));
        }
        let path = url.path().trim_matches('/').to_owned();
        let mut base = url;
        // The registry of `docker.io` images has another host name.
        if base.host_str() == Some("docker.io") {
            base.set_host(Some("registry-1.docker.io")).map_err(AddressError::Url)?;
        }
        base.set_path("/");
        base.set_query(None);
        base.set_fragment(None);
        Ok(Self::Registry(RegistryPath { base, path }))
    }
}

impl RegistryPath {
    /// The name of a chart in the registry, and the digest of its manifest if the address pins one.
    pub(crate) fn chart(&self, chart: &str) -> Result<(String, Option<String>), AddressError> {
        let whole = [self.path.as_str(), chart].into_iter().filter(|part| !part.is_empty());
        let whole = whole.collect::<Vec<_>>().join("/");
        let (name, digest) = match whole.split_once('@') {
            Some((name, digest)) => (name, Some(digest)),
            None => (whole.as_str(), None),
        };
        check_name(name)?;
        match digest.map(sha256) {
            Some(None) => Err(AddressError::Digest),
            digest => Ok((name.to_owned(), digest.flatten())),
        }
    }

    /// The name of an artifact in the registry, and its tag or the digest of its manifest.
    pub(crate) fn artifact(&self) -> Result<(String, String), AddressError> {
        let (name, reference) = match self.path.split_once('@') {
            Some((name, digest)) => (name, sha256(digest).ok_or(AddressError::Digest)?),
            None => match self.path.rsplit_once(':').filter(|(_, tag)| is_tag(tag)) {
                Some((name, tag)) => (name, tag.to_owned()),
                None => return Err(AddressError::NoTag),
            },
        };
        check_name(name)?;
        Ok((name.to_owned(), reference))
    }
}

/// Fails if a name is invalid in a registry.
fn check_name(name: &str) -> Result<(), AddressError> {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._-".contains(&byte);
    let segment = |part: &str| part.bytes().all(allowed) && part.bytes().any(|byte| byte.is_ascii_alphanumeric());
    if name.split('/').all(segment) { Ok(()) } else { Err(AddressError::Name(name.to_owned())) }
}

/// Whether a text is a valid tag.
fn is_tag(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    text.len() <= 128 && !text.is_empty() && text.bytes().all(allowed) && !text.starts_with(['.', '-'])
}

/// Resolves a URL of an index as Helm does: a relative one is relative to the folder of the index and keeps its query.
pub(crate) fn resolve(base: &Url, reference: &str) -> Option<Url> {
    if let Ok(absolute) = Url::parse(reference) {
        return Some(without_userinfo(absolute));
    }
    let mut folder = base.clone();
    folder.set_path(&format!("{}/", base.path().trim_end_matches('/')));
    let mut resolved = folder.join(reference).ok()?;
    resolved.set_query(base.query());
    Some(without_userinfo(resolved))
}

/// Resolves the target of a redirect.
pub(crate) fn redirect(from: &Url, location: &str) -> Option<Url> {
    from.join(location).ok().map(without_userinfo)
}

/// Strips user and password: an index or a redirect does not decide which credentials are sent.
fn without_userinfo(mut url: Url) -> Url {
    // Fails only for a URL that cannot have either.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url
}

/// Whether both URLs have the same scheme, host and port, so that credentials for one may be sent to the other.
pub(crate) fn same_server(one: &Url, other: &Url) -> bool {
    let server = |url: &Url| (url.scheme().to_owned(), url.host_str().map(str::to_owned), url.port_or_known_default());
    server(one) == server(other)
}

/// An address for messages: without user, password, query and fragment, which may be secret.
pub fn redacted(address: &str) -> String {
    let address = address.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = address.split_once("://") else {
        return address.rsplit('@').next().unwrap_or_default().to_owned();
    };
    let (server, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    format!("{scheme}://{}{path}", server.rsplit('@').next().unwrap_or_default())
}

/// The host of a URL, with its port if that is not the default.
pub(crate) fn host(url: &Url) -> String {
    let name = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| name.to_owned(), |port| format!("{name}:{port}"))
}

/// Normalizes a SHA-256 digest with or without the `sha256:` prefix.
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
    fn index_urls_are_resolved_as_helm_resolves_them() {
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
    fn redacted_address_has_no_secret() {
        let rows = [
            ("https://user:secret@a.io/charts?sig=secret#secret", "https://a.io/charts"),
            ("oci://user:secret@a.io:5000", "oci://a.io:5000"),
            ("user:secret@a.io", "a.io"),
            ("https://u:p@ss/word@a.io/x", "https://ss/word@a.io/x"),
        ];
        for (address, wanted) in rows {
            assert_eq!(redacted(address), wanted);
        }
    }

    #[test]
    fn chart_is_the_last_segment_or_included_in_the_address() {
        let parsed = |text: &str| match Address::parse(text).unwrap() {
            Address::Registry(path) => path,
            Address::Http(url) => panic!("{url}"),
        };
        let digest = format!("sha256:{}", "a".repeat(64));
        assert_eq!(parsed("oci://a.io/charts/").chart("podinfo").unwrap(), ("charts/podinfo".to_owned(), None));
        assert_eq!(parsed("oci://a.io/charts/podinfo").chart("").unwrap(), ("charts/podinfo".to_owned(), None));
        let pinned = parsed("oci://a.io/charts").chart(&format!("podinfo@{digest}")).unwrap();
        assert_eq!(pinned, ("charts/podinfo".to_owned(), Some(digest)));
        assert_eq!(parsed("oci+http://a.io/x").base.as_str(), "http://a.io/");
        assert_eq!(parsed("oci://docker.io/x").base.as_str(), "https://registry-1.docker.io/");
        for wrong in ["podinfo:6.0.0", "../podinfo", "Podinfo", "a//b", "podinfo@sha256:1"] {
            assert!(parsed("oci://a.io/charts").chart(wrong).is_err(), "{wrong}");
        }
    }
}
