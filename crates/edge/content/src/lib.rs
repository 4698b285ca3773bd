//! Content by digest, durable on the hub.
//!
//! What a kept revision names must outlive every cache. Without an object store it is kept in Secrets of the hub's own
//! namespace: compressed, in parts that fit, and named by the digest, so that the same content is kept once.

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

/// What a Secret can hold, less what its name and labels take.
const PART: usize = 1_000_000;

/// What one piece of content may take in all. More belongs into an object store.
const LIMIT: usize = 32 * PART;

const LABEL: &str = "fitout.dev/content";

/// Why content could not be kept or had.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is too large.
    #[error("content of {0} bytes is more than can be kept in secrets; configure an object store")]
    TooLarge(usize),
    /// It is not there, or not whole.
    #[error("content {0} is not there; whoever made it has to make it again")]
    Missing(Digest),
    /// It cannot be read.
    #[error("content {0} is damaged; whoever made it has to make it again")]
    Damaged(Digest),
    /// The hub's API server did not do it.
    #[error("the hub could not keep content: {0}")]
    Hub(#[from] kube::Error),
}

/// Content that is to be kept, as it will be: what waits for that takes little room.
#[derive(Debug)]
pub struct Packed {
    digest: Digest,
    packed: Vec<u8>,
}

impl Packed {
    /// Packs content.
    pub fn new(content: &[u8]) -> Self {
        Self { digest: Digest::of(content), packed: pack(content) }
    }

    /// Of the content.
    pub fn digest(&self) -> &Digest {
        &self.digest
    }

    /// The room that it takes, in bytes.
    pub fn size(&self) -> usize {
        self.packed.len()
    }
}

/// The store.
#[derive(Clone)]
pub struct Content {
    secrets: Api<Secret>,
}

impl Content {
    /// A store in this namespace.
    pub fn new(client: Client, namespace: &str) -> Self {
        Self { secrets: Api::namespaced(client, namespace) }
    }

    /// Keeps content, and says under which digest. Keeping it again is no harm.
    pub async fn put(&self, content: &[u8]) -> Result<Digest, Error> {
        let packed = Packed::new(content);
        self.put_packed(&packed).await?;
        Ok(packed.digest)
    }

    /// The same, of what was packed before.
    pub async fn put_packed(&self, Packed { digest, packed }: &Packed) -> Result<(), Error> {
        if packed.len() > LIMIT {
            return Err(Error::TooLarge(packed.len()));
        }
        let parts: Vec<&[u8]> = packed.chunks(PART).collect();
        for (index, part) in parts.iter().enumerate() {
            let name = part_name(digest, index);
            let secret = Secret {
                metadata: ObjectMeta {
                    name: Some(name.clone()),
                    labels: Some([(LABEL.to_owned(), label(digest))].into()),
                    annotations: Some([("fitout.dev/parts".to_owned(), parts.len().to_string())].into()),
                    ..ObjectMeta::default()
                },
                type_: Some("fitout.dev/content".to_owned()),
                data: Some([("content".to_owned(), ByteString(part.to_vec()))].into()),
                ..Secret::default()
            };
            match self.secrets.create(&PostParams::default(), &secret).await {
                Ok(_) => {}
                // The name is the digest's: what is there is the same.
                Err(kube::Error::Api(status)) if status.code == 409 => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// The content with this digest.
    pub async fn get(&self, digest: &Digest) -> Result<Vec<u8>, Error> {
        let missing = || Error::Missing(digest.clone());
        let mut packed = Vec::new();
        let mut parts = 1;
        for index in 0.. {
            if index == parts {
                break;
            }
            let secret = self.secrets.get_opt(&part_name(digest, index)).await?.ok_or_else(missing)?;
            let said = secret.metadata.annotations.and_then(|mut all| all.remove("fitout.dev/parts"));
            parts = said.and_then(|parts| parts.parse().ok()).ok_or_else(missing)?;
            let part = secret.data.and_then(|mut data| data.remove("content")).ok_or_else(missing)?;
            packed.extend_from_slice(&part.0);
        }
        unpack(&packed).filter(|content| Digest::of(content) == *digest).ok_or_else(|| Error::Damaged(digest.clone()))
    }

    /// Removes content that was kept before this moment and is not among what is still named. Says how much younger
    /// content it had to leave that is not named yet.
    pub async fn sweep(&self, named: &BTreeSet<Digest>, before: Timestamp) -> Result<usize, Error> {
        let named: BTreeSet<String> = named.iter().map(label).collect();
        let kept = self.secrets.list_metadata(&ListParams::default().labels(LABEL)).await?;
        let mut young = 0;
        for part in kept.items {
            let of = part.metadata.labels.as_ref().and_then(|labels| labels.get(LABEL));
            if of.is_none_or(|digest| named.contains(digest)) {
                continue;
            }
            if part.metadata.creation_timestamp.is_none_or(|made| made.0 >= before) {
                young += 1;
                continue;
            }
            match self.secrets.delete(&part.metadata.name.unwrap_or_default(), &DeleteParams::default()).await {
                Ok(_) => {}
                Err(kube::Error::Api(status)) if status.code == 404 => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(young)
    }
}

/// A label's value has at most 63 characters: 40 digits are as many as git takes.
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
    // Nothing that was kept unpacks to more: a bomb is damage.
    GzDecoder::new(packed).take(1 << 30).read_to_end(&mut content).ok()?;
    Some(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_unpacks_to_the_same() {
        let content = b"the same ".repeat(1000);
        assert!(pack(&content).len() < 200);
        assert_eq!(unpack(&pack(&content)), Some(content));
        assert_eq!(unpack(b"not packed"), None);
    }

    #[test]
    fn names_fit_into_labels() {
        assert_eq!(part_name(&Digest::of(""), 3), "content-e3b0c44298fc1c149afbf4c8996fb92427ae41e4-3");
    }
}
