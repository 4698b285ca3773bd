//! Why a workload does not become healthy, asked of the cluster.

use fitout_health::{LogOf, cause, log_wanted, suspects};
use fitout_model::ObjectId;
use futures::future::try_join_all;
use k8s_openapi::api::apps::v1::ReplicaSet;
use k8s_openapi::api::core::v1::{Event, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kube::Api;
use kube::api::{ListParams, LogParams};
use kube::core::{NamespaceResourceScope, Resource, Selector};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{ClusterClient, Refusal};

/// How many pods are looked at: one tells as much as a hundred that have the same trouble.
const MOST_PODS: usize = 3;
/// How much is asked for at once, of each list.
const MOST: u32 = 100;
/// How much of a log is asked for: lines, and bytes of them.
const LINES: i64 = 10;
const BYTES: i64 = 16 << 10;

impl ClusterClient {
    /// Why an object does not become what it was asked to be, in one sentence that names the pod and the container; none
    /// where nothing is known to be wrong. It is asked of the cluster as it is now, with a bounded number of calls.
    pub async fn cause(&self, id: &ObjectId) -> Result<Option<String>, Refusal> {
        let Some(object) = self.read(id).await? else { return Ok(None) };
        let asked = self.evidence(&id.namespace, &object).await;
        let (pods, events, log) = asked.map_err(|error| Refusal::new(id, &error))?;
        Ok(cause(&object, &pods, &events, log.as_deref()))
    }

    /// The pods that tell most, the events of all that has to do with the object, and the end of a log.
    async fn evidence(
        &self,
        namespace: &str,
        object: &Value,
    ) -> kube::Result<(Vec<Value>, Vec<Value>, Option<String>)> {
        let set = if object["kind"] == "Deployment" { self.newest_set(namespace, object).await? } else { None };
        let pods = match object["kind"].as_str() {
            Some("Pod") => vec![object.clone()],
            Some("Deployment") if set.is_none() => Vec::new(),
            _ => self.owned::<Pod>(namespace, object, set.as_ref().unwrap_or(object)).await?,
        };
        let pods: Vec<Value> = suspects(&pods).into_iter().take(MOST_PODS).cloned().collect();
        let about = [object].into_iter().chain(&set).chain(&pods);
        let events = try_join_all(about.map(|object| self.events(namespace, object))).await?.concat();
        let log = match log_wanted(&pods) {
            Some(wanted) => self.log(namespace, &wanted).await,
            None => None,
        };
        Ok((pods, events, log))
    }

    /// The replica set of a deployment's newest template.
    async fn newest_set(&self, namespace: &str, deployment: &Value) -> kube::Result<Option<Value>> {
        let revision = |set: &Value| {
            let text = set["metadata"]["annotations"]["deployment.kubernetes.io/revision"].as_str();
            text.and_then(|text| text.parse::<u64>().ok())
        };
        let sets = self.owned::<ReplicaSet>(namespace, deployment, deployment).await?;
        Ok(sets.into_iter().max_by_key(revision))
    }

    /// What an object selects and the owner owns: labels alone are anybody's.
    async fn owned<K>(&self, namespace: &str, object: &Value, owner: &Value) -> kube::Result<Vec<Value>>
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>
            + Clone
            + DeserializeOwned
            + serde::Serialize
            + std::fmt::Debug,
    {
        let selector = serde_json::from_value::<LabelSelector>(object["spec"]["selector"].clone());
        let Some(selector) = selector.ok().and_then(|selector| Selector::try_from(selector).ok()) else {
            return Ok(Vec::new());
        };
        let api: Api<K> = Api::namespaced(self.client().clone(), namespace);
        let found = api.list(&ListParams::default().labels_from(&selector).limit(MOST)).await?;
        let values = found.items.into_iter().filter_map(|item| serde_json::to_value(item).ok());
        let is_theirs = |item: &Value| {
            let mut owners = item["metadata"]["ownerReferences"].as_array().into_iter().flatten();
            owners.any(|reference| reference["uid"] == owner["metadata"]["uid"])
        };
        Ok(values.filter(is_theirs).collect())
    }

    async fn events(&self, namespace: &str, object: &Value) -> kube::Result<Vec<Value>> {
        let api: Api<Event> = Api::namespaced(self.client().clone(), namespace);
        let uid = object["metadata"]["uid"].as_str().unwrap_or_default();
        let params = ListParams::default().fields(&format!("involvedObject.uid={uid}")).limit(MOST);
        let found = api.list(&params).await?.items.into_iter();
        Ok(found.filter_map(|event| serde_json::to_value(event).ok()).collect())
    }

    /// The end of a log; none where the node no longer has it, or does not answer: the rest is worth telling all the same.
    async fn log(&self, namespace: &str, wanted: &LogOf) -> Option<String> {
        let api: Api<Pod> = Api::namespaced(self.client().clone(), namespace);
        let params = LogParams {
            container: Some(wanted.container.clone()),
            previous: wanted.previous,
            tail_lines: Some(LINES),
            limit_bytes: Some(BYTES),
            ..LogParams::default()
        };
        api.logs(&wanted.pod, &params).await.ok()
    }
}
