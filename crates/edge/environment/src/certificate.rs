//! Certificates, as sprig has Go make them.

use std::net::{IpAddr, Ipv6Addr};

use aws_lc_rs::digest::{SHA256, digest};
use fitout_helm_functions::{Certificate, Environment, Issuer, Request};
use time::{Duration, OffsetDateTime};
use x509_parser::prelude::{FromDer, ParsedExtension, X509Certificate};

use crate::der::{
    self, BOOLEAN, GENERALIZED_TIME, OCTET_STRING, OID, PRINTABLE_STRING, SET, UTC_TIME, UTF8_STRING, sequence,
};
use crate::key::Key;
use crate::pem;

const COMMON_NAME: &[u8] = &[0x55, 4, 3];
const KEY_USAGE: &[u8] = &[0x55, 0x1D, 0x0F];
const EXTENDED_KEY_USAGE: &[u8] = &[0x55, 0x1D, 0x25];
const BASIC_CONSTRAINTS: &[u8] = &[0x55, 0x1D, 0x13];
const SUBJECT_KEY: &[u8] = &[0x55, 0x1D, 0x0E];
const AUTHORITY_KEY: &[u8] = &[0x55, 0x1D, 0x23];
const ALTERNATIVE_NAMES: &[u8] = &[0x55, 0x1D, 0x11];
const SERVER_AUTH: &[u8] = &[0x2B, 6, 1, 5, 5, 7, 3, 1];
const CLIENT_AUTH: &[u8] = &[0x2B, 6, 1, 5, 5, 7, 3, 2];

/// Makes a certificate at the time and with the random bytes of a world; keys are this machine's.
pub fn issue(world: &dyn Environment, request: &Request<'_>) -> Result<Certificate, String> {
    let key = match request.key {
        Some(key) => Key::read(key.as_bytes()).map_err(|reason| format!("parsing private key: {reason}"))?,
        None => Key::new()?,
    };
    let authority = match request.issuer {
        Issuer::Other(authority) => Some(Authority::read(authority)?),
        Issuer::Authority | Issuer::Own => None,
    };
    let signed = signed(world, request, &key, authority.as_ref());
    let content = signed.map_err(|reason| format!("error creating certificate: {reason}"))?;
    Ok(Certificate { certificate: pem::encode("CERTIFICATE", &content), key: key.to_pem()? })
}

/// That a text has a certificate.
pub(crate) fn check(text: &[u8]) -> Result<(), String> {
    let block = pem::decode(text).ok_or("unable to decode certificate")?;
    let read = X509Certificate::from_der(&block.content);
    read.map(drop).map_err(|_| "error parsing certificate: decodedCert.Bytes: x509: malformed certificate".to_owned())
}

/// Who vouches for others.
struct Authority {
    subject: Vec<u8>,
    public: Vec<u8>,
    /// What its key is called.
    key_name: Vec<u8>,
    key: Key,
}

impl Authority {
    fn read(given: &Certificate) -> Result<Self, String> {
        let block = pem::decode(given.certificate.as_bytes()).ok_or("unable to decode certificate")?;
        let (_, read) = X509Certificate::from_der(&block.content).map_err(|_| {
            "error parsing certificate: decodedSignerCert.Bytes: x509: malformed certificate".to_owned()
        })?;
        let key = Key::read(given.key.as_bytes()).map_err(|reason| format!("error parsing private key: {reason}"))?;
        let key_name = read.extensions().iter().find_map(|extension| match extension.parsed_extension() {
            ParsedExtension::SubjectKeyIdentifier(name) => Some(name.0.to_vec()),
            _ => None,
        });
        Ok(Self {
            subject: read.subject().as_raw().to_vec(),
            public: read.public_key().subject_public_key.data.to_vec(),
            key_name: key_name.unwrap_or_default(),
            key,
        })
    }
}

fn signed(
    world: &dyn Environment,
    request: &Request<'_>,
    key: &Key,
    authority: Option<&Authority>,
) -> Result<Vec<u8>, String> {
    let signer = authority.map_or(key, |authority| &authority.key);
    let mut serial = [0; 16];
    world.fill(&mut serial);
    let signature_name = signer.signature_name()?;
    let (public, kind) = key.public()?;
    if let Some(authority) = authority
        && authority.key.public()?.0 != authority.public
    {
        return Err("x509: provided PrivateKey doesn't match parent's PublicKey".to_owned());
    }
    let subject = subject(request.name);
    let issuer = authority.map_or(&subject, |authority| &authority.subject);
    // A certificate with the name of its authority does not say by which key it was signed.
    let signer_key = authority.map(|authority| authority.key_name.as_slice()).filter(|_| *issuer != subject);
    let extensions = extensions(request, &public, signer_key.unwrap_or_default(), request.name.is_empty())?;
    let content = sequence(&[
        // Version 3.
        &der::value(0xA0, &der::integer(&[2])),
        &der::integer(&serial),
        &signature_name,
        issuer,
        &validity(world, request.days)?,
        &subject,
        &sequence(&[&kind, &der::bits(0, &public)]),
        &der::value(0xA3, &extensions),
    ]);
    let signature = signer.sign(&content)?;
    Ok(sequence(&[&content, &signature_name, &der::bits(0, &signature)]))
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

fn validity(world: &dyn Environment, days: i64) -> Result<Vec<u8>, String> {
    let (seconds, nanoseconds) = world.now();
    let beyond = |_| "asn1: structure error: cannot represent time as GeneralizedTime".to_owned();
    let begin = i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds);
    let begin = OffsetDateTime::from_unix_timestamp_nanos(begin).map_err(beyond)?;
    // Go counts the nanoseconds of all days in 64 bits.
    let span = Duration::nanoseconds(days.wrapping_mul(86_400_000_000_000));
    let end = begin.checked_add(span).ok_or("asn1: structure error: cannot represent time as GeneralizedTime")?;
    Ok(sequence(&[&moment(begin), &moment(end)]))
}

fn moment(time: OffsetDateTime) -> Vec<u8> {
    let (date, clock) = (time.date(), time.time());
    let (month, day) = (u8::from(date.month()), date.day());
    let rest = format!("{month:02}{day:02}{:02}{:02}{:02}Z", clock.hour(), clock.minute(), clock.second());
    match date.year() {
        year @ 1950..2050 => der::value(UTC_TIME, format!("{:02}{rest}", year % 100).as_bytes()),
        year => der::value(GENERALIZED_TIME, format!("{year:04}{rest}").as_bytes()),
    }
}

fn extensions(request: &Request<'_>, public: &[u8], signer_key: &[u8], nameless: bool) -> Result<Vec<u8>, String> {
    let extension = |name: &[u8], critical: bool, content: &[u8]| {
        let critical = if critical { der::value(BOOLEAN, &[0xFF]) } else { Vec::new() };
        sequence(&[&der::value(OID, name), &critical, &der::value(OCTET_STRING, content)])
    };
    let is_authority = matches!(request.issuer, Issuer::Authority);
    // To sign and to encipher keys; an authority signs certificates too.
    let usage = if is_authority { der::bits(2, &[0xA4]) } else { der::bits(5, &[0xA0]) };
    let purposes = sequence(&[&der::value(OID, SERVER_AUTH), &der::value(OID, CLIENT_AUTH)]);
    let constraint = if is_authority { der::value(BOOLEAN, &[0xFF]) } else { Vec::new() };
    let mut all = vec![
        extension(KEY_USAGE, true, &usage),
        extension(EXTENDED_KEY_USAGE, false, &purposes),
        extension(BASIC_CONSTRAINTS, true, &sequence(&[&constraint])),
    ];
    if is_authority {
        let name = digest(&SHA256, public);
        all.push(extension(SUBJECT_KEY, false, &der::value(OCTET_STRING, &name.as_ref()[..20])));
    }
    if !signer_key.is_empty() {
        all.push(extension(AUTHORITY_KEY, false, &sequence(&[&der::value(0x80, signer_key)])));
    }
    let mut names = Vec::new();
    for host in request.hosts {
        if !host.is_ascii() {
            return Err(format!("x509: {host:?} cannot be encoded as an IA5String"));
        }
        names.push(der::value(0x82, host.as_bytes()));
    }
    for address in request.addresses {
        let address = address.parse().map_err(|_| format!("error parsing ip: {address}"))?;
        names.push(match address {
            IpAddr::V4(address) => der::value(0x87, &address.octets()),
            IpAddr::V6(address) => der::value(0x87, &shortest(address)),
        });
    }
    if !names.is_empty() {
        all.push(extension(ALTERNATIVE_NAMES, nameless, &der::value(der::SEQUENCE, &names.concat())));
    }
    Ok(der::value(der::SEQUENCE, &all.concat()))
}

/// An address of version 4 is written as one.
fn shortest(address: Ipv6Addr) -> Vec<u8> {
    address.to_ipv4_mapped().map_or_else(|| address.octets().to_vec(), |address| address.octets().to_vec())
}
