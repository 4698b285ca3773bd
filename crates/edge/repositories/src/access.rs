//! Credentials and certificates for a repository.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fitout_model::Digest;
use serde_json::Value;

use crate::AccessError;

/// Credentials for a repository, and the authorities to trust. They are sent to the server of the repository's address
/// and to no other, except credentials for a registry to its token server.
#[derive(Clone, Default)]
pub struct Access {
    /// A user and a password.
    pub basic: Option<(String, String)>,
    /// A token.
    pub bearer: Option<String>,
    /// A client certificate.
    pub identity: Option<Identity>,
    /// Certificates of authorities, as PEM, to trust in addition to those of the operating system.
    pub authority: Option<String>,
    /// Docker's `config.json`, with credentials for registries under `auths`.
    pub docker_config: Option<String>,
}

/// A client certificate and its key, as PEM.
#[derive(Clone)]
pub struct Identity {
    /// The certificate, and intermediate certificates.
    pub certificate: String,
    /// The key.
    pub key: String,
}

/// Prints which credentials are set, never their values.
impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access")
            .field("basic", &self.basic.is_some())
            .field("bearer", &self.bearer.is_some())
            .field("identity", &self.identity.is_some())
            .field("authority", &self.authority.is_some())
            .field("docker_config", &self.docker_config.is_some())
            .finish()
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identity")
    }
}

/// The credentials of a single request.
#[derive(Clone, Default)]
pub(crate) enum Credential {
    /// Nothing.
    #[default]
    None,
    /// A user and a password.
    Basic(String, String),
    /// A token.
    Bearer(String),
}

impl Access {
    /// The credentials for an HTTP repository.
    pub(crate) fn credential(&self) -> Credential {
        match (&self.bearer, &self.basic) {
            (Some(token), _) => Credential::Bearer(token.clone()),
            (None, Some((user, password))) => Credential::Basic(user.clone(), password.clone()),
            (None, None) => Credential::None,
        }
    }

    /// The credentials for a repository of a registry; without a token or a user, those of Docker's configuration.
    pub(crate) fn for_registry(&self, host: &str, name: &str) -> Result<Credential, AccessError> {
        match (self.credential(), &self.docker_config) {
            (Credential::None, Some(config)) => docker_credential(config, host, name),
            (credential, _) => Ok(credential),
        }
    }

    /// The access for another server that the repository refers to: without credentials and client certificate.
    pub(crate) fn elsewhere(&self) -> Self {
        Self { basic: None, bearer: None, identity: None, ..self.clone() }
    }

    /// A digest that differs for different credentials and does not reveal them.
    pub fn fingerprint(&self) -> Digest {
        let identity = self.identity.as_ref().map(|own| (&own.certificate, &own.key));
        Digest::of(format!("{:?}", (&self.basic, &self.bearer, identity, &self.authority, &self.docker_config)))
    }
}

/// Finds the credentials for a repository in Docker's configuration: the matching entry with the longest path.
fn docker_credential(config: &str, host: &str, name: &str) -> Result<Credential, AccessError> {
    let config: Value = serde_json::from_str(config).map_err(|_| AccessError::DockerJson)?;
    let Some(auths) = config.get("auths").and_then(Value::as_object) else { return Ok(Credential::None) };
    let matching = |key: &str| {
        let (server, path) = server_and_path(key);
        let is_below =
            name.strip_prefix(path).is_some_and(|rest| path.is_empty() || rest.is_empty() || rest.starts_with('/'));
        (server == host && is_below).then_some(path.len())
    };
    let entry = auths.iter().filter_map(|(key, entry)| Some((matching(key)?, entry))).max_by_key(|(length, _)| *length);
    let Some((_, entry)) = entry else { return Ok(Credential::None) };
    let text = |key: &str| entry.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    if let Some(token) = text("registrytoken") {
        return Ok(Credential::Bearer(token.to_owned()));
    }
    if text("identitytoken").is_some() {
        return Err(AccessError::IdentityToken(host.to_owned()));
    }
    if let (Some(user), Some(password)) = (text("username"), text("password")) {
        return Ok(Credential::Basic(user.to_owned(), password.to_owned()));
    }
    let Some(auth) = text("auth") else { return Ok(Credential::None) };
    let decoded = STANDARD.decode(auth).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let pair = decoded.as_deref().and_then(|pair| pair.split_once(':'));
    let (user, password) = pair.ok_or_else(|| AccessError::DockerAuth(host.to_owned()))?;
    Ok(Credential::Basic(user.to_owned(), password.to_owned()))
}

/// The server and the path of a key in Docker's configuration.
fn server_and_path(key: &str) -> (&str, &str) {
    let key = key.trim_start_matches("https://").trim_start_matches("http://").trim_end_matches('/');
    let (server, path) = key.split_once('/').unwrap_or((key, ""));
    match (server, path) {
        // Names of Docker Hub.
        ("index.docker.io" | "docker.io", _) => ("registry-1.docker.io", if path == "v1" { "" } else { path }),
        (_, "v1" | "v2") => (server, ""),
        _ => (server, path),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]
    use super::*;
    use crate::Cause;

    fn found(host: &str, name: &str) -> String {
        let config = serde_json::json!({ "auths": {
            "https://index.docker.io/v1/": { "auth": STANDARD.encode("hub:a:b") },
            "a.io": { "username": "all", "password": "p" },
            "a.io/team": { "username": "team", "password": "p" },
            "b.io:5000": { "registrytoken": "t" },
            "c.io": {},
        }});
        match docker_credential(&config.to_string(), host, name).unwrap() {
            Credential::None => "nothing".to_owned(),
            Credential::Basic(user, password) => format!("{user}:{password}"),
            Credential::Bearer(token) => format!("token {token}"),
        }
    }

    #[test]
    fn docker_config_selects_credentials_by_server_and_path() {
        assert_eq!(found("registry-1.docker.io", "x/y"), "hub:a:b");
        assert_eq!(found("a.io", "teams/y"), "all:p");
        assert_eq!(found("a.io", "team/y"), "team:p");
        assert_eq!(found("b.io:5000", "y"), "token t");
        assert_eq!(found("b.io", "y"), "nothing");
        assert_eq!(found("c.io", "y"), "nothing");
        assert_eq!(found("evil-a.io", "y"), "nothing");
    }

    #[test]
    fn invalid_docker_config_is_not_printed() {
        for config in
            ["secret", r#"{"auths":{"a.io":{"auth":"secret"}}}"#, r#"{"auths":{"a.io":{"identitytoken":"secret"}}}"#]
        {
            let cause = Cause::Access(docker_credential(config, "a.io", "x").err().unwrap());
            assert!(!format!("{cause} {cause:?}").contains("secret") && !cause.passing(), "{cause}");
        }
    }

    #[test]
    fn debug_output_has_no_secret() {
        let secret = || "secret".to_owned();
        let access = Access {
            basic: Some((secret(), secret())),
            bearer: Some(secret()),
            identity: Some(Identity { certificate: secret(), key: secret() }),
            authority: Some(secret()),
            docker_config: Some(secret()),
        };
        let shown = format!("{access:?} {:#?}", access.identity);
        assert!(!shown.contains("secret") && shown.contains("bearer: true"), "{shown}");
    }
}
