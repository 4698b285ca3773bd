//! What the API server checks of our objects: the rules that a definition has too, and those that only others have.

use fitout_model::rules::label_in;
pub(crate) use fitout_model::rules::{Rule, digest, exactly_one, fixed, label, range, semver};

/// For an object whose own name has to be a DNS label, because other names are made from it.
pub(crate) fn object_name(what: &str, longest: u8) -> kube::core::Rule {
    of_name(&label_in("self.metadata.name", what, longest))
}

/// For an object, when it is its name that is wrong: kube's derive wants such a rule in its own type.
pub(crate) fn of_name(rule: &Rule) -> kube::core::Rule {
    kube::core::Rule::new(&rule.rule).message(rule.message.as_str()).field_path(".metadata.name")
}

/// For a version of Kubernetes, with or without a patch and a vendor's suffix.
pub(crate) fn kubernetes_version() -> Rule {
    Rule::new(
        "self.matches('^v?[0-9]+[.][0-9]+([.][0-9]+([-+][0-9A-Za-z.+-]+)?)?$')",
        "a Kubernetes version is expected, such as 1.36 or v1.36.3",
    )
}

/// For a file or directory of the hub.
pub(crate) fn absolute_path() -> Rule {
    Rule::new(
        "self.startsWith('/') && !self.matches('(^|/)[.][.](/|$)')",
        "the path of a directory begins with '/' and has no '..'",
    )
}

/// For public keys.
pub(crate) fn ssh_keys() -> Rule {
    Rule::new(
        "self.all(each, each.matches('^(ssh|ecdsa|sk)-.+ .+$'))",
        "an SSH key is a public key on one line, such as 'ssh-ed25519 AAAA… jane'",
    )
}

/// For the time in which an upgrade may begin.
pub(crate) fn window() -> Rule {
    let day = "(Mon|Tue|Wed|Thu|Fri|Sat|Sun)";
    let time = "([01][0-9]|2[0-3]):[0-5][0-9]";
    Rule::new(
        format!("self.matches('^{day}([,-]{day})* {time}-{time} [A-Z][A-Za-z_]*(/[A-Za-z0-9_+-]+)*$')"),
        "a window has days, hours and a time zone, such as 'Sat 02:00-05:00 Europe/Amsterdam'",
    )
}

/// For the labels of a release.
pub(crate) fn release_labels() -> Rule {
    Rule::new(
        "!('name' in self || 'owner' in self || 'status' in self || 'version' in self || 'createdAt' in self || \
         'modifiedAt' in self)",
        "the labels name, owner, status, version, createdAt and modifiedAt of a release are Helm's own: take others",
    )
}

/// For fields of objects.
pub(crate) fn pointers() -> Rule {
    Rule::new(
        "self.all(each, each.matches('^(/([^~/]|~[01])+)+$') && !each.matches('^/(apiVersion|kind|metadata/(name|namespace))$'))",
        "a field is a JSON pointer, such as '/spec/replicas' or '/webhooks/*/failurePolicy', and not what an object is known by",
    )
}
