//! The revisions of an instance: their results, and the target of a rollback.

use fitout_api::{Action, ExtensionRevision, Outcome};

use crate::failure::Failure;

/// The revision to roll back to: the requested one, or else the last successful one before the installed one.
pub(super) fn target(
    instance: &str,
    revisions: &[ExtensionRevision],
    installed: Option<u32>,
    requested: Option<u32>,
) -> Result<u32, Failure> {
    let hint = format!("`fitout history {instance}` shows the revisions");
    let Some(installed) = installed else {
        return Err(Failure::new(format!("instance {instance} has no revision yet: nothing is installed")).hint(hint));
    };
    let successful = |revision: &&ExtensionRevision| {
        let result = revision.status.as_ref().and_then(|status| status.result);
        revision.spec.action != Action::Uninstall && matches!(result, Some(Outcome::Succeeded | Outcome::Superseded))
    };
    match requested {
        Some(number) if revisions.iter().any(|revision| revision.spec.number == number) => Ok(number),
        Some(number) => Err(Failure::new(format!("instance {instance} has no revision {number}")).hint(hint)),
        None => {
            let before = revisions.iter().filter(successful).map(|revision| revision.spec.number);
            let before = before.filter(|number| *number < installed).max();
            let sentence = format!("instance {instance} has no revision before {installed} to go back to");
            before.ok_or_else(|| Failure::new(sentence).hint(hint))
        }
    }
}

/// The revisions of one instance, newest first, each with its result. The hub writes results late; until then they follow
/// from the installed revision.
pub(super) fn with_results(mut revisions: Vec<ExtensionRevision>, installed: Option<u32>) -> Vec<ExtensionRevision> {
    revisions.sort_by_key(|revision| std::cmp::Reverse(revision.spec.number));
    for revision in &mut revisions {
        let outcome = revision.outcome(installed);
        let result = &mut revision.status.get_or_insert_default().result;
        *result = result.filter(|result| *result == Outcome::Failed).or(Some(outcome));
    }
    revisions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::fixtures::revision;

    #[test]
    fn rollback_defaults_to_the_last_successful_revision() {
        let revisions = [
            revision(1, Action::Install, Outcome::Superseded),
            revision(2, Action::Upgrade, Outcome::Superseded),
            revision(3, Action::Upgrade, Outcome::Failed),
            revision(4, Action::Upgrade, Outcome::Succeeded),
        ];
        assert_eq!(target("x", &revisions, Some(4), None), Ok(2));
        assert_eq!(target("x", &revisions, Some(4), Some(1)), Ok(1));
    }

    #[test]
    fn results_follow_from_the_installed_revision() {
        let unreported =
            |number| ExtensionRevision { status: None, ..revision(number, Action::Upgrade, Outcome::Running) };
        let results: Vec<_> = with_results(vec![unreported(1), unreported(2), unreported(3)], Some(2))
            .iter()
            .map(|revision| (revision.spec.number, revision.status.as_ref().unwrap().result.unwrap()))
            .collect();
        assert_eq!(results, [(3, Outcome::Running), (2, Outcome::Succeeded), (1, Outcome::Superseded)]);
        let failed = revision(1, Action::Install, Outcome::Failed);
        assert_eq!(with_results(vec![failed.clone()], Some(2)), [failed]);
    }

    #[test]
    fn rollback_without_a_target_fails() {
        let revisions = [revision(1, Action::Install, Outcome::Succeeded)];
        let sentence = |installed, requested| target("x", &revisions, installed, requested).unwrap_err().sentence;
        assert_eq!(sentence(Some(1), None), "instance x has no revision before 1 to go back to");
        assert_eq!(sentence(Some(1), Some(7)), "instance x has no revision 7");
        assert_eq!(sentence(None, None), "instance x has no revision yet: nothing is installed");
    }
}
