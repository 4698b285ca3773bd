//! The serving certificate of all replicas, and its registration with the API server.

use std::time::Duration as StdDuration;

use anyhow::{Result, bail};
use futures::StreamExt;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use kube::api::{ObjectMeta, Patch, PatchParams, PostParams};
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client};
use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyPair};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::json;
use time::{Duration, OffsetDateTime};
use tokio::time::sleep;

use fitout_hub::SYSTEM;

/// The Secret with the certificate.
const SECRET: &str = "fitout-hub-serving";

/// The server name that the API server verifies.
const SERVER_NAME: &str = "fitout-hub.fitout-system.svc";

/// The `APIService` of the aggregated API.
const API_SERVICE: &str = "v1alpha1.compute.fitout.dev";

/// The interval between attempts to write the certificate into the `APIService`.
const RETRY_INTERVAL: StdDuration = StdDuration::from_secs(2);

/// A self-signed certificate and its key, as PEM. Only the API server trusts it, by the `caBundle` of the `APIService`.
#[derive(Clone)]
pub(crate) struct Certificate {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

impl Certificate {
    /// Loads the certificate that all replicas share; the first replica creates it.
    pub(crate) async fn load_or_create(client: &Client) -> Result<Self> {
        let secrets: Api<Secret> = Api::namespaced(client.clone(), SYSTEM);
        if let Some(found) = secrets.get_opt(SECRET).await? {
            return Self::read(found);
        }
        let created = Self::generate()?;
        let data = [("tls.crt", &created.certificate), ("tls.key", &created.key)];
        let secret = Secret {
            metadata: ObjectMeta { name: Some(SECRET.to_owned()), ..ObjectMeta::default() },
            type_: Some("kubernetes.io/tls".to_owned()),
            data: Some(data.map(|(key, value)| (key.to_owned(), ByteString(value.clone()))).into()),
            ..Secret::default()
        };
        match secrets.create(&PostParams::default(), &secret).await {
            Ok(_) => Ok(created),
            // Another replica created it first.
            Err(kube::Error::Api(status)) if status.reason == "AlreadyExists" => Self::read(secrets.get(SECRET).await?),
            Err(error) => Err(error.into()),
        }
    }

    fn read(secret: Secret) -> Result<Self> {
        let mut data = secret.data.unwrap_or_default();
        let (Some(certificate), Some(key)) = (data.remove("tls.crt"), data.remove("tls.key")) else {
            bail!("Secret/{SYSTEM}/{SECRET}: `tls.crt` or `tls.key` is missing; delete the Secret and restart the hub");
        };
        Ok(Self { certificate: certificate.0, key: key.0 })
    }

    fn generate() -> Result<Self> {
        let mut params = CertificateParams::new(vec![SERVER_NAME.to_owned()])?;
        params.distinguished_name.push(DnType::CommonName, SERVER_NAME);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        // Starts a day ago, because clocks differ. To renew it early, an operator deletes the Secret.
        params.not_before = OffsetDateTime::now_utc() - Duration::days(1);
        params.not_after = OffsetDateTime::now_utc() + Duration::days(3650);
        let key = KeyPair::generate()?;
        let certificate = params.self_signed(&key)?.pem().into_bytes();
        Ok(Self { certificate, key: key.serialize_pem().into_bytes() })
    }

    /// The certificate chain and the key for TLS.
    pub(crate) fn chain(&self) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)> {
        let chain = CertificateDer::pem_slice_iter(&self.certificate).collect::<Result<_, _>>()?;
        Ok((chain, PrivateKeyDer::from_pem_slice(&self.key)?))
    }

    /// Keeps the certificate in the `caBundle` of the `APIService`, whenever that is created or changed.
    pub(crate) async fn register(&self, client: &Client) -> Result<()> {
        let api: Api<APIService> = Api::all(client.clone());
        let only = watcher::Config::default().fields(&format!("metadata.name={API_SERVICE}"));
        let mut events = std::pin::pin!(watcher(api.clone(), only).default_backoff());
        let ca_bundle = ByteString(self.certificate.clone());
        while let Some(event) = events.next().await {
            let found = match event {
                Ok(Event::Apply(found) | Event::InitApply(found)) => found,
                Ok(_) => continue,
                Err(error) => {
                    tracing::warn!(api_service = API_SERVICE, %error, "watch of APIService failed");
                    continue;
                }
            };
            if found.spec.and_then(|spec| spec.ca_bundle).as_ref() != Some(&ca_bundle) {
                let patch = Patch::Merge(json!({ "spec": { "caBundle": ca_bundle } }));
                while let Err(error) = api.patch(API_SERVICE, &PatchParams::default(), &patch).await {
                    tracing::warn!(api_service = API_SERVICE, %error, "patching caBundle failed");
                    sleep(RETRY_INTERVAL).await;
                }
            }
        }
        bail!("the watch of APIService/{API_SERVICE} has ended")
    }
}
