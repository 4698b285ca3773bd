//! The outcome of a wait, from the conditions of an instance.

use fitout_api::{ExtensionInstance, conditions, reasons};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::ResourceExt;

use crate::failure::{Code, Failure};

/// Whether a wait goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WaitOutcome {
    /// The hub works on the object, or will.
    Working,
    /// The object is ready.
    Ready,
    /// The object needs a user's action.
    Stalled(Failure),
}

/// The outcome for the current generation of an instance. Conditions of an earlier generation are ignored.
pub(crate) fn wait_outcome(instance: &ExtensionInstance) -> WaitOutcome {
    let current = current_conditions(instance);
    let name = instance.name_any();
    // A deletion needs neither a version nor an approval.
    let is_deleted = instance.metadata.deletion_timestamp.is_some();
    let failure = if is_deleted { stalled(&name, &current) } else { blocked(&name, &current) };
    if let Some(failure) = failure {
        return WaitOutcome::Stalled(failure);
    }
    if conditions::is_true(&current, conditions::READY) { WaitOutcome::Ready } else { WaitOutcome::Working }
}

/// The exit code of a command that shows an instance. A failure counts even if the hub retries.
pub(crate) fn exit_code(instance: &ExtensionInstance) -> Code {
    let current = current_conditions(instance);
    let is_failed =
        conditions::find(&current, conditions::READY).is_some_and(|ready| ready.reason == reasons::ready::FAILED);
    match wait_outcome(instance) {
        WaitOutcome::Stalled(failure) => failure.code,
        WaitOutcome::Working if is_failed => Code::Failed,
        WaitOutcome::Working | WaitOutcome::Ready => Code::Done,
    }
}

/// The conditions that are about the current generation.
fn current_conditions(instance: &ExtensionInstance) -> Vec<Condition> {
    let Some(status) = &instance.status else { return vec![] };
    let generation = instance.metadata.generation.unwrap_or_default();
    let is_current = |observed: Option<i64>| observed.is_none_or(|observed| observed >= generation);
    if status.observed_generation.is_none() || !is_current(status.observed_generation) {
        return vec![];
    }
    status.conditions.iter().filter(|condition| is_current(condition.observed_generation)).cloned().collect()
}

/// The failure of an instance that no version fits, that needs approval, or that is stalled.
fn blocked(name: &str, current: &[Condition]) -> Option<Failure> {
    let is_false = |type_| conditions::find(current, type_).filter(|condition| condition.status == "False");
    if let Some(condition) = is_false(conditions::RESOLVED) {
        // The hub continues by itself once the cluster is registered.
        if condition.reason != reasons::resolved::CLUSTER_UNKNOWN || conditions::is_true(current, conditions::STALLED) {
            let sentence = format!("no version of instance {name} can be resolved: {}", condition.message);
            return Some(Failure::new(sentence).hint(remedies(name)).code(Code::Unresolved));
        }
    }
    if let Some(condition) = is_false(conditions::APPROVED)
        && condition.reason == reasons::approved::NEEDS_APPROVAL
    {
        let sentence = format!("instance {name} needs approval: {}", condition.message);
        let hint = "a user with the right to approve it has to do so; the hub then continues";
        return Some(Failure::new(sentence).hint(hint).code(Code::NeedsApproval));
    }
    stalled(name, current).map(|failure| failure.hint(remedies(name)))
}

/// The commands that help with a stalled instance.
fn remedies(name: &str) -> String {
    format!("change it with `fitout upgrade {name}`, or remove it with `fitout uninstall {name}`")
}

fn stalled(name: &str, current: &[Condition]) -> Option<Failure> {
    let condition = conditions::find(current, conditions::STALLED).filter(|condition| condition.status == "True")?;
    Some(Failure::new(format!("instance {name} is stalled: {}", condition.message)))
}

/// The error for an instance that has not reached a state (`ready`, `gone` or `tested`) in time.
pub(crate) fn timeout_failure(instance: &ExtensionInstance, state: &str, waited: &str) -> Failure {
    let name = instance.name_any();
    let all = instance.status.as_ref().map_or(&[][..], |status| &status.conditions);
    let unresolved = conditions::find(all, conditions::RESOLVED).filter(|condition| condition.status == "False");
    let (code, condition) = match unresolved {
        Some(condition) => (Code::Unresolved, Some(condition)),
        None => (Code::Failed, conditions::find(all, conditions::READY)),
    };
    let why = condition.map_or("the hub has not reported a status yet", |condition| &condition.message);
    Failure::new(format!("instance {name} is not {state} after {waited}: {why}"))
        .hint(format!("the hub continues; follow it with `fitout status {name} --watch`"))
        .code(code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::fixtures;

    fn ended(instance: &ExtensionInstance) -> Option<Code> {
        match wait_outcome(instance) {
            WaitOutcome::Stalled(failure) => Some(failure.code),
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
    fn retried_failure_keeps_the_wait_and_fails_status() {
        assert_eq!((ended(&fixtures::failing()), exit_code(&fixtures::failing())), (None, Code::Failed));
        assert_eq!(exit_code(&fixtures::installing()), Code::Done);
        assert_eq!(exit_code(&fixtures::unresolved()), Code::Unresolved);
    }

    #[test]
    fn conditions_of_an_earlier_generation_are_ignored() {
        let mut changed = fixtures::ready();
        changed.metadata.generation = Some(2);
        assert_eq!(wait_outcome(&changed), WaitOutcome::Working);
        changed.status.as_mut().unwrap().observed_generation = Some(2);
        assert_eq!(wait_outcome(&changed), WaitOutcome::Working, "its conditions are of the previous generation");
    }

    #[test]
    fn deletion_needs_no_approval_and_can_stall() {
        for (mut deleted, expected) in
            [(fixtures::unapproved(), None), (fixtures::unresolved(), None), (fixtures::stalled(), Some(Code::Failed))]
        {
            deleted.metadata.deletion_timestamp = deleted.metadata.creation_timestamp.clone();
            assert_eq!(ended(&deleted), expected);
        }
    }

    #[test]
    fn unknown_cluster_is_waited_for() {
        let mut waiting = fixtures::unresolved();
        waiting.status.as_mut().unwrap().conditions[0].reason = reasons::resolved::CLUSTER_UNKNOWN.to_owned();
        assert_eq!(wait_outcome(&waiting), WaitOutcome::Working);
        assert_eq!(timeout_failure(&waiting, "ready", "10m").code, Code::Unresolved);
    }

    #[test]
    fn timeout_reports_the_last_condition() {
        let failure = timeout_failure(&fixtures::unhealthy(), "ready", "10m");
        assert_eq!((failure.code, failure.hint.is_some()), (Code::Failed, true));
        assert!(failure.sentence.starts_with("instance foo-cert-manager is not ready after 10m: "));
        assert!(
            timeout_failure(&fixtures::pending(), "gone", "1s").sentence.ends_with("has not reported a status yet")
        );
    }
}
