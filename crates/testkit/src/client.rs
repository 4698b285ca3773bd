//! A client of an API server for tests: plain requests with JSON.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;
use ureq::Agent;
use ureq::http::{Method, Request};
use ureq::tls::{Certificate, ClientCert, PrivateKey, RootCerts, TlsConfig};

use crate::certificates::Identity;

/// A client of one API server as one user.
#[derive(Clone, Debug)]
pub struct Client {
    server: String,
    agent: Agent,
}

/// The response of an API server.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The HTTP status code.
    pub code: u16,
    /// The object, the list or the `Status`; a string where the body is not JSON.
    pub body: Value,
}

impl Client {
    pub(crate) fn new(server: String, authority: &str, user: &Identity) -> Result<Self> {
        let key = PrivateKey::from_pem(user.key.as_bytes())?;
        let chain = [Certificate::from_pem(user.certificate.as_bytes())?];
        let tls = TlsConfig::builder()
            .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
            .root_certs(RootCerts::new_with_certs(&[Certificate::from_pem(authority.as_bytes())?]))
            .client_cert(Some(ClientCert::new_with_certs(&chain, key)))
            .build();
        let config = Agent::config_builder()
            .tls_config(tls)
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs(30)))
            .proxy(None)
            .build();
        Ok(Self { server, agent: config.into() })
    }

    /// The same user at another address of the same cluster.
    pub(crate) fn to(&self, server: &str) -> Self {
        Self { server: server.to_owned(), agent: self.agent.clone() }
    }

    /// The address of the API server.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// The object or list at this path.
    pub fn get(&self, path: &str) -> Result<Value> {
        self.ask(&Method::GET, path, None)
    }

    /// The object at this path, or `None` where it does not exist.
    pub fn find(&self, path: &str) -> Result<Option<Value>> {
        let answer = self.send(&Method::GET, path, None)?;
        if answer.code == 404 {
            return Ok(None);
        }
        answer.object(&Method::GET, path).map(Some)
    }

    /// Creates an object in the collection at this path.
    pub fn create(&self, path: &str, object: &Value) -> Result<Value> {
        self.ask(&Method::POST, path, Some(object))
    }

    /// Replaces the object at this path.
    pub fn replace(&self, path: &str, object: &Value) -> Result<Value> {
        self.ask(&Method::PUT, path, Some(object))
    }

    /// Deletes the object at this path.
    pub fn delete(&self, path: &str) -> Result<Value> {
        self.ask(&Method::DELETE, path, None)
    }

    /// Applies an object at its path as this field manager, and forces conflicts.
    pub fn apply(&self, path: &str, manager: &str, object: &Value) -> Result<Value> {
        let query = if path.contains('?') { '&' } else { '?' };
        let path = format!("{path}{query}force=true&fieldManager={manager}");
        self.send(&Method::PATCH, &path, Some(object))?.object(&Method::PATCH, &path)
    }

    fn ask(&self, method: &Method, path: &str, body: Option<&Value>) -> Result<Value> {
        self.send(method, path, body)?.object(method, path)
    }

    /// Sends one request. An error means that no response came.
    pub fn send(&self, method: &Method, path: &str, body: Option<&Value>) -> Result<Answer> {
        let request = Request::builder().method(method).uri(format!("{}{path}", self.server));
        let context = || format!("{method} {}{path}", self.server);
        let mut response = match body {
            Some(body) => {
                // JSON is YAML, and server-side apply is the only patch that is sent.
                let kind = if method == Method::PATCH { "application/apply-patch+yaml" } else { "application/json" };
                let request = request.header("content-type", kind).body(serde_json::to_vec(body)?)?;
                self.agent.run(request)
            }
            None => self.agent.run(request.body(())?),
        }
        .with_context(context)?;
        let text = response.body_mut().with_config().limit(64 << 20).read_to_string().with_context(context)?;
        let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
        Ok(Answer { code: response.status().as_u16(), body })
    }
}

impl Answer {
    fn object(self, method: &Method, path: &str) -> Result<Value> {
        if self.code >= 400 {
            let message = self.body["message"].as_str().unwrap_or_default();
            bail!("{method} {path}: {} {message}", self.code);
        }
        Ok(self.body)
    }
}
