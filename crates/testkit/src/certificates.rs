//! The certificates of a cluster: the testbed skips no verification.

use std::net::{IpAddr, Ipv4Addr};

use anyhow::Result;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose, SanType,
};
use time::{Duration, OffsetDateTime};

/// A certificate authority.
pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate and its key, as PEM.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

/// The key that signs service account tokens, as PEM.
pub(crate) struct SigningKey {
    pub(crate) private: String,
    pub(crate) public: String,
}

impl Authority {
    pub(crate) fn new(name: &str) -> Result<Self> {
        let mut params = params(name, None);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        Ok(Self(CertifiedIssuer::self_signed(params, KeyPair::generate()?)?))
    }

    /// The authority's own certificate, as PEM.
    pub(crate) fn certificate(&self) -> String {
        self.0.pem()
    }

    /// The authority's key, for the controller that signs certificate requests.
    pub(crate) fn key(&self) -> String {
        self.0.key().serialize_pem()
    }

    /// A certificate for a user of the API: Kubernetes reads the user from the common name, the group from the
    /// organization.
    pub(crate) fn client(&self, user: &str, group: Option<&str>) -> Result<Identity> {
        let mut params = params(user, group);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.sign(params)
    }

    /// A certificate for a server with these names and addresses.
    pub(crate) fn server(&self, name: &str, names: &[&str], addresses: &[Ipv4Addr]) -> Result<Identity> {
        let mut params = params(name, None);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        for name in names {
            params.subject_alt_names.push(SanType::DnsName((*name).try_into()?));
        }
        params.subject_alt_names.extend(addresses.iter().map(|&address| SanType::IpAddress(IpAddr::V4(address))));
        self.sign(params)
    }

    fn sign(&self, mut params: CertificateParams) -> Result<Identity> {
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.0)?;
        Ok(Identity { certificate: certificate.pem(), key: key.serialize_pem() })
    }
}

pub(crate) fn signing_key() -> Result<SigningKey> {
    let key = KeyPair::generate()?;
    Ok(SigningKey { private: key.serialize_pem(), public: key.public_key_pem() })
}

fn params(name: &str, group: Option<&str>) -> CertificateParams {
    let mut subject = DistinguishedName::new();
    subject.push(DnType::CommonName, name);
    if let Some(group) = group {
        subject.push(DnType::OrganizationName, group);
    }
    let mut params = CertificateParams::default();
    params.distinguished_name = subject;
    // A test may set the clock back or forward; `up` may run for weeks.
    params.not_before = OffsetDateTime::now_utc() - Duration::days(30);
    params.not_after = OffsetDateTime::now_utc() + Duration::days(365);
    params
}
