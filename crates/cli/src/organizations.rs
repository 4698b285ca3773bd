//! Which organization a command is about.

use fitout_api::Organization;
use kube::api::ListParams;
use kube::{Api, Client, ResourceExt};

use crate::failure::{Failure, refused, unknown};
use crate::wait::until_seen;

/// The organization that was named, or the only one there is.
pub(crate) async fn find(client: &Client, wanted: Option<&str>) -> Result<String, Failure> {
    let listed = Api::<Organization>::all(client.clone()).list(&ListParams::default()).await;
    match (listed, wanted) {
        (Ok(found), wanted) => {
            let names: Vec<_> = found.iter().map(ResourceExt::name_any).collect();
            choose(&names, wanted)
        }
        // Who may not see the others may still work in one's own.
        (Err(kube::Error::Api(status)), Some(wanted)) if status.code == 403 => Ok(wanted.to_owned()),
        (Err(kube::Error::Api(status)), None) if status.code == 403 => {
            Err(Failure::new("you did not choose an organization, and you may not list those there are")
                .hint("choose yours with --organization NAME, or with FITOUT_ORGANIZATION in the environment"))
        }
        (Err(error), _) => Err(refused("list Organizations", &error)),
    }
}

/// Waits for the namespace of an organization that was made just now.
pub(crate) async fn until_made(client: &Client, name: &str) {
    let made = |of: &Organization| of.status.as_ref().is_some_and(|status| status.namespace.is_some());
    until_seen(Api::all(client.clone()), name, "make organization", made).await;
}

fn choose(names: &[String], wanted: Option<&str>) -> Result<String, Failure> {
    match (wanted, names) {
        (Some(wanted), names) if names.iter().any(|name| name == wanted) => Ok(wanted.to_owned()),
        (Some(wanted), names) => {
            let known = names.iter().map(String::as_str);
            Err(unknown("organization", wanted, "the hub", known, "kubectl get organizations"))
        }
        (None, [only]) => Ok(only.clone()),
        (None, []) => Err(Failure::new("the hub has no organization yet").hint("create an Organization, with kubectl")),
        (None, names) => Err(Failure::new(format!("the hub has more than one organization: {}", names.join(", ")))
            .hint("choose one with --organization NAME, or with FITOUT_ORGANIZATION in the environment")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Paint;
    use insta::assert_snapshot;

    fn chosen(names: &[&str], wanted: Option<&str>) -> String {
        let names: Vec<_> = names.iter().map(|&name| name.to_owned()).collect();
        choose(&names, wanted).unwrap_or_else(|failure| failure.shown(Paint::new(false)))
    }

    #[test]
    fn the_only_one_need_not_be_named() {
        assert_eq!(chosen(&["acme"], None), "acme");
        assert_eq!(chosen(&["acme", "umbrella"], Some("umbrella")), "umbrella");
    }

    #[test]
    fn of_several_one_has_to_be_chosen() {
        assert_snapshot!(chosen(&["acme", "umbrella"], None), @r"
        error: the hub has more than one organization: acme, umbrella
        hint: choose one with --organization NAME, or with FITOUT_ORGANIZATION in the environment
        ");
    }

    #[test]
    fn one_that_is_not_there_is_refused() {
        assert_snapshot!(chosen(&["acme"], Some("acne")), @r"
        error: there is no organization acne in the hub
        hint: did you mean acme?
        ");
    }
}
