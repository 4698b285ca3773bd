//! Why a write was not done.

use fitout_model::ObjectId;

/// A write that the cluster did not do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{object}: {message}; {remedy}")]
pub struct Refusal {
    /// The object, as KIND/NAMESPACE/NAME.
    pub object: String,
    /// What the cluster said.
    pub message: String,
    /// What to do.
    pub remedy: &'static str,
    /// Whether it may go through by itself when it is tried again.
    pub passing: bool,
    /// The cluster finds the object itself wrong, as where a field changes that cannot.
    pub invalid: bool,
    /// It may have been done all the same, or what is known of the cluster is out of date: it has to be looked at again.
    pub unsure: bool,
}

impl Refusal {
    pub(crate) fn new(id: &ObjectId, error: &kube::Error) -> Self {
        let object = id.to_string();
        let kube::Error::Api(status) = error else {
            let message = "the cluster did not answer".to_owned();
            return Self { object, message, remedy: "it is tried again", passing: true, invalid: false, unsure: true };
        };
        let said = &status.message;
        let terminating = said.contains("being terminated") || said.contains("is being deleted");
        // Said of a field that the kind does not have. A custom resource may get it a moment after its definition has it.
        let unknown_field = said.starts_with("failed to create typed patch object") && !id.gvk.group.contains('.');
        let (remedy, passing) = match status.code {
            _ if terminating => ("it goes on when that has ended", true),
            403 => ("grant the hub this right on the cluster", false),
            404 if said.starts_with("namespaces ") => ("make that namespace, or have the extension bring it", true),
            404 => ("the cluster does not serve this kind", true),
            409 => ("somebody else owns that field: take it out of the one or the other", false),
            _ if unknown_field => ("change the definition or the values", false),
            422 | 400 => ("change the definition or the values", false),
            413 => ("make the object smaller", false),
            _ => ("it is tried again", true),
        };
        // A server that says that something went wrong with it does not say when.
        let unsure = (status.code >= 500 && !unknown_field) || status.reason == "AlreadyExists";
        Self { object, message: said.clone(), remedy, passing, invalid: status.code == 422, unsure }
    }
}

#[cfg(test)]
mod tests {
    use fitout_model::Gvk;
    use kube::core::Status;

    use super::*;

    #[test]
    fn a_namespace_that_nobody_makes_is_named_with_what_to_do() {
        let id = ObjectId { gvk: Gvk::new("v1", "ConfigMap"), namespace: "shop".to_owned(), name: "web".to_owned() };
        let status = Status::failure("namespaces \"shop\" not found", "NotFound").with_code(404);
        let refusal = Refusal::new(&id, &kube::Error::Api(Box::new(status)));
        let sentence =
            "ConfigMap/shop/web: namespaces \"shop\" not found; make that namespace, or have the extension bring it";
        assert_eq!(refusal.to_string(), sentence);
    }

    #[test]
    fn a_field_that_a_kind_does_not_have_is_not_tried_again_unless_its_definition_may_bring_it() {
        let said = "failed to create typed patch object (a/b; v2): .spec.c: field not declared in schema";
        let refusal = |api_version: &str| {
            let id = ObjectId { gvk: Gvk::new(api_version, "Thing"), namespace: "a".to_owned(), name: "b".to_owned() };
            let status = Status::failure(said, "InternalError").with_code(500);
            Refusal::new(&id, &kube::Error::Api(Box::new(status)))
        };
        let (ours, custom) = (refusal("autoscaling/v2"), refusal("example.com/v2"));
        assert_eq!((ours.passing, ours.unsure), (false, false));
        assert!(ours.to_string().ends_with("; change the definition or the values"), "{ours}");
        assert_eq!((custom.passing, custom.unsure), (true, true));
    }
}
