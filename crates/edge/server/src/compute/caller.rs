//! Who asks: what the front proxy of the hub's API server says, if it is the front proxy that says it.

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

/// Where an API server says how it may be recognised.
const NAMESPACE: &str = "kube-system";
const NAME: &str = "extension-apiserver-authentication";

/// Somebody who asks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Caller {
    pub(crate) user: String,
    pub(crate) uid: Option<String>,
    pub(crate) groups: Vec<String>,
    pub(crate) extra: BTreeMap<String, Vec<String>>,
}

/// Keeps up with how the front proxy may be recognised: its authority is renewed now and then.
pub(crate) struct LoadBalancer(Store<ConfigMap>);

impl LoadBalancer {
    pub(crate) async fn follow(client: &Client) -> Result<Self> {
        let api: Api<ConfigMap> = Api::namespaced(client.clone(), NAMESPACE);
        let only = watcher::Config::default().fields(&format!("metadata.name={NAME}"));
        let (store, writer) = reflector::store();
        let events = watcher(api, only).default_backoff().reflect(writer);
        tokio::spawn(async move {
            let mut events = std::pin::pin!(events);
            while let Some(event) = events.next().await {
                if let Err(error) = event {
                    tracing::warn!(%error, "watch ConfigMap/{NAMESPACE}/{NAME}");
                }
            }
        });
        store.wait_until_ready().await.context("the watch on the front proxy's authority ended")?;
        Ok(Self(store))
    }

    /// Whom to believe now.
    pub(crate) fn trust(&self) -> Result<Trust> {
        let data = self.0.state().first().and_then(|found| found.data.clone()).unwrap_or_default();
        Trust::read(&data)
    }
}

/// Whom to believe, and where they say who asks.
#[derive(Debug)]
pub(crate) struct Trust {
    roots: RootCertStore,
    /// The names that the front proxy may have; any, where there are none.
    names: Vec<String>,
    users: Vec<String>,
    uids: Vec<String>,
    groups: Vec<String>,
    extras: Vec<String>,
}

impl Trust {
    fn read(data: &BTreeMap<String, String>) -> Result<Self> {
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
            users: list("requestheader-username-headers")?,
            uids: list("requestheader-uid-headers")?,
            groups: list("requestheader-group-headers")?,
            extras: list("requestheader-extra-headers-prefix")?,
        })
    }

    /// TLS that asks for a certificate of the front proxy. One of another authority ends the handshake; none at all does
    /// not, so that it can be said what is missing.
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

    /// Whether a verified certificate, if there is one, is the front proxy's.
    pub(crate) fn knows(&self, chain: Option<&[CertificateDer<'_>]>) -> bool {
        let Some(certificate) = chain.and_then(<[_]>::first) else { return false };
        let Ok((_, certificate)) = X509Certificate::from_der(certificate) else { return false };
        let mut said = certificate.subject().iter_common_name().filter_map(|name| name.as_str().ok());
        self.names.is_empty() || said.any(|name| self.names.iter().any(|allowed| allowed == name))
    }

    /// Who asks, by the headers of the front proxy; nobody where they name nobody.
    pub(crate) fn caller(&self, headers: &HeaderMap) -> Option<Caller> {
        let all = |names: &[String]| -> Vec<String> {
            let found = names.iter().flat_map(|name| headers.get_all(name.as_str()));
            found.filter_map(|value| value.to_str().ok().map(str::to_owned)).collect()
        };
        let mut extra: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, value) in headers {
            let key = self.extras.iter().find_map(|prefix| name.as_str().strip_prefix(&prefix.to_lowercase()));
            if let (Some(key), Ok(value)) = (key, value.to_str()) {
                let key = percent_decode_str(key).decode_utf8_lossy().into_owned();
                extra.entry(key).or_default().push(value.to_owned());
            }
        }
        let user = all(&self.users).into_iter().next().filter(|user| !user.is_empty())?;
        Some(Caller { user, uid: all(&self.uids).into_iter().next(), groups: all(&self.groups), extra })
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    fn trust() -> Trust {
        let data = [
            ("requestheader-allowed-names", r#"["front-proxy-client"]"#),
            ("requestheader-username-headers", r#"["X-Remote-User"]"#),
            ("requestheader-group-headers", r#"["X-Remote-Group"]"#),
            ("requestheader-extra-headers-prefix", r#"["X-Remote-Extra-"]"#),
        ];
        Trust::read(&data.map(|(key, value)| (key.to_owned(), value.to_owned())).into()).unwrap()
    }

    fn headers(rows: &[(&'static str, &'static str)]) -> HeaderMap {
        rows.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn who_asks_is_in_the_headers_of_the_front_proxy() {
        let rows = [
            ("x-remote-user", "jane"),
            ("x-remote-group", "shop"),
            ("x-remote-group", "system:authenticated"),
            ("x-remote-extra-example.com%2fscope", "all"),
            ("authorization", "Bearer x"),
        ];
        let caller = trust().caller(&headers(&rows)).unwrap();
        assert_eq!((caller.user.as_str(), caller.groups.len()), ("jane", 2));
        assert_eq!(caller.extra, [("example.com/scope".to_owned(), vec!["all".to_owned()])].into());
        assert_eq!(trust().caller(&headers(&[("x-remote-group", "system:masters")])), None);
        assert_eq!(trust().caller(&headers(&[("x-remote-user", "")])), None);
    }

    #[test]
    fn a_certificate_has_to_have_the_front_proxys_name() {
        let certificate = |name: &str| {
            let mut params = rcgen::CertificateParams::default();
            params.distinguished_name.push(rcgen::DnType::CommonName, name);
            params.self_signed(&rcgen::KeyPair::generate().unwrap()).unwrap().der().clone()
        };
        assert!(trust().knows(Some(&[certificate("front-proxy-client")])));
        assert!(!trust().knows(Some(&[certificate("kubernetes-admin")])));
        assert!(!trust().knows(Some(&[])));
        assert!(!trust().knows(None));
    }
}
