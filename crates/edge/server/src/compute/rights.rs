//! What somebody may do, as the hub's API server says.

use k8s_openapi::api::authorization::v1::{ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec};
use kube::api::PostParams;
use kube::{Api, Client};

use super::caller::Caller;
use super::refusal::Refusal;

/// Something that somebody may or may not do to an object of a namespace, or to all of them.
#[derive(Clone, Copy)]
pub(crate) struct Right<'a> {
    pub(crate) verb: &'a str,
    pub(crate) group: &'a str,
    pub(crate) resource: &'a str,
    pub(crate) namespace: &'a str,
    pub(crate) name: Option<&'a str>,
}

/// Whether somebody has a right.
pub(crate) async fn has(client: &Client, caller: &Caller, right: Right<'_>) -> Result<bool, Refusal> {
    let text = |text: &str| Some(text.to_owned());
    let review = SubjectAccessReview {
        spec: SubjectAccessReviewSpec {
            user: Some(caller.user.clone()),
            uid: caller.uid.clone(),
            groups: Some(caller.groups.clone()),
            extra: Some(caller.extra.clone()),
            resource_attributes: Some(ResourceAttributes {
                verb: text(right.verb),
                group: text(right.group),
                resource: text(right.resource),
                namespace: text(right.namespace),
                name: right.name.map(str::to_owned),
                ..ResourceAttributes::default()
            }),
            ..SubjectAccessReviewSpec::default()
        },
        ..SubjectAccessReview::default()
    };
    let answer = Api::<SubjectAccessReview>::all(client.clone()).create(&PostParams::default(), &review).await;
    let answer = answer.map_err(|error| Refusal::internal(format!("the hub cannot ask what you may do: {error}")))?;
    Ok(answer.status.is_some_and(|status| status.allowed))
}

/// Refuses somebody who does not have a right, in Kubernetes' words.
pub(crate) async fn demand(client: &Client, caller: &Caller, right: Right<'_>) -> Result<(), Refusal> {
    if has(client, caller, right).await? {
        return Ok(());
    }
    let Right { verb, group, resource, namespace, name } = right;
    let name = name.map(|name| format!(" \"{name}\"")).unwrap_or_default();
    let Caller { user, .. } = caller;
    Err(Refusal::forbidden(format!(
        "{resource}.{group}{name} is forbidden: User \"{user}\" cannot {verb} resource \"{resource}\" in API group \
         \"{group}\" in the namespace \"{namespace}\""
    )))
}
