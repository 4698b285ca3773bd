//! Which revision to go back to.

use fitout_api::{Action, ExtensionRevision, Outcome};

use crate::failure::Failure;

/// The number of the revision that was asked for, if it is kept; else that of the last one before the installed one that
/// went well.
pub(crate) fn target(
    instance: &str,
    revisions: &[ExtensionRevision],
    installed: Option<u32>,
    asked: Option<u32>,
) -> Result<u32, Failure> {
    let hint = format!("`fitout history {instance}` shows the revisions");
    let Some(installed) = installed else {
        return Err(Failure::new(format!("instance {instance} has no revision yet: nothing is installed")).hint(hint));
    };
    let good = |revision: &&ExtensionRevision| {
        let result = revision.status.as_ref().and_then(|status| status.result);
        revision.spec.action != Action::Uninstall && matches!(result, Some(Outcome::Succeeded | Outcome::Superseded))
    };
    match asked {
        Some(asked) if revisions.iter().any(|revision| revision.spec.number == asked) => Ok(asked),
        Some(asked) => Err(Failure::new(format!("instance {instance} has no revision {asked}")).hint(hint)),
        None => {
            let before = revisions.iter().filter(good).map(|revision| revision.spec.number);
            let before = before.filter(|number| *number < installed).max();
            let sentence = format!("instance {instance} has no revision before {installed} to go back to");
            before.ok_or_else(|| Failure::new(sentence).hint(hint))
        }
    }
}

/// The revisions of one instance, the newest first, each with what came of it: the hub writes that on them when it has
/// nothing better to do, but it follows from which one is installed.
pub(crate) fn told(mut revisions: Vec<ExtensionRevision>, installed: Option<u32>) -> Vec<ExtensionRevision> {
    revisions.sort_by_key(|revision| std::cmp::Reverse(revision.spec.number));
    for revision in &mut revisions {
        let came = revision.outcome(installed);
        let result = &mut revision.status.get_or_insert_default().result;
        *result = result.filter(|said| *said == Outcome::Failed).or(Some(came));
    }
    revisions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::fixtures::revision;

    #[test]
    fn the_one_before_is_the_last_that_went_well() {
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
    fn what_came_of_each_follows_from_the_one_that_is_installed() {
        let untold = |number| ExtensionRevision { status: None, ..revision(number, Action::Upgrade, Outcome::Running) };
        let results: Vec<_> = told(vec![untold(1), untold(2), untold(3)], Some(2))
            .iter()
            .map(|revision| (revision.spec.number, revision.status.as_ref().unwrap().result.unwrap()))
            .collect();
        assert_eq!(results, [(3, Outcome::Running), (2, Outcome::Succeeded), (1, Outcome::Superseded)]);
        let failed = revision(1, Action::Install, Outcome::Failed);
        assert_eq!(told(vec![failed.clone()], Some(2)), [failed]);
    }

    #[test]
    fn there_has_to_be_one() {
        let revisions = [revision(1, Action::Install, Outcome::Succeeded)];
        let sentence = |installed, asked| target("x", &revisions, installed, asked).unwrap_err().sentence;
        assert_eq!(sentence(Some(1), None), "instance x has no revision before 1 to go back to");
        assert_eq!(sentence(Some(1), Some(7)), "instance x has no revision 7");
        assert_eq!(sentence(None, None), "instance x has no revision yet: nothing is installed");
    }
}
