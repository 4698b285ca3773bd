//! The error of a command: a sentence, a hint and an exit code.

use std::error::Error;
use std::fmt::Write;

use fitout_model::{Problem, nearest};
use kube::core::Status;

use crate::output::Paint;

/// The hint for a kubeconfig that is missing or of another cluster.
pub(crate) const SET_KUBECONFIG: &str = "set KUBECONFIG to a kubeconfig for the hub";

/// The hint for an object that this version does not understand.
pub(crate) const USE_HUB_VERSION: &str = "use the version of fitout that the hub runs";

/// The exit code of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    /// The command succeeded.
    Done = 0,
    /// The command failed.
    Failed = 1,
    /// The instance needs approval.
    NeedsApproval = 3,
    /// No version can be resolved.
    Unresolved = 4,
}

/// Why a command failed, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{sentence}")]
pub(crate) struct Failure {
    pub(crate) sentence: String,
    pub(crate) hint: Option<String>,
    pub(crate) code: Code,
}

impl Failure {
    pub(crate) fn new(sentence: impl Into<String>) -> Self {
        Self { sentence: sentence.into(), hint: None, code: Code::Failed }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    pub(crate) fn code(self, code: Code) -> Self {
        Self { code, ..self }
    }

    /// The error and its hint, as they are printed.
    pub(crate) fn shown(&self, paint: Paint) -> String {
        let mut text = format!("{} {}\n", paint.red("error:"), self.sentence);
        if let Some(hint) = &self.hint {
            let _ = writeln!(text, "{} {hint}", paint.cyan("hint:"));
        }
        text
    }
}

/// The error for a name that does not exist. It suggests the nearest of the `known` names, or the command that lists them.
pub(crate) fn unknown<'a>(
    what: &str,
    name: &str,
    place: &str,
    known: impl IntoIterator<Item = &'a str>,
    list: &str,
) -> Failure {
    let failure = Failure::new(format!("{what} {name} not found in {place}"));
    match nearest(name, known) {
        Some(near) => failure.hint(format!("did you mean {near}?")),
        None => failure.hint(format!("`{list}` shows the existing ones")),
    }
}

/// The failure that a problem in a document or a chart is.
pub(crate) fn problem(problem: Problem) -> Failure {
    let failure = Failure::new(format!("{}: {}", problem.field, problem.message));
    match problem.hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// The error for a failed call of the hub's API server; `doing` names the call, as in "list clusters of …".
pub(crate) fn refused(doing: &str, error: &kube::Error) -> Failure {
    match error {
        kube::Error::Api(status) => by_status(doing, status),
        kube::Error::SerdeError(error) => {
            Failure::new(format!("cannot {doing}: this version of fitout cannot decode the hub's answer: {error}"))
                .hint(USE_HUB_VERSION)
        }
        other => Failure::new(format!("cannot {doing}: the hub's API server does not answer: {}", root(other)))
            .hint(SET_KUBECONFIG),
    }
}

fn by_status(doing: &str, status: &Status) -> Failure {
    match status.code {
        401 => Failure::new(format!("cannot {doing}: the hub's API server rejects your credentials"))
            .hint("they may have expired; renew them in your kubeconfig"),
        403 if status.reason == "Forbidden" => Failure::new(format!("cannot {doing}: {}", status.message))
            .hint("ask an administrator of the organization for this right"),
        404 if !is_from_hub(status) && status.details.as_ref().is_none_or(|details| details.name.is_empty()) => {
            Failure::new(format!("cannot {doing}: the cluster of your kubeconfig does not serve fitout.dev/v1alpha1"))
                .hint("set KUBECONFIG to a kubeconfig for the hub, and install Fitout's CRDs on the hub")
        }
        409 if status.reason == "Conflict" => {
            Failure::new(format!("cannot {doing}: another client changed the object at the same time"))
                .hint("try again")
        }
        _ => Failure::new(format!("cannot {doing}: {}", causes(status))),
    }
}

/// Whether the hub itself answers, through the aggregated API, and not its API server.
pub(crate) fn is_from_hub(status: &Status) -> bool {
    status.details.as_ref().is_some_and(|details| details.group == "compute.fitout.dev")
}

/// The API server's complaint about each field, or its message if it names none.
fn causes(status: &Status) -> String {
    let causes = status.details.iter().flat_map(|details| &details.causes);
    let each: Vec<_> = causes
        .map(|cause| match cause.field.as_str() {
            "" | "<nil>" => cause.message.clone(),
            field => format!("{field}: {}", cause.message),
        })
        .collect();
    if each.is_empty() { status.message.clone() } else { each.join("; ") }
}

/// The innermost cause, which is the most specific one.
pub(crate) fn root(error: &dyn Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use insta::assert_snapshot;
    use serde_json::json;

    fn shown(status: serde_json::Value) -> String {
        let status: Status = serde_json::from_value(status).unwrap();
        refused("create ExtensionInstance org-acme/foo-podinfo", &kube::Error::Api(status.boxed()))
            .shown(Paint::new(false))
    }

    #[test]
    fn nearest_name_is_suggested() {
        let failure = unknown("cluster", "prdo", "organization acme", ["dev", "prod"], "fitout cluster list");
        assert_snapshot!(failure.shown(Paint::new(false)), @r"
        error: cluster prdo not found in organization acme
        hint: did you mean prod?
        ");
    }

    #[test]
    fn list_command_is_suggested_without_a_near_name() {
        let failure = unknown("cluster", "prod", "organization acme", ["mars"], "fitout cluster list");
        assert_snapshot!(failure.shown(Paint::new(false)), @r"
        error: cluster prod not found in organization acme
        hint: `fitout cluster list` shows the existing ones
        ");
    }

    #[test]
    fn invalid_field_is_named() {
        let cause = json!({ "reason": "FieldValueInvalid", "field": "spec.version",
            "message": "Invalid value: \"new\": a range of versions is expected" });
        let status = json!({ "code": 422, "reason": "Invalid", "message": "long", "details": { "name": "x", "causes": [cause] } });
        assert_snapshot!(shown(status), @r#"error: cannot create ExtensionInstance org-acme/foo-podinfo: spec.version: Invalid value: "new": a range of versions is expected"#);
    }

    #[test]
    fn cluster_without_crds_is_recognized() {
        let status =
            json!({ "code": 404, "reason": "NotFound", "message": "the server could not find the requested resource" });
        assert_snapshot!(shown(status), @r"
        error: cannot create ExtensionInstance org-acme/foo-podinfo: the cluster of your kubeconfig does not serve fitout.dev/v1alpha1
        hint: set KUBECONFIG to a kubeconfig for the hub, and install Fitout's CRDs on the hub
        ");
    }

    #[test]
    fn forbidden_keeps_the_message_of_the_api_server() {
        let status = json!({ "code": 403, "reason": "Forbidden", "message": "User \"jane\" cannot create it" });
        assert_snapshot!(shown(status), @r#"
        error: cannot create ExtensionInstance org-acme/foo-podinfo: User "jane" cannot create it
        hint: ask an administrator of the organization for this right
        "#);
    }
}
