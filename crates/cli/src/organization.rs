//! The organization of a command.

use fitout_api::Organization;
use kube::api::ListParams;
use kube::{Api, Client, ResourceExt};

use crate::failure::{Failure, refused, unknown};
use crate::wait::wait_until_seen;

/// Finds the named organization, or the only one of the hub.
pub(crate) async fn find(client: &Client, requested: Option<&str>) -> Result<String, Failure> {
    let listed = Api::<Organization>::all(client.clone()).list(&ListParams::default()).await;
    match (listed, requested) {
        (Ok(found), requested) => {
            let names: Vec<_> = found.iter().map(ResourceExt::name_any).collect();
            choose(&names, requested)
        }
        // A user without the right to list organizations may still use their own.
        (Err(kube::Error::Api(status)), Some(requested)) if status.code == 403 => Ok(requested.to_owned()),
        (Err(kube::Error::Api(status)), None) if status.code == 403 => {
            Err(Failure::new("no organization is given, and you are not allowed to list organizations")
                .hint("name yours with --organization NAME or the environment variable FITOUT_ORGANIZATION"))
        }
        (Err(error), _) => Err(refused("list Organizations", &error)),
    }
}

/// Waits until the hub has created the namespace of a new organization.
pub(crate) async fn wait_for_namespace(client: &Client, name: &str) {
    let has_namespace = |found: &Organization| found.status.as_ref().is_some_and(|status| status.namespace.is_some());
    wait_until_seen(Api::all(client.clone()), name, "set up organization", has_namespace).await;
}

fn choose(names: &[String], requested: Option<&str>) -> Result<String, Failure> {
    match (requested, names) {
        (Some(requested), names) if names.iter().any(|name| name == requested) => Ok(requested.to_owned()),
        (Some(requested), names) => {
            let known = names.iter().map(String::as_str);
            Err(unknown("organization", requested, "the hub", known, "kubectl get organizations"))
        }
        (None, [only]) => Ok(only.clone()),
        (None, []) => Err(Failure::new("the hub has no organization yet").hint("create an Organization with kubectl")),
        (None, names) => Err(Failure::new(format!("the hub has more than one organization: {}", names.join(", ")))
            .hint("choose one with --organization NAME or the environment variable FITOUT_ORGANIZATION")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Paint;
    use insta::assert_snapshot;

    fn chosen(names: &[&str], requested: Option<&str>) -> String {
        let names: Vec<_> = names.iter().map(|&name| name.to_owned()).collect();
        choose(&names, requested).unwrap_or_else(|failure| failure.shown(Paint::new(false)))
    }

    #[test]
    fn only_organization_is_the_default() {
        assert_eq!(chosen(&["acme"], None), "acme");
        assert_eq!(chosen(&["acme", "umbrella"], Some("umbrella")), "umbrella");
    }

    #[test]
    fn several_organizations_require_a_choice() {
        assert_snapshot!(chosen(&["acme", "umbrella"], None), @r"
        error: the hub has more than one organization: acme, umbrella
        hint: choose one with --organization NAME or the environment variable FITOUT_ORGANIZATION
        ");
    }

    #[test]
    fn unknown_organization_is_refused() {
        assert_snapshot!(chosen(&["acme"], Some("acne")), @r"
        error: organization acne not found in the hub
        hint: did you mean acme?
        ");
    }
}
