//! A cluster that was registered, until the hub has connected to it.

use fitout_api::{Cluster, conditions};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::ResourceExt;

use crate::failure::Failure;
use crate::wait::{Followed, Until};
use crate::wait_outcome::WaitOutcome;

impl Followed for Cluster {
    const WHAT: &'static str = "cluster";

    fn wait_outcome(&self) -> WaitOutcome {
        match connected(self) {
            Some(said) if said.status == "True" => WaitOutcome::Ready,
            Some(said) if said.status == "False" => {
                let name = self.name_any();
                let sentence = format!("the hub cannot connect to cluster {name}: {}", said.message);
                WaitOutcome::Stuck(Failure::new(sentence).hint(format!(
                    "it is registered, and the hub tries again by itself; `fitout cluster remove {name}` lets it go"
                )))
            }
            _ => WaitOutcome::Working,
        }
    }

    fn line(&self) -> String {
        connected(self).map_or("waiting for the hub to connect", |said| &said.message).to_owned()
    }

    fn out_of_time(&self, _: Until, waited: &str) -> Failure {
        let name = self.name_any();
        let why = connected(self).map_or("the hub has said nothing about it yet", |said| &said.message);
        Failure::new(format!("cluster {name} is not connected after {waited}: {why}"))
            .hint(format!("it is registered; once the hub runs, `fitout cluster show {name}` says more"))
    }
}

/// What the hub says of the connection.
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
    fn the_hub_decides_how_waiting_ends() {
        let silent = cluster("", "");
        assert_eq!(
            (silent.wait_outcome(), silent.line().as_str()),
            (WaitOutcome::Working, "waiting for the hub to connect")
        );
        assert_snapshot!(silent.out_of_time(Until::Ready, "10m").shown(Paint::new(false)), @r"
        error: cluster prod is not connected after 10m: the hub has said nothing about it yet
        hint: it is registered; once the hub runs, `fitout cluster show prod` says more
        ");
        assert_eq!(cluster("True", "Kubernetes v1.36.3").wait_outcome(), WaitOutcome::Ready);
        let WaitOutcome::Stuck(failure) = cluster("False", "it refuses the connection").wait_outcome() else {
            panic!()
        };
        assert_snapshot!(failure.shown(Paint::new(false)), @r"
        error: the hub cannot connect to cluster prod: it refuses the connection
        hint: it is registered, and the hub tries again by itself; `fitout cluster remove prod` lets it go
        ");
    }
}
