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
use crate::{keys, pem};

/// A private key.
pub(crate) enum Key {
    Rsa(RsaKeyPair),
    Ec(EcdsaKeyPair, &'static Curve),
    Ed25519(Ed25519KeyPair),
    /// One that signs nothing, as its owner wrote it.
    Dsa(Vec<u8>),
}

/// A curve, what signs on it, and the names of both.
pub(crate) struct Curve {
    algorithm: &'static EcdsaSigningAlgorithm,
    name: &'static [u8],
    signature: &'static [u8],
}

static CURVES: [Curve; 3] = [
    Curve {
        algorithm: &ECDSA_P256_SHA256_ASN1_SIGNING,
        name: &[0x2A, 0x86, 0x48, 0xCE, 0x3D, 3, 1, 7],
        signature: &[0x2A, 0x86, 0x48, 0xCE, 0x3D, 4, 3, 2],
    },
    Curve {
        algorithm: &ECDSA_P384_SHA384_ASN1_SIGNING,
        name: &[0x2B, 0x81, 4, 0, 0x22],
        signature: &[0x2A, 0x86, 0x48, 0xCE, 0x3D, 4, 3, 3],
    },
    Curve {
        algorithm: &ECDSA_P521_SHA512_ASN1_SIGNING,
        name: &[0x2B, 0x81, 4, 0, 0x23],
        signature: &[0x2A, 0x86, 0x48, 0xCE, 0x3D, 4, 3, 4],
    },
];
const RSA: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 1];
const RSA_SHA256: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 0x0B];
const EC: &[u8] = &[0x2A, 0x86, 0x48, 0xCE, 0x3D, 2, 1];
const ED25519: &[u8] = &[0x2B, 0x65, 0x70];

/// A new key as PEM.
pub(crate) fn make(kind: &str) -> Result<String, String> {
    let failed = |_| "the machine could not make one".to_owned();
    let key = match kind {
        "" | "rsa" => Key::Rsa(RsaKeyPair::generate(KeySize::Rsa4096).map_err(failed)?),
        "ecdsa" => Key::Ec(EcdsaKeyPair::generate(CURVES[0].algorithm).map_err(failed)?, &CURVES[0]),
        "ed25519" => Key::Ed25519(Ed25519KeyPair::generate().map_err(failed)?),
        "dsa" => Key::Dsa(dsa()?),
        other => return Err(format!("there are no keys of kind {other}")),
    };
    key.to_pem()
}

/// A version, what the key shares with others of its kind, what is known of it, and what is not.
fn dsa() -> Result<Vec<u8>, String> {
    let mut random = getrandom::SysRng;
    let components = Components::try_generate_from_rng_with_key_size(&mut random, dsa::KeySize::DSA_2048_256)
        .map_err(|error| format!("failed to generate dsa params: {error}"))?;
    let key = SigningKey::try_generate_from_rng_with_components(&mut random, components)
        .map_err(|error| error.to_string())?;
    let public = key.verifying_key();
    let shared = public.components();
    let numbers = [shared.p().to_be_bytes(), shared.q().to_be_bytes(), shared.g().to_be_bytes()];
    let numbers = numbers.into_iter().chain([public.y().to_be_bytes(), key.x().to_be_bytes()]);
    let numbers: Vec<u8> = numbers.flat_map(|number| der::integer(&number)).collect();
    Ok(der::sequence(&[&der::integer(&[0]), &numbers]))
}

impl Key {
    /// A new key for a certificate.
    pub(crate) fn new() -> Result<Self, String> {
        keys::rsa().map(Self::Rsa).ok_or_else(|| "error generating rsa key: the machine could not make one".to_owned())
    }

    /// The key in a text, or in Go's words why it has none.
    pub(crate) fn read(text: &[u8]) -> Result<Self, String> {
        let block = pem::decode(text).ok_or("no PEM data in input")?;
        let (label, content) = (block.label.as_str(), &block.content);
        let wrong = |doing: &str| format!("{doing}: x509: failed to parse private key");
        if label == "PRIVATE KEY" {
            return Self::from_pkcs8(content).ok_or_else(|| wrong("decoding PEM as PKCS#8"));
        }
        match label.strip_suffix(" PRIVATE KEY") {
            Some("RSA") => {
                RsaKeyPair::from_der(content).map(Self::Rsa).map_err(|_| wrong("parsing RSA private key from PEM"))
            }
            Some("EC") => {
                let read = |curve: &'static Curve| {
                    let key = EcdsaKeyPair::from_private_key_der(curve.algorithm, content).ok()?;
                    Some(Self::Ec(key, curve))
                };
                CURVES.iter().find_map(read).ok_or_else(|| wrong("parsing EC private key from PEM"))
            }
            Some("DSA") if der::first(content).is_some_and(|(tag, ..)| tag == SEQUENCE) => {
                Ok(Self::Dsa(content.clone()))
            }
            Some("DSA") => Err(wrong("parsing DSA private key from PEM")),
            Some(_) => Err(format!("invalid private key type {label}")),
            None => Err(format!("no private key data in PEM block of type {label}")),
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

    /// The key as PEM, of the format that Go chooses for its kind.
    pub(crate) fn to_pem(&self) -> Result<String, String> {
        let failed = "error pem-encoding key: the key cannot be written";
        Ok(match self {
            Self::Rsa(key) => {
                let whole: Pkcs8V1Der<'_> = key.as_der().map_err(|_| failed)?;
                pem::encode("RSA PRIVATE KEY", inner(whole.as_ref()).ok_or(failed)?)
            }
            Self::Ec(key, _) => {
                let whole: EcPrivateKeyRfc5915Der<'_> = key.private_key().as_der().map_err(|_| failed)?;
                pem::encode("EC PRIVATE KEY", whole.as_ref())
            }
            Self::Ed25519(key) => pem::encode("PRIVATE KEY", key.to_pkcs8v1().map_err(|_| failed)?.as_ref()),
            Self::Dsa(content) => pem::encode("DSA PRIVATE KEY", content),
        })
    }

    /// The public key, and the name of its kind.
    pub(crate) fn public(&self) -> Result<(Vec<u8>, Vec<u8>), String> {
        let name = |name: &[u8]| der::value(OID, name);
        Ok(match self {
            Self::Rsa(key) => {
                (key.public_key().as_ref().to_vec(), der::sequence(&[&name(RSA), &der::value(NULL, &[])]))
            }
            Self::Ec(key, curve) => {
                (key.public_key().as_ref().to_vec(), der::sequence(&[&name(EC), &name(curve.name)]))
            }
            Self::Ed25519(key) => (key.public_key().as_ref().to_vec(), der::sequence(&[&name(ED25519)])),
            Self::Dsa(_) => return Err("x509: unsupported public key type: *dsa.PublicKey".to_owned()),
        })
    }

    /// The name of how it signs.
    pub(crate) fn signature_name(&self) -> Result<Vec<u8>, String> {
        let name = |name: &[u8]| der::value(OID, name);
        Ok(match self {
            Self::Rsa(_) => der::sequence(&[&name(RSA_SHA256), &der::value(NULL, &[])]),
            Self::Ec(_, curve) => der::sequence(&[&name(curve.signature)]),
            Self::Ed25519(_) => der::sequence(&[&name(ED25519)]),
            Self::Dsa(_) => {
                return Err("x509: certificate private key does not implement crypto.Signer".to_owned());
            }
        })
    }

    pub(crate) fn sign(&self, message: &[u8]) -> Result<Vec<u8>, String> {
        let failed = |_| "x509: the key cannot sign".to_owned();
        match self {
            Self::Rsa(key) => {
                let mut signature = vec![0; key.public_modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message, &mut signature).map_err(failed)?;
                Ok(signature)
            }
            Self::Ec(key, _) => Ok(key.sign(&SystemRandom::new(), message).map_err(failed)?.as_ref().to_vec()),
            Self::Ed25519(key) => Ok(key.sign(message).as_ref().to_vec()),
            Self::Dsa(_) => self.signature_name(),
        }
    }
}

/// The key inside of PKCS#8, which comes after a version and the name of its kind.
fn inner(pkcs8: &[u8]) -> Option<&[u8]> {
    let (_, content, _) = der::first(pkcs8)?;
    let (_, _, rest) = der::first(content)?;
    let (_, _, rest) = der::first(rest)?;
    der::first(rest).filter(|(tag, ..)| *tag == OCTET_STRING).map(|(_, content, _)| content)
}
