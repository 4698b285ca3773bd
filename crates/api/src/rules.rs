//! What the API server checks, each rule with the sentence it refuses with.
//!
//! A rule looks at text only as far as a pattern can: whether a range can be satisfied, or a digest exists, is for others
//! to say. Every text that a rule looks at has a greatest length, because the API server bounds what a rule may cost.

use kube::core::Rule;

const LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";

const DIGEST: &str = "sha256:[0-9a-f]{64}";

/// One part of a version in a range: a number, or any.
const PART: &str = "([0-9]+|[xX*])";

/// For something that has a DNS label as its name.
pub(crate) fn label(what: &str, longest: u8) -> Rule {
    Rule::new(format!("size(self) <= {longest} && self.matches('^{LABEL}$')"))
        .message(label_sentence(what, longest).as_str())
}

/// For a list of DNS labels.
pub(crate) fn labels(what: &str, longest: u8) -> Rule {
    Rule::new(format!("self.all(each, size(each) <= {longest} && each.matches('^{LABEL}$'))"))
        .message(label_sentence(what, longest).as_str())
}

/// Where to look when it is the object's own name that is wrong.
pub(crate) const OBJECT_NAME: &str = ".metadata.name";

/// For an object whose own name has to be a DNS label, because other names are made from it.
pub(crate) fn object_name(what: &str, longest: u8) -> Rule {
    Rule::new(format!("size(self.metadata.name) <= {longest} && self.metadata.name.matches('^{LABEL}$')"))
        .message(label_sentence(what, longest).as_str())
        .field_path(OBJECT_NAME)
}

fn label_sentence(what: &str, longest: u8) -> String {
    format!(
        "the name of {what} has lowercase letters, digits and '-', begins and ends with a letter or digit, and has at \
         most {longest} characters"
    )
}

/// For a range of versions, as Helm reads ranges.
pub(crate) fn range() -> Rule {
    Rule::new(format!("self.matches('{}')", range_pattern())).message(
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

/// For one exact version.
pub(crate) fn semver() -> Rule {
    let number = "(0|[1-9][0-9]*)";
    let identifier = format!("({number}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)");
    Rule::new(format!(
        "self.matches('^{number}[.]{number}[.]{number}(-{identifier}([.]{identifier})*)?([+][0-9A-Za-z.-]+)?$')"
    ))
    .message("a version has three numbers, as SemVer asks for: such as 1.21.2 or 2.0.0-rc.1, without a leading 'v'")
}

/// For a version of Kubernetes, with or without a patch and a vendor's suffix.
pub(crate) fn kubernetes_version() -> Rule {
    Rule::new("self.matches('^v?[0-9]+[.][0-9]+([.][0-9]+([-+][0-9A-Za-z.+-]+)?)?$')")
        .message("a Kubernetes version is expected, such as 1.36 or v1.36.3")
}

/// For the digest of some content.
pub(crate) fn digest() -> Rule {
    Rule::new(format!("self.matches('^{DIGEST}$')"))
        .message("a digest is 'sha256:' and 64 hexadecimal digits in lower case")
}

/// For an image that is pinned.
pub(crate) fn image() -> Rule {
    Rule::new(format!("self.matches('^[^@ ]+@{DIGEST}$')")).message(IMAGE)
}

/// For a list of images that are pinned.
pub(crate) fn images() -> Rule {
    Rule::new(format!("self.all(each, each.matches('^[^@ ]+@{DIGEST}$'))")).message(IMAGE)
}

const IMAGE: &str = "an image is named with its digest, such as quay.io/jetstack/cert-manager-controller@sha256:…";

/// For a file that comes with a definition.
pub(crate) fn file() -> Rule {
    Rule::new("!self.startsWith('/') && !self.matches('(^|/)[.][.](/|$)')").message(
        "a file is named by its path within the definition's own files: without a leading '/' and without '..'",
    )
}

/// For a file or directory of the hub.
pub(crate) fn absolute_path() -> Rule {
    Rule::new("self.startsWith('/') && !self.matches('(^|/)[.][.](/|$)')")
        .message("the path of a directory begins with '/' and has no '..'")
}

/// For hosts that may be reached.
pub(crate) fn hosts() -> Rule {
    Rule::new(format!("self.all(each, each.matches('^([*][.])?{LABEL}([.]{LABEL})*(:[0-9]{{1,5}})?$'))")).message(
        "a host is a name and perhaps a port, such as acme.example.com:443 or *.example.com: without 'https://'",
    )
}

/// For public keys.
pub(crate) fn ssh_keys() -> Rule {
    Rule::new("self.all(each, each.matches('^(ssh|ecdsa|sk)-.+ .+$'))")
        .message("an SSH key is a public key on one line, such as 'ssh-ed25519 AAAA… jane'")
}

/// For the time in which an upgrade may begin.
pub(crate) fn window() -> Rule {
    let day = "(Mon|Tue|Wed|Thu|Fri|Sat|Sun)";
    let time = "([01][0-9]|2[0-3]):[0-5][0-9]";
    Rule::new(format!("self.matches('^{day}([,-]{day})* {time}-{time} [A-Z][A-Za-z_]*(/[A-Za-z0-9_+-]+)*$')"))
        .message("a window has days, hours and a time zone, such as 'Sat 02:00-05:00 Europe/Amsterdam'")
}

/// For exactly one of several fields.
pub(crate) fn exactly_one(fields: &[&str], sentence: &str) -> Rule {
    let present: Vec<_> = fields.iter().map(|field| format!("has(self.{field})")).collect();
    Rule::new(format!("[{}].exists_one(present, present)", present.join(", "))).message(sentence)
}

/// For what is said once and never again.
pub(crate) fn fixed(sentence: &str) -> Rule {
    Rule::new("self == oldSelf").message(sentence)
}
