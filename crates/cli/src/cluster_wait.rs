//! Waiting until the hub has connected to a cluster.

use fitout_api::{Cluster, conditions};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::ResourceExt;

use crate::failure::Failure;
use crate::wait::{Until, WaitTarget};
use crate::wait_outcome::WaitOutcome;

impl WaitTarget for Cluster {
    const NOUN: &'static str = "cluster";

    fn wait_outcome(&self) -> WaitOutcome {
        match connected(self) {
            Some(condition) if condition.status == "True" => WaitOutcome::Ready,
            Some(condition) if condition.status == "False" => {
                let name = self.name_any();
                let sentence = format!("the hub cannot connect to cluster {name}: {}", condition.message);
                WaitOutcome::Stalled(Failure::new(sentence).hint(format!(
                    "the cluster stays registered and the hub retries; remove it with `fitout cluster remove {name}`"
                )))
            }
            _ => WaitOutcome::Working,
        }
    }

    fn line(&self) -> String {
        connected(self).map_or("waiting for the hub to connect", |condition| &condition.message).to_owned()
    }

    fn timeout_failure(&self, _: Until, waited: &str) -> Failure {
        let name = self.name_any();
        let why = connected(self).map_or("the hub has not reported a status yet", |condition| &condition.message);
        Failure::new(format!("cluster {name} is not connected after {waited}: {why}"))
            .hint(format!("the cluster is registered; check that the hub runs, then see `fitout cluster show {name}`"))
    }
}

/// The condition `Connected` of a cluster.
pub(crate) fn connected(cluster: &Cluster) -> Option<&Condition> {
    conditions::find(&cluster.status.as_ref()?.conditions, conditions::CONNECTED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Paint;
    use insta::assert_snapshot;
    use serde_json::json;

    fn cluster(status: &str, message: &str) -> Cluster {
        let condition = json!({
            "type": "Connected", "status": status, "reason": "Some", "message": message,
            "lastTransitionTime": "2030-01-02T03:05:00Z",
        });
        let conditions = if status.is_empty() { vec![] } else { vec![condition] };
        let object = json!({
            "apiVersion": "fitout.dev/v1alpha1", "kind": "Cluster", "metadata": { "name": "prod" },
            "spec": { "kubeconfigSecret": "x" }, "status": { "conditions": conditions },
        });
        serde_json::from_value(object).unwrap()
    }

    #[test]
    fn condition_connected_ends_the_wait() {
        let silent = cluster("", "");
        assert_eq!(
            (silent.wait_outcome(), silent.line().as_str()),
            (WaitOutcome::Working, "waiting for the hub to connect")
        );
        assert_snapshot!(silent.timeout_failure(Until::Ready, "10m").shown(Paint::new(false)), @r"
        error: cluster prod is not connected after 10m: the hub has not reported a status yet
        hint: the cluster is registered; check that the hub runs, then see `fitout cluster show prod`
        ");
        assert_eq!(cluster("True", "Kubernetes v1.36.3").wait_outcome(), WaitOutcome::Ready);
        let WaitOutcome::Stalled(failure) = cluster("False", "it refuses the connection").wait_outcome() else {
            panic!()
        };
        assert_snapshot!(failure.shown(Paint::new(false)), @r"
        error: the hub cannot connect to cluster prod: it refuses the connection
        hint: the cluster stays registered and the hub retries; remove it with `fitout cluster remove prod`
        ");
    }
}
