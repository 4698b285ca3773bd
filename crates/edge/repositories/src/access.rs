//! What is shown to a server so that it answers.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fitout_model::Digest;
use serde_json::Value;

use crate::Cause;

/// What a source wants to see, and whom we believe. It is shown to the server of the repository's address and to no other;
/// credentials for a registry also to the server that gives out its tokens.
#[derive(Clone, Default)]
pub struct Access {
    /// A user and a password.
    pub basic: Option<(String, String)>,
    /// A token.
    pub bearer: Option<String>,
    /// A certificate of our own.
    pub identity: Option<Identity>,
    /// Certificates of authorities, as PEM, that are believed beside those that the machine believes.
    pub authority: Option<String>,
    /// Docker's `config.json`, with credentials for registries under `auths`.
    pub docker_config: Option<String>,
}

/// A certificate and its key, as PEM.
#[derive(Clone)]
pub struct Identity {
    /// The certificate, and those between it and the authority.
    pub certificate: String,
    /// The key.
    pub key: String,
}

/// Says what there is, never what it is.
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

/// What a single request shows.
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
    /// What an HTTP repository is shown.
    pub(crate) fn credential(&self) -> Credential {
        match (&self.bearer, &self.basic) {
            (Some(token), _) => Credential::Bearer(token.clone()),
            (None, Some((user, password))) => Credential::Basic(user.clone(), password.clone()),
            (None, None) => Credential::None,
        }
    }

    /// What a registry is shown for one of its repositories: what is there for anybody, else what Docker would show.
    pub(crate) fn for_registry(&self, host: &str, name: &str) -> Result<Credential, Cause> {
        match (self.credential(), &self.docker_config) {
            (Credential::None, Some(config)) => docker(config, host, name),
            (credential, _) => Ok(credential),
        }
    }

    /// What may be used at a server that the repository points at: nothing that is for the repository alone.
    pub(crate) fn elsewhere(&self) -> Self {
        Self { basic: None, bearer: None, identity: None, ..self.clone() }
    }

    /// Tells one access from another, without telling what it is.
    pub fn fingerprint(&self) -> Digest {
        let identity = self.identity.as_ref().map(|own| (&own.certificate, &own.key));
        Digest::of(format!("{:?}", (&self.basic, &self.bearer, identity, &self.authority, &self.docker_config)))
    }
}

/// What Docker's configuration has for a repository: the entry with the longest path that leads there.
fn docker(config: &str, host: &str, name: &str) -> Result<Credential, Cause> {
    let wrong = |why: &str| Cause::Access(format!("the docker config {why}"));
    let config: Value = serde_json::from_str(config).map_err(|_| wrong("is no JSON"))?;
    let Some(auths) = config.get("auths").and_then(Value::as_object) else { return Ok(Credential::None) };
    let leads = |key: &str| {
        let (server, path) = place(key);
        let below =
            name.strip_prefix(path).is_some_and(|rest| path.is_empty() || rest.is_empty() || rest.starts_with('/'));
        (server == host && below).then_some(path.len())
    };
    let entry = auths.iter().filter_map(|(key, entry)| Some((leads(key)?, entry))).max_by_key(|(length, _)| *length);
    let Some((_, entry)) = entry else { return Ok(Credential::None) };
    let text = |key: &str| entry.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    if let Some(token) = text("registrytoken") {
        return Ok(Credential::Bearer(token.to_owned()));
    }
    if text("identitytoken").is_some() {
        return Err(wrong(&format!(
            "has an identity token for {host}, which is not supported: give user and password"
        )));
    }
    if let (Some(user), Some(password)) = (text("username"), text("password")) {
        return Ok(Credential::Basic(user.to_owned(), password.to_owned()));
    }
    let Some(auth) = text("auth") else { return Ok(Credential::None) };
    let decoded = STANDARD.decode(auth).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let pair = decoded.as_deref().and_then(|pair| pair.split_once(':'));
    let (user, password) =
        pair.ok_or_else(|| wrong(&format!("has an auth for {host} that is not user:password in base64")))?;
    Ok(Credential::Basic(user.to_owned(), password.to_owned()))
}

/// The server and the path that a key of Docker's configuration is for.
fn place(key: &str) -> (&str, &str) {
    let key = key.trim_start_matches("https://").trim_start_matches("http://").trim_end_matches('/');
    let (server, path) = key.split_once('/').unwrap_or((key, ""));
    match (server, path) {
        // What Docker calls its own registry.
        ("index.docker.io" | "docker.io", _) => ("registry-1.docker.io", if path == "v1" { "" } else { path }),
        (_, "v1" | "v2") => (server, ""),
        _ => (server, path),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]
    use super::*;

    fn found(host: &str, name: &str) -> String {
        let config = serde_json::json!({ "auths": {
            "https://index.docker.io/v1/": { "auth": STANDARD.encode("hub:a:b") },
            "a.io": { "username": "all", "password": "p" },
            "a.io/team": { "username": "team", "password": "p" },
            "b.io:5000": { "registrytoken": "t" },
            "c.io": {},
        }});
        match docker(&config.to_string(), host, name).unwrap() {
            Credential::None => "nothing".to_owned(),
            Credential::Basic(user, password) => format!("{user}:{password}"),
            Credential::Bearer(token) => format!("token {token}"),
        }
    }

    #[test]
    fn a_docker_config_has_credentials_by_server_and_path() {
        assert_eq!(found("registry-1.docker.io", "x/y"), "hub:a:b");
        assert_eq!(found("a.io", "teams/y"), "all:p");
        assert_eq!(found("a.io", "team/y"), "team:p");
        assert_eq!(found("b.io:5000", "y"), "token t");
        assert_eq!(found("b.io", "y"), "nothing");
        assert_eq!(found("c.io", "y"), "nothing");
        assert_eq!(found("evil-a.io", "y"), "nothing");
    }

    #[test]
    fn a_docker_config_that_cannot_be_read_is_not_shown() {
        for config in
            ["secret", r#"{"auths":{"a.io":{"auth":"secret"}}}"#, r#"{"auths":{"a.io":{"identitytoken":"secret"}}}"#]
        {
            let cause = docker(config, "a.io", "x").err().unwrap();
            assert!(!cause.to_string().contains("secret") && !cause.passing(), "{cause}");
        }
    }

    #[test]
    fn debugging_shows_no_secret() {
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
