//! CEL validation rules, each with the message of the API server when it fails.
//!
//! A rule checks only the format of a string, not whether a range can be satisfied or a digest exists. Every string that a
//! rule reads has a maximum length, because the API server limits the cost of a rule.

use schemars::Schema;
use schemars::transform::Transform;
use serde::Serialize;
use serde_json::{Value, json};

/// A CEL validation rule. As a transform it adds itself to the schema of a field or a type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Rule {
    /// The CEL expression.
    pub rule: String,
    /// The message when the expression is false.
    pub message: String,
    /// The path of the field at fault, where it is nested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field_path: Option<String>,
}

impl Rule {
    /// A rule from an expression and its message.
    pub fn new(rule: impl Into<String>, message: impl Into<String>) -> Self {
        Self { rule: rule.into(), message: message.into(), field_path: None }
    }

    /// The same rule, reported for this field.
    #[must_use]
    pub fn at(self, field_path: &str) -> Self {
        Self { field_path: Some(field_path.to_owned()), ..self }
    }
}

impl Transform for Rule {
    fn transform(&mut self, schema: &mut Schema) {
        let rules = schema.ensure_object().entry("x-kubernetes-validations").or_insert_with(|| json!([]));
        if let Value::Array(rules) = rules {
            rules.push(json!(self));
        }
    }
}

const LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";

const DIGEST: &str = "sha256:[0-9a-f]{64}";

/// One part of a version in a range: a number, or a wildcard.
const PART: &str = "([0-9]+|[xX*])";

/// The value is a DNS label.
pub fn label(what: &str, max_length: u8) -> Rule {
    label_in("self", what, max_length)
}

/// The value of an expression is a DNS label.
pub fn label_in(name: &str, what: &str, max_length: u8) -> Rule {
    Rule::new(format!("size({name}) <= {max_length} && {name}.matches('^{LABEL}$')"), label_message(what, max_length))
}

/// Every value of a list is a DNS label.
pub fn labels(what: &str, max_length: u8) -> Rule {
    Rule::new(
        format!("self.all(each, size(each) <= {max_length} && each.matches('^{LABEL}$'))"),
        label_message(what, max_length),
    )
}

fn label_message(what: &str, max_length: u8) -> String {
    format!(
        "the name of {what} has lowercase letters, digits and '-', begins and ends with a letter or digit, and has at \
         most {max_length} characters"
    )
}

/// The value is a version range, in the syntax of Helm.
pub fn range() -> Rule {
    Rule::new(
        format!("self.matches('{}')", range_pattern()),
        "a range of versions is expected, such as '>=1.33 <1.37', '1.x', '^1.2' or '~1.2.3'; alternatives are joined by \
         '||'",
    )
}

/// Versions, each with or without an operator, joined by a space, a comma, `||` or ` - `.
fn range_pattern() -> String {
    let version = format!("v?{PART}([.]{PART}){{0,2}}(-[0-9A-Za-z.-]+)?([+][0-9A-Za-z.-]+)?");
    let one = format!("(!=|[<>]=?|=[<>]?|~>?|[~^])? *{version}");
    format!("^ *{one}(( +- +| *[|][|] *| *, *| +){one})* *$")
}

/// The value is an exact semantic version. Its numbers have at most 19 digits, so that they fit into 64 bits.
pub fn semver() -> Rule {
    let number = "(0|[1-9][0-9]{0,18})";
    let identifier = "(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)";
    let build = "[0-9A-Za-z-]+";
    Rule::new(
        format!(
            "self.matches('^{number}[.]{number}[.]{number}(-{identifier}([.]{identifier})*)?([+]{build}([.]{build})*)?$')"
        ),
        "a version has three numbers, as SemVer asks for: such as 1.21.2 or 2.0.0-rc.1, without a leading 'v'",
    )
}

/// The value is a digest.
pub fn digest() -> Rule {
    Rule::new(format!("self.matches('^{DIGEST}$')"), "a digest is 'sha256:' and 64 hexadecimal digits in lower case")
}

/// The value is an image pinned by digest.
pub fn image() -> Rule {
    Rule::new(format!("self.matches('^[^@ ]+@{DIGEST}$')"), IMAGE)
}

/// Every value of a list is an image pinned by digest.
pub fn images() -> Rule {
    Rule::new(format!("self.all(each, each.matches('^[^@ ]+@{DIGEST}$'))"), IMAGE)
}

const IMAGE: &str = "an image is named with its digest, such as quay.io/jetstack/cert-manager-controller@sha256:…";

/// The value is a relative path within the files of a definition.
pub fn file() -> Rule {
    Rule::new(
        "!self.startsWith('/') && !self.matches('(^|/)[.][.](/|$)')",
        "a file is named by its path within the definition's own files: without a leading '/' and without '..'",
    )
}

/// Every value of a list is a host, with an optional port.
pub fn hosts() -> Rule {
    Rule::new(
        format!("self.all(each, each.matches('^([*][.])?{LABEL}([.]{LABEL})*(:[0-9]{{1,5}})?$'))"),
        "a host is a name and perhaps a port, such as acme.example.com:443 or *.example.com: without 'https://'",
    )
}

/// Exactly one of several fields is set.
pub fn exactly_one(fields: &[&str], message: &str) -> Rule {
    let present: Vec<_> = fields.iter().map(|field| format!("has(self.{field})")).collect();
    Rule::new(format!("[{}].exists_one(present, present)", present.join(", ")), message)
}

/// The value is immutable.
pub fn fixed(message: &str) -> Rule {
    Rule::new("self == oldSelf", message)
}
