//! The CEL rules of a definition in Rust, for definitions that no API server has validated.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use fitout_helm_ranges::Range;
use semver::Version;
use serde_json::Value;

use super::access::resources_or_urls;
use super::engine::{ENGINES, exactly_one};
use super::platform_requires_native;
use super::requirements::hosts_require_reach;
use crate::rules::{self, Rule};

type Check = fn(&Value) -> bool;

/// The check for each CEL expression. `self == oldSelf` has none, because a document has no old value.
static CHECKS: LazyLock<BTreeMap<String, Check>> = LazyLock::new(|| {
    let checks: [(Rule, Check); 13] = [
        (rules::label("", 63), |name| each(name, is_name)),
        (rules::labels("", 63), |names| each(names, is_name)),
        (rules::semver(), |version| each(version, is_version)),
        (rules::range(), |range| each(range, is_range)),
        (rules::digest(), |digest| each(digest, is_digest)),
        (rules::image(), |image| each(image, is_image)),
        (rules::images(), |images| each(images, is_image)),
        (rules::file(), |path| each(path, is_inside)),
        (rules::hosts(), |hosts| each(hosts, is_host)),
        (exactly_one(), |spec| ENGINES.iter().filter(|engine| has(spec, engine)).count() == 1),
        (platform_requires_native(), |spec| !has(spec, "platform") || spec["lifecycle"] == "Native"),
        (hosts_require_reach(), |access| {
            (access["to"] == "Hosts") == access["hosts"].as_array().is_some_and(|hosts| !hosts.is_empty())
        }),
        (resources_or_urls(), |rule| has(rule, "resources") != has(rule, "nonResourceURLs")),
    ];
    checks.into_iter().map(|(rule, check)| (rule.rule, check)).collect()
});

/// Whether a CEL expression of the schema holds for a value.
pub(super) fn holds(expression: &str, value: &Value) -> bool {
    CHECKS.get(expression).is_none_or(|check| check(value))
}

/// Whether a check holds for a string, or for every string of a list. Values of other types pass.
fn each(value: &Value, holds: impl Fn(&str) -> bool) -> bool {
    let is_valid = |value: &Value| value.as_str().is_none_or(&holds);
    value.as_array().map_or_else(|| is_valid(value), |values| values.iter().all(is_valid))
}

fn has(value: &Value, field: &str) -> bool {
    !value[field].is_null()
}

fn is_name(text: &str) -> bool {
    text.len() <= 63 && is_label(text)
}

fn is_label(text: &str) -> bool {
    let has_valid_ends = !text.is_empty() && !text.starts_with('-') && !text.ends_with('-');
    has_valid_ends && text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
}

/// The rule counts digits, so that a number of 20 digits is invalid even where it fits into 64 bits.
fn is_version(text: &str) -> bool {
    let short =
        |version: Version| [version.major, version.minor, version.patch].iter().all(|part| *part < 10_u64.pow(19));
    Version::parse(text).is_ok_and(short)
}

/// Go allows any white space between comparisons, the rule only blanks.
fn is_range(text: &str) -> bool {
    !text.contains(char::is_control) && Range::parse(text).is_ok()
}

fn is_digest(text: &str) -> bool {
    let is_digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    text.strip_prefix("sha256:").is_some_and(|digits| digits.len() == 64 && digits.bytes().all(is_digit))
}

fn is_image(text: &str) -> bool {
    text.split_once('@').is_some_and(|(name, digest)| !name.is_empty() && !name.contains(' ') && is_digest(digest))
}

fn is_inside(path: &str) -> bool {
    !path.starts_with('/') && path.split('/').all(|part| part != "..")
}

fn is_host(text: &str) -> bool {
    let (name, port) = text.split_once(':').unwrap_or((text, "0"));
    let is_port = (1..=5).contains(&port.len()) && port.bytes().all(|byte| byte.is_ascii_digit());
    is_port && name.strip_prefix("*.").unwrap_or(name).split('.').all(is_label)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Definition;
    use crate::definition::shape::schema;

    /// Every CEL expression of a schema.
    fn expressions(schema: &Value) -> Vec<String> {
        match schema {
            Value::Object(fields) => fields
                .iter()
                .flat_map(|(name, value)| match (name.as_str(), value.as_str()) {
                    ("rule", Some(expression)) => vec![expression.to_owned()],
                    _ => expressions(value),
                })
                .collect(),
            Value::Array(values) => values.iter().flat_map(expressions).collect(),
            _ => vec![],
        }
    }

    #[test]
    fn every_rule_has_a_check_except_immutability() {
        let mut left: Vec<_> = expressions(&schema::<Definition>());
        assert!(left.len() > CHECKS.len());
        left.retain(|expression| !CHECKS.contains_key(expression));
        assert_eq!(left, [rules::fixed("").rule]);
    }

    #[test]
    fn checks_agree_with_their_rules() {
        let (digest, long) = (format!("sha256:{}", "0a".repeat(32)), "a".repeat(64));
        let rows = [
            (rules::label("", 63), vec!["a", "a-1"], vec!["", "-a", "a-", "A", "a.b", "ä", &long]),
            (rules::semver(), vec!["1.2.3", "1.0.0-rc.1+b"], vec!["1.2", "v1.2.3", "01.2.3", "1.2.3-", "1.0.0+a..b"]),
            (rules::range(), vec![">=1.33 <1.37", "1.x || ^2", "1 - 2"], vec!["", "latest", ">=1 and <2", ">=1\n<2"]),
            (rules::digest(), vec![&digest], vec!["", "sha256:0a", "sha512:0a", &digest[7..]]),
            (rules::file(), vec!["a", "a/..b", "a.."], vec!["/a", "..", "a/../b", "a/.."]),
        ];
        for (rule, good, bad) in rows {
            let holds = |text: &&str| holds(&rule.rule, &json!(text));
            assert_eq!(good.iter().find(|text| !holds(text)), None, "{}", rule.message);
            assert_eq!(bad.iter().find(|text| holds(text)), None, "{}", rule.message);
        }
    }

    #[test]
    fn every_entry_of_a_list_is_checked() {
        let pinned = format!("quay.io/a/b:v1@sha256:{}", "0".repeat(64));
        let rows = [
            (rules::images(), vec![pinned.as_str()], vec!["quay.io/a/b:v1", &pinned[14..]]),
            (rules::hosts(), vec!["a", "*.b.c", "a.b:443"], vec!["https://a", "a:", "a:123456", "*", "a..b", "a:1:2"]),
            (rules::labels("", 63), vec!["kube-system"], vec!["Kube_System"]),
        ];
        for (rule, good, bad) in rows {
            assert!(holds(&rule.rule, &json!(good)), "{good:?}");
            for text in bad {
                assert!(!holds(&rule.rule, &json!([good[0], text])), "{text}");
            }
        }
    }
}
