//! Times as Helm writes them: RFC 3339 with as many decimals as there are, and nothing where there is none.
//!
//! Helm 3 wrote an empty string for a time that has not come; it is read as none.

use serde::{Deserialize, Deserializer, Serializer};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

#[expect(clippy::ref_option, reason = "the form that serde asks for")]
pub(crate) fn serialize<S: Serializer>(at: &Option<OffsetDateTime>, to: S) -> Result<S::Ok, S::Error> {
    match at {
        Some(at) => to.serialize_str(&at.format(&Rfc3339).map_err(serde::ser::Error::custom)?),
        None => to.serialize_none(),
    }
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<OffsetDateTime>, D::Error> {
    let text = Option::<String>::deserialize(from)?.filter(|text| !text.is_empty());
    let parsed = text.map(|text| OffsetDateTime::parse(&text, &Rfc3339));
    parsed.transpose().map_err(serde::de::Error::custom)
}

#[cfg(test)]
mod tests {
    use crate::Info;

    fn again(text: &str) -> String {
        let info: Info = serde_json::from_str(&format!(r#"{{"status":"deployed","last_deployed":{text}}}"#)).unwrap();
        serde_json::to_value(&info).unwrap()["last_deployed"].to_string()
    }

    #[test]
    fn a_time_is_written_as_it_was_read() {
        for text in [
            r#""2026-11-15T21:42:08.123456789Z""#,
            r#""2026-11-15T21:42:08.12Z""#,
            r#""2026-11-15T21:42:08Z""#,
            r#""2026-11-15T21:42:08.5+05:30""#,
            r#""2026-11-15T21:42:08-08:00""#,
            r#""0001-01-01T00:00:00Z""#,
        ] {
            assert_eq!(again(text), text);
        }
    }

    #[test]
    fn an_empty_time_is_none() {
        assert_eq!(again(r#""""#), "null");
        assert_eq!(again("null"), "null");
    }

    #[test]
    fn what_is_no_time_is_refused() {
        assert!(serde_json::from_str::<Info>(r#"{"status":"deployed","deleted":"yesterday"}"#).is_err());
    }
}
