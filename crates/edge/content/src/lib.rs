//! A durable blob store on the hub, addressed by digest.
//!
//! Content that a revision names must outlive every cache. It is stored in Secrets of the hub's namespace: compressed,
//! in parts that fit into a Secret, and named by the digest, so that equal content is stored once.

use std::collections::BTreeSet;
use std::io::{Read, Write};

use fitout_model::Digest;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::jiff::Timestamp;
use kube::api::{DeleteParams, ListParams, ObjectMeta, PostParams};
use kube::{Api, Client};

/// The bytes in one Secret: its limit of 1 MiB, less its name and labels.
const PART_SIZE: usize = 1_000_000;

/// The limit of the compressed content.
const MAX_SIZE: usize = 32 * PART_SIZE;

const LABEL: &str = "fitout.dev/content";
const PARTS: &str = "fitout.dev/parts";

/// The reason why content cannot be stored or read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The content is too large.
    #[error("content of {0} bytes (compressed) is larger than the limit of {MAX_SIZE} bytes")]
    TooLarge(usize),
    /// The content does not exist, or not completely.
    #[error("content {0} does not exist; choose another revision")]
    Missing(Digest),
    /// The content does not have its digest.
    #[error("content {0} is damaged; choose another revision")]
    Damaged(Digest),
    /// The request to the hub's API server failed.
    #[error("the hub cannot access its stored content: {0}")]
    Hub(#[from] kube::Error),
}

/// Compressed content, which takes little memory until it is stored.
#[derive(Debug)]
pub struct Packed {
    digest: Digest,
    packed: Vec<u8>,
}

impl Packed {
    /// Compresses content.
    pub fn new(content: &[u8]) -> Self {
        Self { digest: Digest::of(content), packed: pack(content) }
    }

    /// The digest of the uncompressed content.
    pub fn digest(&self) -> &Digest {
        &self.digest
    }

    /// The size of the compressed content in bytes.
    pub fn size(&self) -> usize {
        self.packed.len()
    }
}

/// A blob store in the Secrets of a namespace.
#[derive(Clone)]
pub struct Content {
    secrets: Api<Secret>,
}

impl Content {
    /// Creates a store in this namespace.
    pub fn new(client: Client, namespace: &str) -> Self {
        Self { secrets: Api::namespaced(client, namespace) }
    }

    /// Stores content and returns its digest. Idempotent.
    pub async fn put(&self, content: &[u8]) -> Result<Digest, Error> {
        let packed = Packed::new(content);
        self.put_packed(&packed).await?;
        Ok(packed.digest)
    }

    /// Stores compressed content. Idempotent.
    pub async fn put_packed(&self, Packed { digest, packed }: &Packed) -> Result<(), Error> {
        if packed.len() > MAX_SIZE {
            return Err(Error::TooLarge(packed.len()));
        }
        let parts: Vec<&[u8]> = packed.chunks(PART_SIZE).collect();
        for (index, part) in parts.iter().enumerate() {
            let name = part_name(digest, index);
            let secret = Secret {
                metadata: ObjectMeta {
                    name: Some(name.clone()),
                    labels: Some([(LABEL.to_owned(), label(digest))].into()),
                    annotations: Some([(PARTS.to_owned(), parts.len().to_string())].into()),
                    ..ObjectMeta::default()
                },
                type_: Some("fitout.dev/content".to_owned()),
                data: Some([("content".to_owned(), ByteString(part.to_vec()))].into()),
                ..Secret::default()
            };
            match self.secrets.create(&PostParams::default(), &secret).await {
                Ok(_) => {}
                // The name contains the digest, so the existing content is the same.
                Err(kube::Error::Api(status)) if status.reason == "AlreadyExists" => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Reads the content with this digest and verifies it.
    pub async fn get(&self, digest: &Digest) -> Result<Vec<u8>, Error> {
        let missing = || Error::Missing(digest.clone());
        let mut packed = Vec::new();
        let mut parts = 1;
        for index in 0.. {
            if index == parts {
                break;
            }
            let secret = self.secrets.get_opt(&part_name(digest, index)).await?.ok_or_else(missing)?;
            let annotation = secret.metadata.annotations.and_then(|mut all| all.remove(PARTS));
            parts = annotation.and_then(|parts| parts.parse().ok()).ok_or_else(missing)?;
            let part = secret.data.and_then(|mut data| data.remove("content")).ok_or_else(missing)?;
            packed.extend_from_slice(&part.0);
        }
        unpack(&packed).filter(|content| Digest::of(content) == *digest).ok_or_else(|| Error::Damaged(digest.clone()))
    }

    /// Deletes unreferenced content that was stored before this time. Returns the number of younger unreferenced
    /// Secrets, which it keeps.
    pub async fn sweep(&self, referenced: &BTreeSet<Digest>, before: Timestamp) -> Result<usize, Error> {
        let referenced: BTreeSet<String> = referenced.iter().map(label).collect();
        let secrets = self.secrets.list_metadata(&ListParams::default().labels(LABEL)).await?;
        let mut younger = 0;
        for part in secrets.items {
            let digest = part.metadata.labels.as_ref().and_then(|labels| labels.get(LABEL));
            if digest.is_none_or(|digest| referenced.contains(digest)) {
                continue;
            }
            if part.metadata.creation_timestamp.is_none_or(|created| created.0 >= before) {
                younger += 1;
                continue;
            }
            match self.secrets.delete(&part.metadata.name.unwrap_or_default(), &DeleteParams::default()).await {
                Ok(_) => {}
                Err(kube::Error::Api(status)) if status.code == 404 => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(younger)
    }
}

/// The label value of a digest: its first 40 digits, as a label value has at most 63 characters.
fn label(digest: &Digest) -> String {
    digest.as_str().trim_start_matches("sha256:").chars().take(40).collect()
}

fn part_name(digest: &Digest, index: usize) -> String {
    format!("content-{}-{index}", label(digest))
}

fn pack(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(3));
    // Writing to memory does not fail.
    let _ = encoder.write_all(content);
    encoder.finish().unwrap_or_default()
}

fn unpack(packed: &[u8]) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    // No stored content is larger; a decompression bomb counts as damaged.
    GzDecoder::new(packed).take(1 << 30).read_to_end(&mut content).ok()?;
    Some(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_content_unpacks_to_the_same() {
        let content = b"the same ".repeat(1000);
        assert!(pack(&content).len() < 200);
        assert_eq!(unpack(&pack(&content)), Some(content));
        assert_eq!(unpack(b"not packed"), None);
    }

    #[test]
    fn part_name_has_a_shortened_digest() {
        assert_eq!(part_name(&Digest::of(""), 3), "content-e3b0c44298fc1c149afbf4c8996fb92427ae41e4-3");
    }
}
