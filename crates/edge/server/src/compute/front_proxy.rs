//! Authentication of callers, by the client certificate and the headers of the API server's front proxy.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use futures::StreamExt;
use http::HeaderMap;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::runtime::reflector::{self, Store};
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client};
use percent_encoding::percent_decode_str;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use std::sync::Arc;
use x509_parser::prelude::{FromDer, X509Certificate};

use super::certificate::Certificate;

/// The `ConfigMap` in which the API server publishes the configuration of its front proxy.
const NAMESPACE: &str = "kube-system";
const NAME: &str = "extension-apiserver-authentication";

/// The user of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Caller {
    pub(crate) user: String,
    pub(crate) uid: Option<String>,
    pub(crate) groups: Vec<String>,
    pub(crate) extra: BTreeMap<String, Vec<String>>,
}

/// Watches the configuration of the front proxy, whose certificate authority is rotated.
pub(crate) struct FrontProxy(Store<ConfigMap>);

impl FrontProxy {
    pub(crate) async fn watch(client: &Client) -> Result<Self> {
        let api: Api<ConfigMap> = Api::namespaced(client.clone(), NAMESPACE);
        let only = watcher::Config::default().fields(&format!("metadata.name={NAME}"));
        let (store, writer) = reflector::store();
        let events = watcher(api, only).default_backoff().reflect(writer);
        tokio::spawn(async move {
            let mut events = std::pin::pin!(events);
            while let Some(event) = events.next().await {
                if let Err(error) = event {
                    tracing::warn!(namespace = NAMESPACE, name = NAME, %error, "watch of ConfigMap failed");
                }
            }
        });
        store
            .wait_until_ready()
            .await
            .with_context(|| format!("the watch of ConfigMap/{NAMESPACE}/{NAME} has ended"))?;
        Ok(Self(store))
    }

    /// The current configuration.
    pub(crate) fn config(&self) -> Result<FrontProxyConfig> {
        let data = self.0.state().first().and_then(|found| found.data.clone()).unwrap_or_default();
        FrontProxyConfig::parse(&data)
    }
}

/// The trusted certificates of the front proxy, and the headers in which it sends the user.
#[derive(Debug)]
pub(crate) struct FrontProxyConfig {
    roots: RootCertStore,
    /// The allowed common names; empty for any.
    names: Vec<String>,
    user_headers: Vec<String>,
    uid_headers: Vec<String>,
    group_headers: Vec<String>,
    extra_prefixes: Vec<String>,
}

impl FrontProxyConfig {
    fn parse(data: &BTreeMap<String, String>) -> Result<Self> {
        let list = |key: &str| -> Result<Vec<String>> {
            let text = data.get(key).map_or("[]", String::as_str);
            serde_json::from_str(text).with_context(|| format!("ConfigMap/{NAMESPACE}/{NAME}: {key}"))
        };
        let mut roots = RootCertStore::empty();
        let authority = data.get("requestheader-client-ca-file").map_or("", String::as_str);
        for certificate in CertificateDer::pem_slice_iter(authority.as_bytes()) {
            roots.add(certificate?)?;
        }
        Ok(Self {
            roots,
            names: list("requestheader-allowed-names")?,
            user_headers: list("requestheader-username-headers")?,
            uid_headers: list("requestheader-uid-headers")?,
            group_headers: list("requestheader-group-headers")?,
            extra_prefixes: list("requestheader-extra-headers-prefix")?,
        })
    }

    /// The TLS configuration, which requests the client certificate of the front proxy. A certificate of another
    /// authority fails the handshake; a missing one does not, so that the response can say what is missing.
    pub(crate) fn tls(&self, certificate: &Certificate) -> Result<ServerConfig> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder =
            ServerConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions()?;
        let builder = if self.roots.is_empty() {
            builder.with_no_client_auth()
        } else {
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(self.roots.clone()), provider);
            builder.with_client_cert_verifier(verifier.allow_unauthenticated().build()?)
        };
        let (chain, key) = certificate.chain()?;
        Ok(builder.with_single_cert(chain, key)?)
    }

    /// Whether a verified client certificate is the front proxy's.
    pub(crate) fn is_front_proxy(&self, chain: Option<&[CertificateDer<'_>]>) -> bool {
        let Some(certificate) = chain.and_then(<[_]>::first) else { return false };
        let Ok((_, certificate)) = X509Certificate::from_der(certificate) else { return false };
        let mut names = certificate.subject().iter_common_name().filter_map(|name| name.as_str().ok());
        self.names.is_empty() || names.any(|name| self.names.iter().any(|allowed| allowed == name))
    }

    /// The user in the headers of the front proxy, if they name one.
    pub(crate) fn caller(&self, headers: &HeaderMap) -> Option<Caller> {
        let all = |names: &[String]| -> Vec<String> {
            let values = names.iter().flat_map(|name| headers.get_all(name.as_str()));
            values.filter_map(|value| value.to_str().ok().map(str::to_owned)).collect()
        };
        let mut extra: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, value) in headers {
            let key = self.extra_prefixes.iter().find_map(|prefix| name.as_str().strip_prefix(&prefix.to_lowercase()));
            if let (Some(key), Ok(value)) = (key, value.to_str()) {
                let key = percent_decode_str(key).decode_utf8_lossy().into_owned();
                extra.entry(key).or_default().push(value.to_owned());
            }
        }
        let user = all(&self.user_headers).into_iter().next().filter(|user| !user.is_empty())?;
        let uid = all(&self.uid_headers).into_iter().next();
        Some(Caller { user, uid, groups: all(&self.group_headers), extra })
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    fn config() -> FrontProxyConfig {
        let data = [
            ("requestheader-allowed-names", r#"["front-proxy-client"]"#),
            ("requestheader-username-headers", r#"["X-Remote-User"]"#),
            ("requestheader-group-headers", r#"["X-Remote-Group"]"#),
            ("requestheader-extra-headers-prefix", r#"["X-Remote-Extra-"]"#),
        ];
        FrontProxyConfig::parse(&data.map(|(key, value)| (key.to_owned(), value.to_owned())).into()).unwrap()
    }

    fn headers(rows: &[(&'static str, &'static str)]) -> HeaderMap {
        rows.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn caller_is_read_from_front_proxy_headers() {
        let rows = [
            ("x-remote-user", "jane"),
            ("x-remote-group", "shop"),
            ("x-remote-group", "system:authenticated"),
            ("x-remote-extra-example.com%2fscope", "all"),
            ("authorization", "Bearer x"),
        ];
        let caller = config().caller(&headers(&rows)).unwrap();
        assert_eq!((caller.user.as_str(), caller.groups.len()), ("jane", 2));
        assert_eq!(caller.extra, [("example.com/scope".to_owned(), vec!["all".to_owned()])].into());
        assert_eq!(config().caller(&headers(&[("x-remote-group", "system:masters")])), None);
        assert_eq!(config().caller(&headers(&[("x-remote-user", "")])), None);
    }

    #[test]
    fn certificate_needs_an_allowed_common_name() {
        let certificate = |name: &str| {
            let mut params = rcgen::CertificateParams::default();
            params.distinguished_name.push(rcgen::DnType::CommonName, name);
            params.self_signed(&rcgen::KeyPair::generate().unwrap()).unwrap().der().clone()
        };
        assert!(config().is_front_proxy(Some(&[certificate("front-proxy-client")])));
        assert!(!config().is_front_proxy(Some(&[certificate("kubernetes-admin")])));
        assert!(!config().is_front_proxy(Some(&[])));
        assert!(!config().is_front_proxy(None));
    }
}
