//! What an instance's conditions mean for somebody who waits.

use fitout_api::{ExtensionInstance, conditions, reasons};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::ResourceExt;

use crate::failure::{Code, Failure};

/// How far it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WaitOutcome {
    /// The hub is at work on it, or will be.
    Working,
    /// It is as it is wanted.
    Ready,
    /// It cannot go on without a person.
    Stuck(Failure),
}

/// What the hub says about what is wanted now. What it said about an earlier wish counts for nothing.
pub(crate) fn wait_outcome(instance: &ExtensionInstance) -> WaitOutcome {
    let said = fresh(instance);
    let name = instance.name_any();
    // What goes away needs no version and nobody's approval.
    let leaving = instance.metadata.deletion_timestamp.is_some();
    let stuck = if leaving { stalled(&name, &said) } else { stuck(&name, &said) };
    if let Some(failure) = stuck {
        return WaitOutcome::Stuck(failure);
    }
    if conditions::is_true(&said, conditions::READY) { WaitOutcome::Ready } else { WaitOutcome::Working }
}

/// How a command ends that only looks at an instance: what fails is told, also where the hub tries again by itself.
pub(crate) fn code(instance: &ExtensionInstance) -> Code {
    let said = fresh(instance);
    let failed = conditions::find(&said, conditions::READY).is_some_and(|ready| ready.reason == reasons::ready::FAILED);
    match wait_outcome(instance) {
        WaitOutcome::Stuck(failure) => failure.code,
        WaitOutcome::Working if failed => Code::Failed,
        WaitOutcome::Working | WaitOutcome::Ready => Code::Done,
    }
}

/// The conditions that are about what is wanted now.
fn fresh(instance: &ExtensionInstance) -> Vec<Condition> {
    let Some(status) = &instance.status else { return vec![] };
    let generation = instance.metadata.generation.unwrap_or_default();
    let is_fresh = |observed: Option<i64>| observed.is_none_or(|observed| observed >= generation);
    if status.observed_generation.is_none() || !is_fresh(status.observed_generation) {
        return vec![];
    }
    let said = status.conditions.iter().filter(|condition| is_fresh(condition.observed_generation));
    said.cloned().collect()
}

fn stuck(name: &str, said: &[Condition]) -> Option<Failure> {
    let is_false = |type_| conditions::find(said, type_).filter(|condition| condition.status == "False");
    if let Some(condition) = is_false(conditions::RESOLVED) {
        // An unknown cluster may become known without a person.
        if condition.reason != reasons::resolved::CLUSTER_UNKNOWN || conditions::is_true(said, conditions::STALLED) {
            let sentence = format!("no version of instance {name} can be chosen: {}", condition.message);
            return Some(Failure::new(sentence).hint(remedies(name)).code(Code::Unresolved));
        }
    }
    if let Some(condition) = is_false(conditions::APPROVED)
        && condition.reason == reasons::approved::NEEDS_APPROVAL
    {
        let sentence = format!("instance {name} needs approval: {}", condition.message);
        let hint = "somebody who may approve creates a Consent for it; it then goes on by itself";
        return Some(Failure::new(sentence).hint(hint).code(Code::NeedsApproval));
    }
    stalled(name, said).map(|failure| failure.hint(remedies(name)))
}

/// What can be done about an instance that is there and cannot go on.
fn remedies(name: &str) -> String {
    format!("`fitout upgrade {name}` changes it, `fitout uninstall {name}` takes it back")
}

fn stalled(name: &str, said: &[Condition]) -> Option<Failure> {
    let condition = conditions::find(said, conditions::STALLED).filter(|condition| condition.status == "True")?;
    Some(Failure::new(format!("instance {name} cannot go on: {}", condition.message)))
}

/// What to say when the time is over and it is not what was waited for: `ready` or `gone`.
pub(crate) fn out_of_time(instance: &ExtensionInstance, what: &str, waited: &str) -> Failure {
    let name = instance.name_any();
    let said = instance.status.as_ref().map_or(&[][..], |status| &status.conditions);
    let unresolved = conditions::find(said, conditions::RESOLVED).filter(|condition| condition.status == "False");
    let (code, condition) = match unresolved {
        Some(condition) => (Code::Unresolved, Some(condition)),
        None => (Code::Failed, conditions::find(said, conditions::READY)),
    };
    let why = condition.map_or("the hub has said nothing about it yet", |condition| &condition.message);
    Failure::new(format!("instance {name} is not {what} after {waited}: {why}"))
        .hint(format!("the hub goes on with it; `fitout status {name} --watch` shows how"))
        .code(code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::fixtures;

    fn ended(instance: &ExtensionInstance) -> Option<Code> {
        match wait_outcome(instance) {
            WaitOutcome::Stuck(failure) => Some(failure.code),
            WaitOutcome::Ready => Some(Code::Done),
            WaitOutcome::Working => None,
        }
    }

    #[test]
    fn conditions_become_exit_codes() {
        assert_eq!(ended(&fixtures::pending()), None);
        assert_eq!(ended(&fixtures::installing()), None);
        assert_eq!(ended(&fixtures::unhealthy()), None);
        assert_eq!(ended(&fixtures::ready()), Some(Code::Done));
        assert_eq!(ended(&fixtures::stalled()), Some(Code::Failed));
        assert_eq!(ended(&fixtures::unapproved()), Some(Code::NeedsApproval));
        assert_eq!(ended(&fixtures::unresolved()), Some(Code::Unresolved));
    }

    #[test]
    fn what_is_tried_again_is_waited_for_and_still_a_failure_to_who_only_looks() {
        assert_eq!((ended(&fixtures::failing()), code(&fixtures::failing())), (None, Code::Failed));
        assert_eq!(code(&fixtures::installing()), Code::Done);
        assert_eq!(code(&fixtures::unresolved()), Code::Unresolved);
    }

    #[test]
    fn what_was_said_of_an_earlier_wish_counts_for_nothing() {
        let mut changed = fixtures::ready();
        changed.metadata.generation = Some(2);
        assert_eq!(wait_outcome(&changed), WaitOutcome::Working);
        changed.status.as_mut().unwrap().observed_generation = Some(2);
        assert_eq!(wait_outcome(&changed), WaitOutcome::Working, "its conditions are of the generation before");
    }

    #[test]
    fn what_goes_away_needs_no_approval_and_can_still_be_stuck() {
        for (mut leaving, expected) in
            [(fixtures::unapproved(), None), (fixtures::unresolved(), None), (fixtures::stalled(), Some(Code::Failed))]
        {
            leaving.metadata.deletion_timestamp = leaving.metadata.creation_timestamp.clone();
            assert_eq!(ended(&leaving), expected);
        }
    }

    #[test]
    fn a_cluster_that_is_not_known_yet_is_waited_for() {
        let mut waiting = fixtures::unresolved();
        waiting.status.as_mut().unwrap().conditions[0].reason = reasons::resolved::CLUSTER_UNKNOWN.to_owned();
        assert_eq!(wait_outcome(&waiting), WaitOutcome::Working);
        assert_eq!(out_of_time(&waiting, "ready", "10m").code, Code::Unresolved);
    }

    #[test]
    fn when_time_is_over_the_last_word_of_the_hub_is_the_reason() {
        let failure = out_of_time(&fixtures::unhealthy(), "ready", "10m");
        assert_eq!((failure.code, failure.hint.is_some()), (Code::Failed, true));
        assert!(failure.sentence.starts_with("instance foo-cert-manager is not ready after 10m: "));
        assert!(out_of_time(&fixtures::pending(), "gone", "1s").sentence.ends_with("said nothing about it yet"));
    }
}
