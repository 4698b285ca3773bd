//! Issues certificates, as sprig does with Go.

use std::net::{IpAddr, Ipv6Addr};

use aws_lc_rs::digest::{SHA256, digest};
use fitout_helm_functions::{Certificate, Environment, Issuer, Request};
use time::{Duration, OffsetDateTime};
use x509_parser::prelude::{FromDer, ParsedExtension, X509Certificate};

use crate::der::{
    self, BOOLEAN, GENERALIZED_TIME, OCTET_STRING, OID, PRINTABLE_STRING, SET, UTC_TIME, UTF8_STRING, sequence,
};
use crate::key::Key;
use crate::{CertificateError, CreateError, pem};

const COMMON_NAME: &[u8] = &[0x55, 4, 3];
const KEY_USAGE: &[u8] = &[0x55, 0x1D, 0x0F];
const EXTENDED_KEY_USAGE: &[u8] = &[0x55, 0x1D, 0x25];
const BASIC_CONSTRAINTS: &[u8] = &[0x55, 0x1D, 0x13];
const SUBJECT_KEY: &[u8] = &[0x55, 0x1D, 0x0E];
const AUTHORITY_KEY: &[u8] = &[0x55, 0x1D, 0x23];
const ALTERNATIVE_NAMES: &[u8] = &[0x55, 0x1D, 0x11];
const SERVER_AUTH: &[u8] = &[0x2B, 6, 1, 5, 5, 7, 3, 1];
const CLIENT_AUTH: &[u8] = &[0x2B, 6, 1, 5, 5, 7, 3, 2];

/// Issues a certificate with the time and the random bytes of an environment. A new key is always random.
pub fn issue(environment: &dyn Environment, request: &Request<'_>) -> Result<Certificate, CertificateError> {
    let key = match request.key {
        Some(key) => Key::parse(key.as_bytes()).map_err(CertificateError::ParseKey)?,
        None => Key::new().map_err(CertificateError::Key)?,
    };
    let authority = match request.issuer {
        Issuer::Other(authority) => Some(Authority::parse(authority)?),
        Issuer::Authority | Issuer::Own => None,
    };
    let content = create(environment, request, &key, authority.as_ref()).map_err(CertificateError::Create)?;
    let key = key.to_pem().map_err(CertificateError::Key)?;
    Ok(Certificate { certificate: pem::encode("CERTIFICATE", &content), key })
}

/// Fails if a text has no valid certificate.
pub(crate) fn check(text: &[u8]) -> Result<(), CertificateError> {
    let block = pem::decode(text).ok_or(CertificateError::NoPem)?;
    let parsed = X509Certificate::from_der(&block.content);
    parsed.map(drop).map_err(|_| CertificateError::Malformed("decodedCert.Bytes"))
}

/// The authority that signs a certificate.
struct Authority {
    subject: Vec<u8>,
    public: Vec<u8>,
    key_id: Vec<u8>,
    key: Key,
}

impl Authority {
    fn parse(authority: &Certificate) -> Result<Self, CertificateError> {
        let block = pem::decode(authority.certificate.as_bytes()).ok_or(CertificateError::NoPem)?;
        let (_, parsed) = X509Certificate::from_der(&block.content)
            .map_err(|_| CertificateError::Malformed("decodedSignerCert.Bytes"))?;
        let key = Key::parse(authority.key.as_bytes()).map_err(CertificateError::ParseAuthorityKey)?;
        let key_id = parsed.extensions().iter().find_map(|extension| match extension.parsed_extension() {
            ParsedExtension::SubjectKeyIdentifier(id) => Some(id.0.to_vec()),
            _ => None,
        });
        Ok(Self {
            subject: parsed.subject().as_raw().to_vec(),
            public: parsed.public_key().subject_public_key.data.to_vec(),
            key_id: key_id.unwrap_or_default(),
            key,
        })
    }
}

/// Creates and signs the DER of a certificate.
fn create(
    environment: &dyn Environment,
    request: &Request<'_>,
    key: &Key,
    authority: Option<&Authority>,
) -> Result<Vec<u8>, CreateError> {
    let signer = authority.map_or(key, |authority| &authority.key);
    let mut serial = [0; 16];
    environment.fill(&mut serial);
    let signature_algorithm = signer.signature_algorithm()?;
    let (public, key_algorithm) = key.public()?;
    if let Some(authority) = authority
        && authority.key.public()?.0 != authority.public
    {
        return Err(CreateError::KeyMismatch);
    }
    let subject = subject(request.name);
    let issuer = authority.map_or(&subject, |authority| &authority.subject);
    // As in Go, a certificate with the name of its authority has no authority key identifier.
    let signer_key = authority.map(|authority| authority.key_id.as_slice()).filter(|_| *issuer != subject);
    let extensions = extensions(request, &public, signer_key.unwrap_or_default(), request.name.is_empty())?;
    let content = sequence(&[
        // Version 3.
        &der::value(0xA0, &der::integer(&[2])),
        &der::integer(&serial),
        &signature_algorithm,
        issuer,
        &validity(environment, request.days)?,
        &subject,
        &sequence(&[&key_algorithm, &der::bits(0, &public)]),
        &der::value(0xA3, &extensions),
    ]);
    let signature = signer.sign(&content)?;
    Ok(sequence(&[&content, &signature_algorithm, &der::bits(0, &signature)]))
}

fn subject(name: &str) -> Vec<u8> {
    if name.is_empty() {
        return sequence(&[]);
    }
    let printable = |byte: u8| byte.is_ascii_alphanumeric() || b" '()+,-./:=?".contains(&byte);
    let tag = if name.bytes().all(printable) { PRINTABLE_STRING } else { UTF8_STRING };
    let attribute = sequence(&[&der::value(OID, COMMON_NAME), &der::value(tag, name.as_bytes())]);
    sequence(&[&der::value(SET, &attribute)])
}

fn validity(environment: &dyn Environment, days: i64) -> Result<Vec<u8>, CreateError> {
    let (seconds, nanoseconds) = environment.now();
    let start = i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds);
    let start = OffsetDateTime::from_unix_timestamp_nanos(start).map_err(|_| CreateError::Time)?;
    // Go counts the nanoseconds of all days in 64 bits.
    let span = Duration::nanoseconds(days.wrapping_mul(86_400_000_000_000));
    let end = start.checked_add(span).ok_or(CreateError::Time)?;
    Ok(sequence(&[&encode_time(start), &encode_time(end)]))
}

fn encode_time(time: OffsetDateTime) -> Vec<u8> {
    let (date, clock) = (time.date(), time.time());
    let (month, day) = (u8::from(date.month()), date.day());
    let rest = format!("{month:02}{day:02}{:02}{:02}{:02}Z", clock.hour(), clock.minute(), clock.second());
    match date.year() {
        year @ 1950..2050 => der::value(UTC_TIME, format!("{:02}{rest}", year % 100).as_bytes()),
        year => der::value(GENERALIZED_TIME, format!("{year:04}{rest}").as_bytes()),
    }
}

fn extensions(
    request: &Request<'_>,
    public: &[u8],
    signer_key: &[u8],
    has_no_name: bool,
) -> Result<Vec<u8>, CreateError> {
    let extension = |name: &[u8], critical: bool, content: &[u8]| {
        let critical = if critical { der::value(BOOLEAN, &[0xFF]) } else { Vec::new() };
        sequence(&[&der::value(OID, name), &critical, &der::value(OCTET_STRING, content)])
    };
    let is_authority = matches!(request.issuer, Issuer::Authority);
    // Digital signature and key encipherment; for an authority also certificate signing.
    let usage = if is_authority { der::bits(2, &[0xA4]) } else { der::bits(5, &[0xA0]) };
    let purposes = sequence(&[&der::value(OID, SERVER_AUTH), &der::value(OID, CLIENT_AUTH)]);
    let constraint = if is_authority { der::value(BOOLEAN, &[0xFF]) } else { Vec::new() };
    let mut all = vec![
        extension(KEY_USAGE, true, &usage),
        extension(EXTENDED_KEY_USAGE, false, &purposes),
        extension(BASIC_CONSTRAINTS, true, &sequence(&[&constraint])),
    ];
    if is_authority {
        let id = digest(&SHA256, public);
        all.push(extension(SUBJECT_KEY, false, &der::value(OCTET_STRING, &id.as_ref()[..20])));
    }
    if !signer_key.is_empty() {
        all.push(extension(AUTHORITY_KEY, false, &sequence(&[&der::value(0x80, signer_key)])));
    }
    let mut names = Vec::new();
    for host in request.hosts {
        if !host.is_ascii() {
            return Err(CreateError::Host(host.clone()));
        }
        names.push(der::value(0x82, host.as_bytes()));
    }
    for address in request.addresses {
        let address = address.parse().map_err(|_| CreateError::Address(address.clone()))?;
        names.push(match address {
            IpAddr::V4(address) => der::value(0x87, &address.octets()),
            IpAddr::V6(address) => der::value(0x87, &octets(address)),
        });
    }
    if !names.is_empty() {
        all.push(extension(ALTERNATIVE_NAMES, has_no_name, &der::value(der::SEQUENCE, &names.concat())));
    }
    Ok(der::value(der::SEQUENCE, &all.concat()))
}

/// The octets of an address; an IPv4-mapped one is encoded as IPv4.
fn octets(address: Ipv6Addr) -> Vec<u8> {
    address.to_ipv4_mapped().map_or_else(|| address.octets().to_vec(), |address| address.octets().to_vec())
}
