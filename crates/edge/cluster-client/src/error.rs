//! Errors of calls to a cluster.

use fitout_model::ObjectId;
use kube::core::Status;

/// A call that the cluster did not carry out, or did not answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{object}: {message}; {}", .cause.remedy())]
pub struct ClusterError {
    /// The object, as KIND/NAMESPACE/NAME.
    pub object: String,
    /// The message of the API server.
    pub message: String,
    /// The cause.
    pub cause: ErrorCause,
}

/// Why a cluster did not carry out a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorCause {
    /// The cluster did not answer.
    NoAnswer,
    /// The namespace of the object is being deleted.
    NamespaceTerminating,
    /// The namespace of the object does not exist.
    NamespaceMissing,
    /// The cluster does not serve the kind.
    KindNotServed,
    /// RBAC or an admission policy forbids the call.
    Forbidden,
    /// Another field manager owns a field, and the call does not force.
    FieldConflict,
    /// An object of this name exists, or is being deleted.
    AlreadyExists,
    /// Another client has changed the object since it was read.
    ChangedMeanwhile,
    /// The kind has no such field.
    UnknownField,
    /// The object is malformed.
    BadRequest,
    /// Validation refuses the object, for example because an immutable field changes.
    Invalid,
    /// The object is too large.
    TooLarge,
    /// The server failed.
    ServerError,
    /// Any other answer, such as too many requests.
    Other,
}

impl ErrorCause {
    fn of(id: &ObjectId, status: &Status) -> Self {
        let causes = status.details.iter().flat_map(|details| &details.causes);
        if causes.into_iter().any(|cause| cause.reason == "NamespaceTerminating") {
            return Self::NamespaceTerminating;
        }
        // The server answers 500 without a reason code to a field that the kind does not have. A custom resource may get the
        // field a moment after its CRD has it.
        let no_such_field = status.message.starts_with("failed to create typed patch object");
        match status.code {
            _ if no_such_field && !id.gvk.group.contains('.') => Self::UnknownField,
            _ if status.reason == "AlreadyExists" => Self::AlreadyExists,
            400 => Self::BadRequest,
            403 => Self::Forbidden,
            404 if status.details.as_ref().is_some_and(|details| details.kind == "namespaces") => {
                Self::NamespaceMissing
            }
            404 => Self::KindNotServed,
            409 => Self::FieldConflict,
            413 => Self::TooLarge,
            422 => Self::Invalid,
            500.. => Self::ServerError,
            _ => Self::Other,
        }
    }

    /// The action that resolves it.
    fn remedy(self) -> &'static str {
        match self {
            Self::NamespaceTerminating => "the change continues when the namespace is deleted",
            Self::NamespaceMissing => "create that namespace, or have the extension bring it",
            Self::KindNotServed => "the cluster does not serve this kind",
            Self::Forbidden => "grant the hub this right on the cluster",
            Self::FieldConflict => "another client owns that field: remove it from one of the two",
            Self::UnknownField | Self::BadRequest | Self::Invalid => "change the definition or the values",
            Self::TooLarge => "make the object smaller",
            Self::ChangedMeanwhile => "it is read again",
            Self::NoAnswer | Self::AlreadyExists | Self::ServerError | Self::Other => "the hub retries by itself",
        }
    }

    /// Whether the same call may succeed later without a change by the user.
    pub fn is_retryable(self) -> bool {
        !matches!(
            self,
            Self::Forbidden
                | Self::FieldConflict
                | Self::UnknownField
                | Self::BadRequest
                | Self::Invalid
                | Self::TooLarge
        )
    }

    /// Whether it is certain that the call was not carried out, and that what is known of the object is current.
    pub fn is_outcome_known(self) -> bool {
        !matches!(self, Self::NoAnswer | Self::AlreadyExists | Self::ChangedMeanwhile | Self::ServerError)
    }
}

impl ClusterError {
    pub(crate) fn new(id: &ObjectId, error: &kube::Error) -> Self {
        let (message, cause) = match error {
            kube::Error::Api(status) => (status.message.clone(), ErrorCause::of(id, status)),
            _ => ("the cluster did not answer".to_owned(), ErrorCause::NoAnswer),
        };
        Self { object: id.to_string(), message, cause }
    }
}

#[cfg(test)]
mod tests {
    use fitout_model::Gvk;
    use serde_json::{Value, json};

    use super::*;

    fn error(api_version: &str, status: &Value) -> ClusterError {
        let id = ObjectId { gvk: Gvk::new(api_version, "Thing"), namespace: "shop".to_owned(), name: "web".to_owned() };
        let status: Status = serde_json::from_value(status.clone()).unwrap();
        ClusterError::new(&id, &kube::Error::Api(Box::new(status)))
    }

    #[test]
    fn missing_namespace_is_named_with_the_remedy() {
        let status = json!({ "code": 404, "reason": "NotFound", "message": "namespaces \"shop\" not found",
            "details": { "name": "shop", "kind": "namespaces" } });
        let sentence =
            "Thing/shop/web: namespaces \"shop\" not found; create that namespace, or have the extension bring it";
        assert_eq!(error("v1", &status).to_string(), sentence);
    }

    #[test]
    fn each_answer_has_its_cause() {
        let no_field = "failed to create typed patch object (a/b; v2): .spec.c: field not declared in schema";
        let terminating = json!({ "causes": [{ "reason": "NamespaceTerminating", "message": "m", "field": "f" }] });
        // API version, status, cause, whether a retry may help, whether the outcome is known.
        let rows = [
            ("v1", json!({ "code": 400 }), ErrorCause::BadRequest, false, true),
            ("v1", json!({ "code": 403, "reason": "Forbidden" }), ErrorCause::Forbidden, false, true),
            ("v1", json!({ "code": 403, "details": terminating }), ErrorCause::NamespaceTerminating, true, true),
            ("v1", json!({ "code": 404 }), ErrorCause::KindNotServed, true, true),
            ("v1", json!({ "code": 409, "reason": "Conflict" }), ErrorCause::FieldConflict, false, true),
            ("v1", json!({ "code": 409, "reason": "AlreadyExists" }), ErrorCause::AlreadyExists, true, false),
            ("v1", json!({ "code": 413 }), ErrorCause::TooLarge, false, true),
            ("v1", json!({ "code": 422, "reason": "Invalid" }), ErrorCause::Invalid, false, true),
            ("v1", json!({ "code": 429 }), ErrorCause::Other, true, true),
            ("v1", json!({ "code": 500 }), ErrorCause::ServerError, true, false),
            ("v1", json!({ "code": 504 }), ErrorCause::ServerError, true, false),
            ("autoscaling/v2", json!({ "code": 500, "message": no_field }), ErrorCause::UnknownField, false, true),
            ("example.com/v2", json!({ "code": 500, "message": no_field }), ErrorCause::ServerError, true, false),
        ];
        for (api_version, status, cause, retryable, known) in rows {
            let found = error(api_version, &status).cause;
            assert_eq!((found, found.is_retryable(), found.is_outcome_known()), (cause, retryable, known), "{status}");
        }
    }

    #[test]
    fn lost_connection_leaves_the_outcome_open() {
        let id = ObjectId { gvk: Gvk::new("v1", "ConfigMap"), namespace: "shop".to_owned(), name: "web".to_owned() };
        let error = ClusterError::new(&id, &kube::Error::LinesCodecMaxLineLengthExceeded);
        assert_eq!(error.to_string(), "ConfigMap/shop/web: the cluster did not answer; the hub retries by itself");
        assert!(error.cause.is_retryable() && !error.cause.is_outcome_known());
    }
}
