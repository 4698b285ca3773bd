//! What the API server checks, each rule with the sentence it refuses with.
//!
//! A rule looks at text only as far as a pattern can: whether a range can be satisfied, or a digest exists, is for others
//! to say. Every text that a rule looks at has a greatest length, because the API server bounds what a rule may cost.

use schemars::Schema;
use schemars::transform::Transform;
use serde::Serialize;
use serde_json::{Value, json};

/// An expression in CEL of what holds. As a transform it adds itself to the schema of a field or a type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Rule {
    /// The expression.
    pub rule: String,
    /// What is said when it does not hold.
    pub message: String,
    /// Where the mistake is, when it is deeper than the rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field_path: Option<String>,
}

impl Rule {
    /// What holds, and what is said when it does not.
    pub fn new(rule: impl Into<String>, message: impl Into<String>) -> Self {
        Self { rule: rule.into(), message: message.into(), field_path: None }
    }

    /// The same rule, of a mistake in this field.
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

/// One part of a version in a range: a number, or any.
const PART: &str = "([0-9]+|[xX*])";

/// For something that has a DNS label as its name.
pub fn label(what: &str, longest: u8) -> Rule {
    label_in("self", what, longest)
}

/// For something that has a DNS label as its name, when an expression says where the name is.
pub fn label_in(name: &str, what: &str, longest: u8) -> Rule {
    Rule::new(format!("size({name}) <= {longest} && {name}.matches('^{LABEL}$')"), label_sentence(what, longest))
}

/// For a list of DNS labels.
pub fn labels(what: &str, longest: u8) -> Rule {
    Rule::new(
        format!("self.all(each, size(each) <= {longest} && each.matches('^{LABEL}$'))"),
        label_sentence(what, longest),
    )
}

fn label_sentence(what: &str, longest: u8) -> String {
    format!(
        "the name of {what} has lowercase letters, digits and '-', begins and ends with a letter or digit, and has at \
         most {longest} characters"
    )
}

/// For a range of versions, as Helm reads ranges.
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

/// For one exact version. Its numbers have no more digits than 64 bits are sure to hold, for they are read as such.
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

/// For the digest of some content.
pub fn digest() -> Rule {
    Rule::new(format!("self.matches('^{DIGEST}$')"), "a digest is 'sha256:' and 64 hexadecimal digits in lower case")
}

/// For an image that is pinned.
pub fn image() -> Rule {
    Rule::new(format!("self.matches('^[^@ ]+@{DIGEST}$')"), IMAGE)
}

/// For a list of images that are pinned.
pub fn images() -> Rule {
    Rule::new(format!("self.all(each, each.matches('^[^@ ]+@{DIGEST}$'))"), IMAGE)
}

const IMAGE: &str = "an image is named with its digest, such as quay.io/jetstack/cert-manager-controller@sha256:…";

/// For a file that comes with a definition.
pub fn file() -> Rule {
    Rule::new(
        "!self.startsWith('/') && !self.matches('(^|/)[.][.](/|$)')",
        "a file is named by its path within the definition's own files: without a leading '/' and without '..'",
    )
}

/// For hosts that may be reached.
pub fn hosts() -> Rule {
    Rule::new(
        format!("self.all(each, each.matches('^([*][.])?{LABEL}([.]{LABEL})*(:[0-9]{{1,5}})?$'))"),
        "a host is a name and perhaps a port, such as acme.example.com:443 or *.example.com: without 'https://'",
    )
}

/// For exactly one of several fields.
pub fn exactly_one(fields: &[&str], sentence: &str) -> Rule {
    let present: Vec<_> = fields.iter().map(|field| format!("has(self.{field})")).collect();
    Rule::new(format!("[{}].exists_one(present, present)", present.join(", ")), sentence)
}

/// For what is said once and never again.
pub fn fixed(sentence: &str) -> Rule {
    Rule::new("self == oldSelf", sentence)
}
