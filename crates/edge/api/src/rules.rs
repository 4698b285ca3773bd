//! CEL validation rules of the CRDs, besides those that definitions share.

use fitout_model::rules::label_in;
pub(crate) use fitout_model::rules::{Rule, digest, exactly_one, file, fixed, label, range, semver};

/// Requires an object's name to be a DNS label, because other names are derived from it.
pub(crate) fn object_name(what: &str, longest: u8) -> kube::core::Rule {
    of_name(&label_in("self.metadata.name", what, longest))
}

/// Converts a rule into one that reports `metadata.name`, in the type that kube's derive expects.
pub(crate) fn of_name(rule: &Rule) -> kube::core::Rule {
    kube::core::Rule::new(&rule.rule).message(rule.message.as_str()).field_path(".metadata.name")
}

/// Requires a Kubernetes version, optionally with a patch number and a vendor's suffix.
pub(crate) fn kubernetes_version() -> Rule {
    Rule::new(
        "self.matches('^v?[0-9]+[.][0-9]+([.][0-9]+([-+][0-9A-Za-z.+-]+)?)?$')",
        "a Kubernetes version is expected, such as 1.36 or v1.36.3",
    )
}

/// Requires an absolute path without `..`.
pub(crate) fn absolute_path() -> Rule {
    Rule::new(
        "self.startsWith('/') && !self.matches('(^|/)[.][.](/|$)')",
        "the path of a directory begins with '/' and has no '..'",
    )
}

/// Requires public SSH keys.
pub(crate) fn ssh_keys() -> Rule {
    Rule::new(
        "self.all(each, each.matches('^(ssh|ecdsa|sk)-.+ .+$'))",
        "an SSH key is a public key on one line, such as 'ssh-ed25519 AAAA… jane'",
    )
}

/// Requires a maintenance window.
pub(crate) fn window() -> Rule {
    let day = "(Mon|Tue|Wed|Thu|Fri|Sat|Sun)";
    let time = "([01][0-9]|2[0-3]):[0-5][0-9]";
    Rule::new(
        format!("self.matches('^{day}([,-]{day})* {time}-{time} [A-Z][A-Za-z_]*(/[A-Za-z0-9_+-]+)*$')"),
        "a window has days, hours and a time zone, such as 'Sat 02:00-05:00 Europe/Amsterdam'",
    )
}

/// Refuses the labels that Helm sets on a release itself.
pub(crate) fn release_labels() -> Rule {
    Rule::new(
        "!('name' in self || 'owner' in self || 'status' in self || 'version' in self || 'createdAt' in self || \
         'modifiedAt' in self)",
        "the labels name, owner, status, version, createdAt and modifiedAt of a release are Helm's own: take others",
    )
}

/// Requires JSON pointers to fields outside the identity of an object.
pub(crate) fn pointers() -> Rule {
    Rule::new(
        "self.all(each, each.matches('^(/([^~/]|~[01])+)+$') && !each.matches('^/(apiVersion|kind|metadata/(name|namespace))$'))",
        "a field is a JSON pointer, such as '/spec/replicas' or '/webhooks/*/failurePolicy', and not what an object is known by",
    )
}
