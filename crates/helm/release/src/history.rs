//! The rules of a release's history: which record counts, which is next, which has to go.
//!
//! All functions take the records of *one* release, in any order.

use crate::{Error, Release, Status};

/// What is being done to a release when a new revision is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Installed, perhaps where an uninstalled release left its records.
    Install,
    /// Replaced by a new revision.
    Upgrade,
    /// Brought back to what an earlier revision was.
    Rollback,
}

/// The last revision, whatever became of it.
pub fn last(history: &[Release]) -> Option<&Release> {
    history.iter().max_by_key(|release| release.revision)
}

/// The revision that the cluster has. Should several claim that, which happens when two people work at a time, it is
/// the latest of them.
pub fn deployed(history: &[Release]) -> Option<&Release> {
    history.iter().filter(|release| release.info.status == Status::Deployed).max_by_key(|release| release.revision)
}

/// The number of the revision to be written next.
pub fn next_revision(history: &[Release]) -> u64 {
    last(history).map_or(1, |release| release.revision.saturating_add(1))
}

/// The revisions whose records are removed, oldest first, so that there are at most `limit` once a new one is written.
/// A limit of 0 is none.
///
/// The deployed revision is never among them, so with a limit of 1 there are two until it is superseded.
pub fn surplus(history: &[Release], limit: usize) -> Vec<u64> {
    let Some(kept) = limit.checked_sub(1) else {
        return vec![];
    };
    let deployed = deployed(history).map(|release| release.revision);
    let too_many = history.len().saturating_sub(kept);
    sorted(history).into_iter().filter(|&revision| Some(revision) != deployed).take(too_many).collect()
}

/// The records that change because a new revision is deployed, as they are to be written: each is superseded by it.
///
/// They are all that claim to be deployed. Where none does, an upgrade supersedes the failed revision it started from,
/// and an install the uninstalled one whose records were kept. `by` is the new revision itself, which stays as it is.
pub fn superseded(history: &[Release], by: u64, operation: Operation) -> Vec<Release> {
    let former = || history.iter().filter(move |release| release.revision != by);
    let mut found: Vec<&Release> = former().filter(|release| release.info.status == Status::Deployed).collect();
    if found.is_empty() {
        let started_from = match operation {
            Operation::Install => Some(Status::Uninstalled),
            Operation::Upgrade => Some(Status::Failed),
            Operation::Rollback => None,
        };
        let last = former().filter(|release| release.revision < by).max_by_key(|release| release.revision);
        found.extend(last.filter(|release| Some(&release.info.status) == started_from.as_ref()));
    }
    found.sort_by_key(|release| release.revision);
    let supersede = |release: &Release| {
        let mut release = release.clone();
        release.info.status = Status::Superseded;
        release
    };
    found.into_iter().map(supersede).collect()
}

/// The revision that a rollback brings back: the one that is wanted, otherwise the one before the last, whatever its
/// status.
pub fn rollback_target(history: &[Release], wanted: Option<u64>) -> Result<&Release, Error> {
    let before_last = || last(history).map_or(0, |release| release.revision.saturating_sub(1));
    let revision = wanted.unwrap_or_else(before_last);
    let found = history.iter().find(|release| release.revision == revision);
    found.ok_or_else(|| Error::NoSuchRevision { revision, known: sorted(history) })
}

/// The latest revision that has been deployed at some time: what to go back to after a failed upgrade.
pub fn last_good(history: &[Release]) -> Option<&Release> {
    let good = |release: &&Release| matches!(release.info.status, Status::Deployed | Status::Superseded);
    history.iter().filter(good).max_by_key(|release| release.revision)
}

fn sorted(history: &[Release]) -> Vec<u64> {
    let mut revisions: Vec<_> = history.iter().map(|release| release.revision).collect();
    revisions.sort_unstable();
    revisions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Info;

    /// `3 deployed, 2 failed` as records.
    fn history(text: &str) -> Vec<Release> {
        let record = |part: &str| {
            let (revision, status) = part.trim().split_once(' ').unwrap();
            let info = Info { status: status.to_owned().into(), description: "as it was".into(), ..Info::default() };
            Release { name: "web".into(), revision: revision.parse().unwrap(), info, ..Release::default() }
        };
        text.split(',').filter(|part| !part.trim().is_empty()).map(record).collect()
    }

    fn text(releases: &[Release]) -> String {
        let part = |release: &Release| format!("{} {}", release.revision, release.info.status);
        releases.iter().map(part).collect::<Vec<_>>().join(", ")
    }

    fn revision(release: Option<&Release>) -> Option<u64> {
        release.map(|release| release.revision)
    }

    #[test]
    fn the_deployed_revision_is_the_latest_that_claims_it() {
        for (records, expected) in [
            ("", None),
            ("1 failed", None),
            ("1 deployed", Some(1)),
            ("2 failed, 1 deployed", Some(1)),
            ("2 deployed, 10 deployed, 1 superseded", Some(10)),
        ] {
            assert_eq!(revision(deployed(&history(records))), expected, "{records}");
        }
    }

    #[test]
    fn the_next_revision_follows_the_last_whatever_became_of_it() {
        for (records, expected) in
            [("", 1), ("1 deployed", 2), ("10 failed, 9 deployed", 11), ("3 uninstalled, 2 superseded", 4)]
        {
            assert_eq!(next_revision(&history(records)), expected, "{records}");
        }
    }

    #[test]
    fn the_oldest_go_until_there_is_room_for_one_more() {
        for (records, limit, expected) in [
            ("", 10, vec![]),
            ("1 superseded, 2 deployed", 0, vec![]),
            ("1 superseded, 2 deployed", 3, vec![]),
            ("1 superseded, 2 deployed", 2, vec![1]),
            ("3 deployed, 1 superseded, 2 superseded", 2, vec![1, 2]),
            ("10 deployed, 9 superseded, 2 failed", 3, vec![2]),
            ("1 failed, 2 failed, 3 failed", 2, vec![1, 2]),
            ("1 failed, 2 failed", 1, vec![1, 2]),
        ] {
            assert_eq!(surplus(&history(records), limit), expected, "{records} with {limit}");
        }
    }

    #[test]
    fn the_deployed_revision_is_never_removed() {
        for (records, limit, expected) in [
            ("1 deployed", 1, vec![]),
            ("1 deployed, 2 failed, 3 failed", 3, vec![2]),
            ("1 deployed, 2 failed, 3 failed", 2, vec![2, 3]),
            ("1 deployed, 2 failed, 3 failed", 1, vec![2, 3]),
            ("1 deployed, 2 deployed, 3 failed", 3, vec![1]),
        ] {
            assert_eq!(surplus(&history(records), limit), expected, "{records} with {limit}");
        }
    }

    #[test]
    fn a_new_revision_supersedes_the_former_one() {
        use Operation::{Install, Rollback, Upgrade};
        for (records, by, operation, expected) in [
            ("", 1, Install, ""),
            ("1 deployed, 2 deployed", 2, Upgrade, "1 superseded"),
            ("1 deployed, 2 pending-upgrade", 2, Upgrade, "1 superseded"),
            ("1 deployed, 2 failed, 3 pending-upgrade", 3, Upgrade, "1 superseded"),
            ("3 deployed, 1 deployed, 4 pending-upgrade", 4, Upgrade, "1 superseded, 3 superseded"),
            ("1 failed, 2 pending-upgrade", 2, Upgrade, "1 superseded"),
            ("1 superseded, 2 failed, 3 pending-rollback", 3, Rollback, ""),
            ("1 superseded, 2 deployed, 3 pending-rollback", 3, Rollback, "2 superseded"),
            ("1 uninstalled, 2 pending-install", 2, Install, "1 superseded"),
            ("1 failed, 2 pending-install", 2, Install, ""),
        ] {
            assert_eq!(text(&superseded(&history(records), by, operation)), expected, "{records} by {by}");
        }
    }

    #[test]
    fn a_superseded_record_is_otherwise_as_it_was() {
        let changed = superseded(&history("1 deployed"), 2, Operation::Upgrade);
        assert_eq!(changed[0].info.description, "as it was");
    }

    #[test]
    fn a_rollback_goes_to_the_revision_before_the_last_or_to_the_wanted_one() {
        let records = history("1 superseded, 2 failed, 3 deployed");
        assert_eq!(rollback_target(&records, None).unwrap().revision, 2);
        assert_eq!(rollback_target(&records, Some(1)).unwrap().revision, 1);
        assert_eq!(revision(last_good(&records)), Some(3));
        assert_eq!(revision(last_good(&history("1 superseded, 2 failed"))), Some(1));
    }

    #[test]
    fn a_rollback_to_nothing_says_what_there_is() {
        let said = |records: &str, wanted| rollback_target(&history(records), wanted).unwrap_err().to_string();
        assert_eq!(said("5 deployed, 4 failed", Some(2)), "there is no record of revision 2: choose one of 4, 5");
        assert_eq!(said("1 deployed", None), "there is no record of revision 0: choose one of 1");
        assert_eq!(said("", None), "there is no record of revision 0: the release has none");
    }
}
