//! Addresses of repositories.

use reqwest::Url;

use crate::AddressError;

/// The address of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// Smart HTTP, with TLS or without.
    Http(Url),
    /// SSH.
    Ssh(SshAddress),
}

/// A path on a server with SSH.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SshAddress {
    pub(crate) host: String,
    pub(crate) port: Option<u16>,
    pub(crate) path: String,
}

impl Address {
    pub(crate) fn parse(text: &str) -> Result<Self, AddressError> {
        let (scheme, _) = text.split_once("://").ok_or(AddressError::Scheme)?;
        if !["https", "http", "ssh"].contains(&scheme) {
            return Err(AddressError::Scheme);
        }
        let url = Url::parse(text).map_err(AddressError::Url)?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(AddressError::Credentials);
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(AddressError::Invalid);
        }
        if scheme != "ssh" {
            return Ok(Self::Http(url));
        }
        let host = url.host_str().ok_or(AddressError::Invalid)?.trim_matches(['[', ']']).to_owned();
        let path = url.path().to_owned();
        // A host with a leading hyphen would be an option of ssh. The path is quoted for the server's shell.
        let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\'' && byte != b'\\');
        let is_host = host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_:".contains(&byte));
        if host.is_empty() || host.starts_with('-') || !is_host || !is_plain(&path) || path.len() < 2 {
            return Err(AddressError::Invalid);
        }
        // As git does: /~user/x is in the home of a user.
        let path = if path.starts_with("/~") { path[1..].to_owned() } else { path };
        Ok(Self::Ssh(SshAddress { host, port: url.port(), path }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_https_http_and_ssh() {
        let ssh = |host: &str, port, path: &str| {
            Ok(Address::Ssh(SshAddress { host: host.to_owned(), port, path: path.to_owned() }))
        };
        let rows = [
            ("ssh://git.example/team/x.git", ssh("git.example", None, "/team/x.git")),
            ("ssh://[::1]:2222/x", ssh("::1", Some(2222), "/x")),
            ("ssh://git.example/~team/x", ssh("git.example", None, "~team/x")),
            ("ssh://-oProxyCommand=x/y", Err(AddressError::Invalid)),
            ("ssh://git.example/a'b", Err(AddressError::Invalid)),
            ("ssh://git.example/", Err(AddressError::Invalid)),
            ("ssh://git@git.example/x", Err(AddressError::Credentials)),
            ("https://user:secret@git.example/x", Err(AddressError::Credentials)),
            ("https://git.example/x?y=z", Err(AddressError::Invalid)),
            ("file:///etc", Err(AddressError::Scheme)),
            ("ext::sh -c id", Err(AddressError::Scheme)),
            ("git.example:x", Err(AddressError::Scheme)),
        ];
        for (text, expected) in rows {
            assert_eq!(Address::parse(text), expected, "{text}");
        }
        assert!(matches!(Address::parse("https://git.example/x"), Ok(Address::Http(_))));
    }
}
