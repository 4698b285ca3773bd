//! A record as the Secret that Helm keeps it in.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use time::OffsetDateTime;

use crate::encoding::{decode_bytes, encode};
use crate::{Error, Release};

/// The type of a Secret that holds a record.
pub const SECRET_TYPE: &str = "helm.sh/release.v1";

/// The value of the label `owner`. With the label `name` it is what Helm finds a release's records by.
pub const OWNER: &str = "helm";

/// Labels that are Helm's own. All others belong to the person who gave them.
const RESERVED: [&str; 6] = ["name", "owner", "status", "version", "createdAt", "modifiedAt"];

/// Whether a record is new. Helm labels it with the time of its making *or* of its last change: a changed record no
/// longer says when it was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamp {
    /// The record is created.
    Created(OffsetDateTime),
    /// A record that exists is replaced.
    Modified(OffsetDateTime),
}

/// The name of the Secret that holds this revision of the release.
pub fn secret_name(release: &str, revision: u64) -> String {
    format!("sh.helm.release.v1.{release}.v{revision}")
}

/// The Secret that Helm keeps for a release, to be created or to replace the one that is there.
///
/// A label of the release that has one of Helm's own names does not count. It is an error where the record is more than
/// a Secret can hold.
pub fn secret(release: &Release, stamp: Stamp) -> Result<Value, Error> {
    let mut labels = release.labels.clone();
    labels.retain(|name, _| !RESERVED.contains(&name.as_str()));
    let (stamped, at) = match stamp {
        Stamp::Created(at) => ("createdAt", at),
        Stamp::Modified(at) => ("modifiedAt", at),
    };
    labels.insert(stamped.to_owned(), at.unix_timestamp().to_string());
    labels.insert("name".to_owned(), release.name.clone());
    labels.insert("owner".to_owned(), OWNER.to_owned());
    labels.insert("status".to_owned(), release.info.status.to_string());
    labels.insert("version".to_owned(), release.revision.to_string());
    Ok(json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": secret_name(&release.name, release.revision),
            "namespace": release.namespace,
            "labels": labels,
        },
        "type": SECRET_TYPE,
        "data": { "release": STANDARD.encode(encode(release)?) },
    }))
}

/// The release in a Secret, with the labels that a person gave it.
///
/// As with Helm, neither the Secret's type nor its name decide: it holds a record when it has one.
pub fn from_secret(secret: &Value) -> Result<Release, Error> {
    let value = secret["data"]["release"].as_str();
    let value = value.ok_or_else(|| Error::NotARecord { secret: identity(secret), missing: "data.release" })?;
    let record = STANDARD.decode(value).map_err(Error::from);
    let release = record.and_then(|record| decode_bytes(&record));
    let release = release.map_err(|source| Error::Unreadable { secret: identity(secret), source: Box::new(source) })?;
    Ok(Release { labels: labels(secret), ..release })
}

fn labels(secret: &Value) -> BTreeMap<String, String> {
    let all = secret["metadata"]["labels"].as_object().into_iter().flatten();
    let own = all.filter(|(name, _)| !RESERVED.contains(&name.as_str()));
    own.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect()
}

fn identity(secret: &Value) -> String {
    let part = |field: &str| secret["metadata"][field].as_str().unwrap_or_default().to_owned();
    format!("{}/{}", part("namespace"), part("name"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Info, Status, decode};

    fn release() -> Release {
        let info = Info { status: Status::PendingUpgrade, ..Info::default() };
        let labels = [("team", "a"), ("owner", "me")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        let (name, namespace) = ("web".to_owned(), "shop".to_owned());
        Release { name, namespace, info, revision: 12, labels: labels.into(), ..Release::default() }
    }

    fn at(seconds: i64) -> OffsetDateTime {
        OffsetDateTime::from_unix_timestamp(seconds).unwrap()
    }

    #[test]
    fn a_new_record_is_a_secret_as_helm_makes_it() {
        let mut made = secret(&release(), Stamp::Created(at(1_700_000_000))).unwrap();
        let data = made["data"]["release"].take();
        let expected = json!({
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {
                "name": "sh.helm.release.v1.web.v12",
                "namespace": "shop",
                "labels": {
                    "createdAt": "1700000000", "name": "web", "owner": "helm", "status": "pending-upgrade",
                    "team": "a", "version": "12",
                },
            },
            "type": "helm.sh/release.v1",
            "data": { "release": null },
        });
        assert_eq!(made, expected);
        let inner = STANDARD.decode(data.as_str().unwrap()).unwrap();
        assert_eq!(decode(str::from_utf8(&inner).unwrap()).unwrap().name, "web");
    }

    #[test]
    fn a_changed_record_says_when_and_forgets_when_it_was_made() {
        let mut made = release();
        made.labels.insert("createdAt".into(), "1".into());
        let labels = &secret(&made, Stamp::Modified(at(1_700_000_001))).unwrap()["metadata"]["labels"];
        assert_eq!(labels["modifiedAt"], "1700000001");
        assert_eq!(labels.get("createdAt"), None);
    }

    #[test]
    fn the_labels_a_person_gave_come_back_and_helms_do_not() {
        let read = from_secret(&secret(&release(), Stamp::Created(at(0))).unwrap()).unwrap();
        assert_eq!(read.labels, BTreeMap::from([("team".to_owned(), "a".to_owned())]));
    }

    #[test]
    fn an_unreadable_record_is_named_by_its_secret() {
        let said = |data: Value| {
            let metadata = json!({ "name": "sh.helm.release.v1.web.v1", "namespace": "shop" });
            from_secret(&json!({ "metadata": metadata, "data": data })).unwrap_err().to_string()
        };
        assert_eq!(
            said(json!(null)),
            "Secret shop/sh.helm.release.v1.web.v1 holds no release record: data.release is missing"
        );
        assert_eq!(
            said(json!({ "release": STANDARD.encode(STANDARD.encode("{}")) })),
            "read the release record in Secret shop/sh.helm.release.v1.web.v1: the record does not hold a release: \
             missing field `info` at line 1 column 2"
        );
        assert!(said(json!({ "release": "?" })).contains(".v1: the record is not base64: "));
    }
}
