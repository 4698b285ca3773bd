//! Decisions after a failed change: whether to give up, and which revision to restore.

use std::collections::BTreeMap;

use fitout_model::Digest;

use crate::{Action, Effect, FailurePolicy, Outcome, RecordStatus, Recorded};

/// The effect that gives up a change which failed for good: its release record says that it failed.
///
/// `None` where the policy retries without end, or where the change has written no record or has given up already.
pub fn give_up(policy: FailurePolicy, recorded: &Recorded, records: &BTreeMap<u32, RecordStatus>) -> Option<Effect> {
    let number = recorded.in_progress()?.number;
    let pending = records.get(&number).is_some_and(|&status| status != RecordStatus::Failed);
    (pending && policy != FailurePolicy::Retry).then_some(Effect::WriteRecord { number, status: RecordStatus::Failed })
}

/// A failed revision, and the revision that is restored in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Restore {
    /// The revision that failed.
    pub failed: u32,
    /// The revision to restore.
    pub revision: u32,
}

/// Chooses the revision to restore, where the desired artifact would come from inputs that have failed already.
pub fn restore(
    policy: FailurePolicy,
    inputs: &Digest,
    recorded: &Recorded,
    records: &BTreeMap<u32, RecordStatus>,
) -> Option<Restore> {
    if policy != FailurePolicy::Rollback {
        return None;
    }
    let newest_first = || recorded.revisions.iter().rev();
    let failed = newest_first().find(|revision| {
        revision.inputs.as_ref() == Some(inputs) && records.get(&revision.number) == Some(&RecordStatus::Failed)
    })?;
    let good = newest_first()
        .find(|revision| revision.outcome == Some(Outcome::Deployed) || revision.action == Action::Rollback)?;
    Some(Restore { failed: failed.number, revision: good.number })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Revision;

    fn revision(number: u32, action: Action, inputs: &str, outcome: Option<Outcome>) -> Revision {
        Revision {
            number,
            action,
            version: "1.0.0".to_owned(),
            definition: Digest::of(""),
            pack: None,
            inputs: Some(Digest::of(inputs)),
            artifact: Digest::of(inputs),
            inventory: vec![],
            hooks: vec![],
            outcome,
        }
    }

    /// Revision 1 is deployed and revision 2, of other inputs, is in progress.
    fn upgrading() -> Recorded {
        let revisions = vec![
            revision(1, Action::Install, "old", Some(Outcome::Deployed)),
            revision(2, Action::Upgrade, "new", None),
        ];
        Recorded { revisions, ..Recorded::default() }
    }

    fn records(second: RecordStatus) -> BTreeMap<u32, RecordStatus> {
        BTreeMap::from([(1, RecordStatus::Deployed), (2, second)])
    }

    #[test]
    fn give_up_marks_the_pending_record_as_failed() {
        let failed = Some(Effect::WriteRecord { number: 2, status: RecordStatus::Failed });
        let pending = records(RecordStatus::PendingUpgrade);
        assert_eq!(give_up(FailurePolicy::Rollback, &upgrading(), &pending), failed);
        assert_eq!(give_up(FailurePolicy::Stop, &upgrading(), &pending), failed);
    }

    #[test]
    fn give_up_leaves_a_retried_change_alone() {
        assert_eq!(give_up(FailurePolicy::Retry, &upgrading(), &records(RecordStatus::PendingUpgrade)), None);
    }

    #[test]
    fn give_up_happens_once() {
        assert_eq!(give_up(FailurePolicy::Stop, &upgrading(), &records(RecordStatus::Failed)), None);
    }

    #[test]
    fn give_up_needs_a_release_record() {
        assert_eq!(give_up(FailurePolicy::Stop, &upgrading(), &BTreeMap::from([(1, RecordStatus::Deployed)])), None);
    }

    #[test]
    fn give_up_never_touches_a_deployed_revision() {
        let mut recorded = upgrading();
        recorded.finish(2);
        assert_eq!(give_up(FailurePolicy::Stop, &recorded, &records(RecordStatus::PendingUpgrade)), None);
    }

    #[test]
    fn rollback_restores_the_deployed_revision() {
        let choice = restore(FailurePolicy::Rollback, &Digest::of("new"), &upgrading(), &records(RecordStatus::Failed));
        assert_eq!(choice, Some(Restore { failed: 2, revision: 1 }));
    }

    #[test]
    fn rollback_needs_its_policy() {
        for policy in [FailurePolicy::Retry, FailurePolicy::Stop] {
            assert_eq!(restore(policy, &Digest::of("new"), &upgrading(), &records(RecordStatus::Failed)), None);
        }
    }

    #[test]
    fn rollback_ends_when_the_inputs_change() {
        let other = Digest::of("corrected");
        assert_eq!(restore(FailurePolicy::Rollback, &other, &upgrading(), &records(RecordStatus::Failed)), None);
    }

    #[test]
    fn rollback_waits_for_the_failure() {
        let pending = records(RecordStatus::PendingUpgrade);
        assert_eq!(restore(FailurePolicy::Rollback, &Digest::of("new"), &upgrading(), &pending), None);
    }

    #[test]
    fn rollback_continues_a_rollback_in_progress() {
        let mut recorded = upgrading();
        recorded.revisions[0].outcome = Some(Outcome::Superseded);
        recorded.revisions.push(revision(3, Action::Rollback, "old", None));
        let choice = restore(FailurePolicy::Rollback, &Digest::of("new"), &recorded, &records(RecordStatus::Failed));
        assert_eq!(choice, Some(Restore { failed: 2, revision: 3 }));
    }

    #[test]
    fn rollback_of_a_failed_install_has_nothing_to_restore() {
        let revisions = vec![revision(1, Action::Install, "new", None)];
        let recorded = Recorded { revisions, ..Recorded::default() };
        let records = BTreeMap::from([(1, RecordStatus::Failed)]);
        assert_eq!(restore(FailurePolicy::Rollback, &Digest::of("new"), &recorded, &records), None);
    }
}
