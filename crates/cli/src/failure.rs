//! How a command ends when it does not do what was asked, in a sentence.

use std::error::Error;
use std::fmt::Write;

use fitout_model::nearest;
use kube::core::Status;

use crate::output::Paint;

/// What the command's end tells a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    /// It is done.
    Done = 0,
    /// It failed.
    Failed = 1,
    /// A person has to approve what it needs.
    NeedsApproval = 3,
    /// No version can be chosen.
    Unresolved = 4,
}

/// Why something was not done, and what to do about it.
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

    /// As it is printed: the error, and the hint apart from it.
    pub(crate) fn shown(&self, paint: Paint) -> String {
        let mut text = format!("{} {}\n", paint.red("error:"), self.sentence);
        if let Some(hint) = &self.hint {
            let _ = writeln!(text, "{} {hint}", paint.cyan("hint:"));
        }
        text
    }
}

/// Somebody named something that is not there: `known` are the names that are.
pub(crate) fn unknown<'a>(
    what: &str,
    name: &str,
    place: &str,
    known: impl IntoIterator<Item = &'a str>,
    list: &str,
) -> Failure {
    let failure = Failure::new(format!("there is no {what} {name} in {place}"));
    match nearest(name, known) {
        Some(near) => failure.hint(format!("did you mean {near}?")),
        None => failure.hint(format!("`{list}` shows those there are")),
    }
}

/// The hub's API server did not do what it was asked: `doing` is what that was, as in "list clusters of …".
pub(crate) fn refused(doing: &str, error: &kube::Error) -> Failure {
    match error {
        kube::Error::Api(status) => by_status(doing, status),
        kube::Error::SerdeError(error) => {
            Failure::new(format!("cannot {doing}: the hub answers with something this fitout does not know: {error}"))
                .hint("use the fitout of the hub's version")
        }
        other => Failure::new(format!("cannot {doing}: the hub's API server does not answer: {}", root(other)))
            .hint("KUBECONFIG has to name a kubeconfig for the hub"),
    }
}

fn by_status(doing: &str, status: &Status) -> Failure {
    match status.code {
        401 => Failure::new(format!("cannot {doing}: the hub's API server does not accept who you are"))
            .hint("the credentials in your kubeconfig may have expired"),
        403 if status.reason == "Forbidden" => Failure::new(format!("cannot {doing}: {}", status.message))
            .hint("ask an administrator of the organization for this right"),
        404 if status.details.as_ref().is_none_or(|details| details.name.is_empty()) => {
            Failure::new(format!("cannot {doing}: the cluster of your kubeconfig does not serve fitout.dev/v1alpha1"))
                .hint("KUBECONFIG has to name a kubeconfig for the hub, and the hub has to have Fitout's CRDs")
        }
        409 if status.reason == "Conflict" => {
            Failure::new(format!("cannot {doing}: somebody else changes it at the same time")).hint("try again")
        }
        _ => Failure::new(format!("cannot {doing}: {}", causes(status))),
    }
}

/// What the API server holds against each field, or its message where it names none.
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

/// The innermost cause, which is the one that says something.
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
    fn a_name_that_is_nearly_right_is_offered() {
        let failure = unknown("cluster", "prdo", "organization acme", ["dev", "prod"], "fitout cluster list");
        assert_snapshot!(failure.shown(Paint::new(false)), @r"
        error: there is no cluster prdo in organization acme
        hint: did you mean prod?
        ");
    }

    #[test]
    fn where_nothing_is_like_it_the_list_is_offered() {
        let failure = unknown("cluster", "prod", "organization acme", ["mars"], "fitout cluster list");
        assert_snapshot!(failure.shown(Paint::new(false)), @r"
        error: there is no cluster prod in organization acme
        hint: `fitout cluster list` shows those there are
        ");
    }

    #[test]
    fn a_wrong_field_is_named_with_what_the_api_server_says_of_it() {
        let cause = json!({ "reason": "FieldValueInvalid", "field": "spec.version",
            "message": "Invalid value: \"new\": a range of versions is expected" });
        let status = json!({ "code": 422, "reason": "Invalid", "message": "long", "details": { "name": "x", "causes": [cause] } });
        assert_snapshot!(shown(status), @r#"error: cannot create ExtensionInstance org-acme/foo-podinfo: spec.version: Invalid value: "new": a range of versions is expected"#);
    }

    #[test]
    fn a_cluster_that_is_no_hub_is_told_from_an_object_that_is_not_there() {
        let status =
            json!({ "code": 404, "reason": "NotFound", "message": "the server could not find the requested resource" });
        assert_snapshot!(shown(status), @r"
        error: cannot create ExtensionInstance org-acme/foo-podinfo: the cluster of your kubeconfig does not serve fitout.dev/v1alpha1
        hint: KUBECONFIG has to name a kubeconfig for the hub, and the hub has to have Fitout's CRDs
        ");
    }

    #[test]
    fn a_missing_right_is_said_in_the_api_servers_words() {
        let status = json!({ "code": 403, "reason": "Forbidden", "message": "User \"jane\" cannot create it" });
        assert_snapshot!(shown(status), @r#"
        error: cannot create ExtensionInstance org-acme/foo-podinfo: User "jane" cannot create it
        hint: ask an administrator of the organization for this right
        "#);
    }
}
