//! From a release to the text that is stored, and back.
//!
//! There are two levels of base64, and this is the inner one: a record is `base64(gzip(json))`, and that text is the
//! *value* of the Secret's key `release`. Where a Secret is written as JSON or YAML, Kubernetes has its values in
//! base64 once more; [`crate::secret()`] and [`crate::from_secret`] see to that.

use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::MultiGzDecoder;

use crate::packed::{Part, gzip};
use crate::shared::QUICK;
use crate::{Error, Release, SharedChart};

/// What Kubernetes lets the values of a Secret add up to, before the outer base64.
pub(crate) const SECRET_LIMIT: usize = 1 << 20;

/// As much as a record may unpack to. Manifests shrink to a tenth or less; a record that fills a Secret and unpacks to
/// more than eighty times its size was made to exhaust whoever reads it.
const UNPACKED_LIMIT: u64 = 64 << 20;

/// How gzip begins. Helm's oldest records are not compressed.
const GZIP: [u8; 3] = [0x1f, 0x8b, 0x08];

/// The text that Helm keeps for a release. The same release always gives the same text. The chart comes first in it, which
/// many records share, so that it is packed once.
///
/// It is an error where the text is more than a Secret can hold.
pub fn encode(release: &Release) -> Result<String, Error> {
    let rest = Release { chart: None, ..release.clone() };
    let json = serde_json::to_vec(&rest).map_err(|source| Error::Unwritable {
        namespace: release.namespace.clone(),
        name: release.name.clone(),
        source,
    })?;
    let mut text = pack(release.chart.as_ref(), &json)?;
    if text.len() > SECRET_LIMIT {
        text = pack_tightly(release.chart.as_ref(), &json)?;
    }
    if text.len() > SECRET_LIMIT {
        return Err(Error::TooLarge {
            namespace: release.namespace.clone(),
            name: release.name.clone(),
            revision: release.revision,
            size: text.len(),
            limit: SECRET_LIMIT,
        });
    }
    Ok(text)
}

/// A record of what it says beside its chart, which is a JSON object.
fn pack(chart: Option<&SharedChart>, rest: &[u8]) -> Result<String, Error> {
    let Some(chart) = chart else { return Ok(STANDARD.encode(gzip(&[&Part::last(rest, QUICK)?]))) };
    Ok(STANDARD.encode(gzip(&[chart.packed()?, &Part::last(&rest[1..], QUICK)?])))
}

/// The same in as little space as there can be.
fn pack_tightly(chart: Option<&SharedChart>, rest: &[u8]) -> Result<String, Error> {
    let whole = match chart {
        Some(chart) => [&chart.beginning()?, &rest[1..]].concat(),
        None => rest.to_vec(),
    };
    Ok(STANDARD.encode(gzip(&[&Part::last(&whole, Compression::best())?])))
}

/// The release that such a text holds. Its labels are not in it: see [`crate::from_secret`].
pub fn decode(record: &str) -> Result<Release, Error> {
    decode_bytes(record.as_bytes())
}

pub(crate) fn decode_bytes(record: &[u8]) -> Result<Release, Error> {
    let packed = STANDARD.decode(record)?;
    let json = if packed.starts_with(&GZIP) { unpack(&packed)? } else { packed };
    serde_json::from_slice(&json).map_err(Error::NotARelease)
}

fn unpack(packed: &[u8]) -> Result<Vec<u8>, Error> {
    let mut json = Vec::new();
    // One more than is allowed, to see whether there is more.
    let mut unpacked = MultiGzDecoder::new(packed).take(UNPACKED_LIMIT + 1);
    let read = unpacked.read_to_end(&mut json).map_err(Error::NotGzip)?;
    if read as u64 > UNPACKED_LIMIT {
        return Err(Error::Swollen { limit: UNPACKED_LIMIT });
    }
    Ok(json)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Info, Status};

    fn release() -> Release {
        let info = Info { status: Status::Deployed, ..Info::default() };
        let (name, namespace) = ("web".to_owned(), "shop".to_owned());
        Release { name, namespace, info, revision: 3, manifest: "kind: ConfigMap\n".into(), ..Release::default() }
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        super::gzip(&[&Part::last(bytes, Compression::best()).unwrap()])
    }

    /// Text that does not compress, the same in each run.
    fn noise(length: usize) -> String {
        let mut state = 1_u64;
        let letter = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            char::from(b' ' + u8::try_from((state >> 33) % 95).unwrap())
        };
        (0..length).map(letter).collect()
    }

    #[test]
    fn a_release_survives_being_stored() {
        assert_eq!(decode(&encode(&release()).unwrap()).unwrap(), release());
    }

    #[test]
    fn the_same_release_is_the_same_text() {
        assert_eq!(encode(&release()).unwrap(), encode(&release()).unwrap());
    }

    #[test]
    fn the_head_tells_neither_time_nor_system() {
        let packed = STANDARD.decode(encode(&release()).unwrap()).unwrap();
        // Magic, method, no flags, no time, neither slowest nor fastest compression, unknown system.
        assert_eq!(packed[..10], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
    }

    #[test]
    fn records_from_before_compression_are_read() {
        let text = STANDARD.encode(serde_json::to_vec(&release()).unwrap());
        assert_eq!(decode(&text).unwrap(), release());
    }

    #[test]
    fn a_record_in_several_gzip_members_is_read() {
        let json = serde_json::to_vec(&release()).unwrap();
        let (one, two) = json.split_at(20);
        assert_eq!(decode(&STANDARD.encode([gzip(one), gzip(two)].concat())).unwrap(), release());
    }

    #[test]
    fn each_wrong_record_has_its_own_error() {
        let said = |text: &str| decode(text).unwrap_err().to_string();
        assert!(said("not base64!").starts_with("the record is not base64: "));
        let mut cut = gzip(b"{}");
        cut.truncate(12);
        assert!(said(&STANDARD.encode(cut)).starts_with("the record cannot be unpacked: "));
        assert!(said(&STANDARD.encode(gzip(b"[]"))).starts_with("the record does not hold a release: "));
        assert!(said("").starts_with("the record does not hold a release: "));
        assert_eq!(
            said(&STANDARD.encode(b"{}")),
            "the record does not hold a release: missing field `info` at line 1 column 2"
        );
    }

    #[test]
    fn a_record_that_swells_is_not_unpacked_to_the_end() {
        let zeros = vec![b' '; usize::try_from(UNPACKED_LIMIT).unwrap() + 1];
        let error = decode(&STANDARD.encode(gzip(&zeros))).unwrap_err();
        assert_eq!(error.to_string(), "the record unpacks to more than 67108864 bytes, so it was not written by Helm");
    }

    #[test]
    fn a_record_that_no_secret_can_hold_is_refused() {
        let large = Release { manifest: noise(1 << 20), ..release() };
        let error = encode(&large).unwrap_err();
        let Error::TooLarge { size, .. } = &error else { panic!("{error}") };
        let expected = format!(
            "revision 3 of release shop/web takes {size} bytes as a record, and a Secret holds at most 1048576: \
             split the chart, or take large files out of it"
        );
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn a_large_manifest_that_shrinks_is_no_trouble() {
        let large = Release { manifest: "kind: ConfigMap\n".repeat(1 << 18), ..release() };
        assert_eq!(decode(&encode(&large).unwrap()).unwrap(), large);
    }
}
