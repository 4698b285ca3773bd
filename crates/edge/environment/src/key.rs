//! Private keys.

use aws_lc_rs::encoding::{AsDer, EcPrivateKeyRfc5915Der, Pkcs8V1Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1_SIGNING, ECDSA_P384_SHA384_ASN1_SIGNING, ECDSA_P521_SHA512_ASN1_SIGNING, EcdsaKeyPair,
    EcdsaSigningAlgorithm, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
};
use dsa::{Components, SigningKey};

use crate::der::{self, NULL, OCTET_STRING, OID, SEQUENCE};
use crate::{KeyError, pem, rsa_pool};

/// A private key.
pub(crate) enum Key {
    Rsa(RsaKeyPair),
    Ec(EcdsaKeyPair, &'static Curve),
    Ed25519(Ed25519KeyPair),
    /// The DER of a key that cannot sign.
    Dsa(Vec<u8>),
}

/// A curve, its signing algorithm, and the object identifiers of both.
pub(crate) struct Curve {
    algorithm: &'static EcdsaSigningAlgorithm,
    oid: &'static [u8],
    signature_oid: &'static [u8],
}

static CURVES: [Curve; 3] = [
    Curve {
        algorithm: &ECDSA_P256_SHA256_ASN1_SIGNING,
        oid: &[0x2A, 0x86, 0x48, 0xCE, 0x3D, 3, 1, 7],
        signature_oid: &[0x2A, 0x86, 0x48, 0xCE, 0x3D, 4, 3, 2],
    },
    Curve {
        algorithm: &ECDSA_P384_SHA384_ASN1_SIGNING,
        oid: &[0x2B, 0x81, 4, 0, 0x22],
        signature_oid: &[0x2A, 0x86, 0x48, 0xCE, 0x3D, 4, 3, 3],
    },
    Curve {
        algorithm: &ECDSA_P521_SHA512_ASN1_SIGNING,
        oid: &[0x2B, 0x81, 4, 0, 0x23],
        signature_oid: &[0x2A, 0x86, 0x48, 0xCE, 0x3D, 4, 3, 4],
    },
];
const RSA: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 1];
const RSA_SHA256: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 0x0B];
const EC: &[u8] = &[0x2A, 0x86, 0x48, 0xCE, 0x3D, 2, 1];
const ED25519: &[u8] = &[0x2B, 0x65, 0x70];

/// Generates a key and encodes it as PEM.
pub(crate) fn generate(kind: &str) -> Result<String, KeyError> {
    let failed = |_| KeyError::Generate;
    let key = match kind {
        "" | "rsa" => Key::Rsa(RsaKeyPair::generate(KeySize::Rsa4096).map_err(failed)?),
        "ecdsa" => Key::Ec(EcdsaKeyPair::generate(CURVES[0].algorithm).map_err(failed)?, &CURVES[0]),
        "ed25519" => Key::Ed25519(Ed25519KeyPair::generate().map_err(failed)?),
        "dsa" => Key::Dsa(dsa()?),
        other => return Err(KeyError::UnknownKind(other.to_owned())),
    };
    key.to_pem()
}

/// Generates a DSA key: version, parameters, public value and private value.
fn dsa() -> Result<Vec<u8>, KeyError> {
    let mut random = getrandom::SysRng;
    let components = Components::try_generate_from_rng_with_key_size(&mut random, dsa::KeySize::DSA_2048_256)
        .map_err(|error| KeyError::DsaParameters(error.to_string()))?;
    let key = SigningKey::try_generate_from_rng_with_components(&mut random, components)
        .map_err(|error| KeyError::GenerateDsa(error.to_string()))?;
    let public = key.verifying_key();
    let parameters = public.components();
    let numbers = [parameters.p().to_be_bytes(), parameters.q().to_be_bytes(), parameters.g().to_be_bytes()];
    let numbers = numbers.into_iter().chain([public.y().to_be_bytes(), key.x().to_be_bytes()]);
    let numbers: Vec<u8> = numbers.flat_map(|number| der::integer(&number)).collect();
    Ok(der::sequence(&[&der::integer(&[0]), &numbers]))
}

impl Key {
    /// Takes a new RSA key for a certificate.
    pub(crate) fn new() -> Result<Self, KeyError> {
        rsa_pool::take().map(Self::Rsa).ok_or(KeyError::GenerateRsa)
    }

    /// Parses the PEM key in a text. Its errors have Go's messages.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, KeyError> {
        let block = pem::decode(text).ok_or(KeyError::NoPem)?;
        let (label, content) = (block.label.as_str(), &block.content);
        if label == "PRIVATE KEY" {
            return Self::from_pkcs8(content).ok_or(KeyError::Malformed("decoding PEM as PKCS#8"));
        }
        match label.strip_suffix(" PRIVATE KEY") {
            Some("RSA") => {
                let key = RsaKeyPair::from_der(content).map(Self::Rsa);
                key.map_err(|_| KeyError::Malformed("parsing RSA private key from PEM"))
            }
            Some("EC") => {
                let parse = |curve: &'static Curve| {
                    let key = EcdsaKeyPair::from_private_key_der(curve.algorithm, content).ok()?;
                    Some(Self::Ec(key, curve))
                };
                CURVES.iter().find_map(parse).ok_or(KeyError::Malformed("parsing EC private key from PEM"))
            }
            Some("DSA") if der::first(content).is_some_and(|(tag, ..)| tag == SEQUENCE) => {
                Ok(Self::Dsa(content.clone()))
            }
            Some("DSA") => Err(KeyError::Malformed("parsing DSA private key from PEM")),
            Some(_) => Err(KeyError::UnknownLabel(block.label)),
            None => Err(KeyError::NotAKey(block.label)),
        }
    }

    fn from_pkcs8(content: &[u8]) -> Option<Self> {
        if let Ok(key) = RsaKeyPair::from_pkcs8(content) {
            return Some(Self::Rsa(key));
        }
        if let Ok(key) = Ed25519KeyPair::from_pkcs8_maybe_unchecked(content) {
            return Some(Self::Ed25519(key));
        }
        let ec =
            |curve: &'static Curve| Some(Self::Ec(EcdsaKeyPair::from_pkcs8(curve.algorithm, content).ok()?, curve));
        CURVES.iter().find_map(ec)
    }

    /// Encodes the key as PEM, in the format that Go chooses for its kind.
    pub(crate) fn to_pem(&self) -> Result<String, KeyError> {
        let failed = |_| KeyError::Encode;
        Ok(match self {
            Self::Rsa(key) => {
                let pkcs8: Pkcs8V1Der<'_> = key.as_der().map_err(failed)?;
                pem::encode("RSA PRIVATE KEY", inner(pkcs8.as_ref()).ok_or(KeyError::Encode)?)
            }
            Self::Ec(key, _) => {
                let der: EcPrivateKeyRfc5915Der<'_> = key.private_key().as_der().map_err(failed)?;
                pem::encode("EC PRIVATE KEY", der.as_ref())
            }
            Self::Ed25519(key) => pem::encode("PRIVATE KEY", key.to_pkcs8v1().map_err(failed)?.as_ref()),
            Self::Dsa(content) => pem::encode("DSA PRIVATE KEY", content),
        })
    }

    /// The public key and its algorithm identifier.
    pub(crate) fn public(&self) -> Result<(Vec<u8>, Vec<u8>), KeyError> {
        let oid = |oid: &[u8]| der::value(OID, oid);
        Ok(match self {
            Self::Rsa(key) => (key.public_key().as_ref().to_vec(), der::sequence(&[&oid(RSA), &der::value(NULL, &[])])),
            Self::Ec(key, curve) => (key.public_key().as_ref().to_vec(), der::sequence(&[&oid(EC), &oid(curve.oid)])),
            Self::Ed25519(key) => (key.public_key().as_ref().to_vec(), der::sequence(&[&oid(ED25519)])),
            Self::Dsa(_) => return Err(KeyError::DsaPublicKey),
        })
    }

    /// The algorithm identifier of its signatures.
    pub(crate) fn signature_algorithm(&self) -> Result<Vec<u8>, KeyError> {
        let oid = |oid: &[u8]| der::value(OID, oid);
        Ok(match self {
            Self::Rsa(_) => der::sequence(&[&oid(RSA_SHA256), &der::value(NULL, &[])]),
            Self::Ec(_, curve) => der::sequence(&[&oid(curve.signature_oid)]),
            Self::Ed25519(_) => der::sequence(&[&oid(ED25519)]),
            Self::Dsa(_) => return Err(KeyError::DsaSigner),
        })
    }

    pub(crate) fn sign(&self, message: &[u8]) -> Result<Vec<u8>, KeyError> {
        let failed = |_| KeyError::Sign;
        match self {
            Self::Rsa(key) => {
                let mut signature = vec![0; key.public_modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message, &mut signature).map_err(failed)?;
                Ok(signature)
            }
            Self::Ec(key, _) => Ok(key.sign(&SystemRandom::new(), message).map_err(failed)?.as_ref().to_vec()),
            Self::Ed25519(key) => Ok(key.sign(message).as_ref().to_vec()),
            Self::Dsa(_) => Err(KeyError::DsaSigner),
        }
    }
}

/// The key in PKCS#8, after the version and the algorithm identifier.
fn inner(pkcs8: &[u8]) -> Option<&[u8]> {
    let (_, content, _) = der::first(pkcs8)?;
    let (_, _, rest) = der::first(content)?;
    let (_, _, rest) = der::first(rest)?;
    der::first(rest).filter(|(tag, ..)| *tag == OCTET_STRING).map(|(_, content, _)| content)
}
