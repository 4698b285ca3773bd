//! The certificate that every replica serves with, and word of it to the API server.

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

/// The secret that it is kept in.
const SECRET: &str = "fitout-hub-serving";

/// The name by which an API server calls its service.
const SERVICE: &str = "fitout-hub.fitout-system.svc";

/// The object that makes an API server call us.
const REGISTRATION: &str = "v1alpha1.compute.fitout.dev";

/// How long the API server is left alone when it did not take the certificate.
const RETRY: StdDuration = StdDuration::from_secs(2);

/// A certificate that vouches for itself, with its key, as PEM. Nobody has to trust it but the API server, which is told.
#[derive(Clone)]
pub(crate) struct Certificate {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

impl Certificate {
    /// The one that all replicas share; the first of them makes it.
    pub(crate) async fn shared(client: &Client) -> Result<Self> {
        let secrets: Api<Secret> = Api::namespaced(client.clone(), SYSTEM);
        if let Some(found) = secrets.get_opt(SECRET).await? {
            return Self::read(found);
        }
        let made = Self::make()?;
        let data = [("tls.crt", &made.certificate), ("tls.key", &made.key)];
        let secret = Secret {
            metadata: ObjectMeta { name: Some(SECRET.to_owned()), ..ObjectMeta::default() },
            type_: Some("kubernetes.io/tls".to_owned()),
            data: Some(data.map(|(key, value)| (key.to_owned(), ByteString(value.clone()))).into()),
            ..Secret::default()
        };
        match secrets.create(&PostParams::default(), &secret).await {
            Ok(_) => Ok(made),
            // Another replica was faster.
            Err(kube::Error::Api(status)) if status.code == 409 => Self::read(secrets.get(SECRET).await?),
            Err(error) => Err(error.into()),
        }
    }

    fn read(secret: Secret) -> Result<Self> {
        let mut data = secret.data.unwrap_or_default();
        let (Some(certificate), Some(key)) = (data.remove("tls.crt"), data.remove("tls.key")) else {
            bail!("Secret/{SYSTEM}/{SECRET}: it has no `tls.crt` and `tls.key`; delete it, and the hub makes another");
        };
        Ok(Self { certificate: certificate.0, key: key.0 })
    }

    fn make() -> Result<Self> {
        let mut params = CertificateParams::new(vec![SERVICE.to_owned()])?;
        params.distinguished_name.push(DnType::CommonName, SERVICE);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        // Clocks differ, and whoever wants another one before its time deletes the secret.
        params.not_before = OffsetDateTime::now_utc() - Duration::days(1);
        params.not_after = OffsetDateTime::now_utc() + Duration::days(3650);
        let key = KeyPair::generate()?;
        let certificate = params.self_signed(&key)?.pem().into_bytes();
        Ok(Self { certificate, key: key.serialize_pem().into_bytes() })
    }

    /// As TLS wants it.
    pub(crate) fn chain(&self) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)> {
        let chain = CertificateDer::pem_slice_iter(&self.certificate).collect::<Result<_, _>>()?;
        Ok((chain, PrivateKeyDer::from_pem_slice(&self.key)?))
    }

    /// Sees to it that the API server knows it, for as long as it is not dropped: whenever the registration is made or
    /// made again.
    pub(crate) async fn register(&self, client: &Client) -> Result<()> {
        let api: Api<APIService> = Api::all(client.clone());
        let only = watcher::Config::default().fields(&format!("metadata.name={REGISTRATION}"));
        let mut events = std::pin::pin!(watcher(api.clone(), only).default_backoff());
        let ours = ByteString(self.certificate.clone());
        while let Some(event) = events.next().await {
            let found = match event {
                Ok(Event::Apply(found) | Event::InitApply(found)) => found,
                Ok(_) => continue,
                Err(error) => {
                    tracing::warn!(%error, "watch APIService/{REGISTRATION}");
                    continue;
                }
            };
            if found.spec.and_then(|spec| spec.ca_bundle).as_ref() != Some(&ours) {
                let patch = Patch::Merge(json!({ "spec": { "caBundle": ours } }));
                while let Err(error) = api.patch(REGISTRATION, &PatchParams::default(), &patch).await {
                    tracing::warn!(%error, "write the certificate into APIService/{REGISTRATION}");
                    sleep(RETRY).await;
                }
            }
        }
        bail!("the watch on APIService/{REGISTRATION} has ended")
    }
}
