//! Authorization of callers, by a `SubjectAccessReview` on the hub's API server.

use k8s_openapi::api::authorization::v1::{ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec};
use kube::api::PostParams;
use kube::{Api, Client};

use super::error::ApiError;
use super::front_proxy::Caller;

/// An action on an object of a namespace, or on all of them.
#[derive(Clone, Copy)]
pub(crate) struct Action<'a> {
    pub(crate) verb: &'a str,
    pub(crate) group: &'a str,
    pub(crate) resource: &'a str,
    pub(crate) namespace: &'a str,
    pub(crate) name: Option<&'a str>,
}

/// Whether the caller is allowed to do this.
pub(crate) async fn is_allowed(client: &Client, caller: &Caller, action: Action<'_>) -> Result<bool, ApiError> {
    let text = |text: &str| Some(text.to_owned());
    let review = SubjectAccessReview {
        spec: SubjectAccessReviewSpec {
            user: Some(caller.user.clone()),
            uid: caller.uid.clone(),
            groups: Some(caller.groups.clone()),
            extra: Some(caller.extra.clone()),
            resource_attributes: Some(ResourceAttributes {
                verb: text(action.verb),
                group: text(action.group),
                resource: text(action.resource),
                namespace: text(action.namespace),
                name: action.name.map(str::to_owned),
                ..ResourceAttributes::default()
            }),
            ..SubjectAccessReviewSpec::default()
        },
        ..SubjectAccessReview::default()
    };
    let review = Api::<SubjectAccessReview>::all(client.clone()).create(&PostParams::default(), &review).await;
    let review = review.map_err(|error| ApiError::internal(format!("create SubjectAccessReview: {error}")))?;
    Ok(review.status.is_some_and(|status| status.allowed))
}

/// Fails with the message of Kubernetes if the caller is not allowed to do this.
pub(crate) async fn require(client: &Client, caller: &Caller, action: Action<'_>) -> Result<(), ApiError> {
    if is_allowed(client, caller, action).await? {
        return Ok(());
    }
    let Action { verb, group, resource, namespace, name } = action;
    let name = name.map(|name| format!(" \"{name}\"")).unwrap_or_default();
    let Caller { user, .. } = caller;
    Err(ApiError::forbidden(format!(
        "{resource}.{group}{name} is forbidden: User \"{user}\" cannot {verb} resource \"{resource}\" in API group \
         \"{group}\" in the namespace \"{namespace}\""
    )))
}
