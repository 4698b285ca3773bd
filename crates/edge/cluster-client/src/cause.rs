//! The cause why a workload is not healthy, from its pods, events and logs.

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

use crate::{ClusterClient, ClusterError};

/// The number of pods to examine: pods of one workload mostly fail for the same reason.
const MAX_PODS: usize = 3;
/// The limit of each list request.
const LIST_LIMIT: u32 = 100;
/// The lines and bytes to read from the end of a log.
const LOG_LINES: i64 = 10;
const LOG_BYTES: i64 = 16 << 10;

impl ClusterClient {
    /// Finds the cause why an object is not healthy, as a sentence that names the pod and the container; none where no
    /// cause is found. Reads the live state with a bounded number of requests.
    pub async fn cause(&self, id: &ObjectId) -> Result<Option<String>, ClusterError> {
        let Some(object) = self.read(id).await? else { return Ok(None) };
        let evidence = self.evidence(&id.namespace, &object).await;
        let (pods, events, log) = evidence.map_err(|error| ClusterError::new(id, &error))?;
        Ok(cause(&object, &pods, &events, log.as_deref()))
    }

    /// Collects the most suspect pods, the events of the object and of these, and the end of a log.
    async fn evidence(
        &self,
        namespace: &str,
        object: &Value,
    ) -> kube::Result<(Vec<Value>, Vec<Value>, Option<String>)> {
        let replica_set =
            if object["kind"] == "Deployment" { self.newest_replica_set(namespace, object).await? } else { None };
        let pods = match object["kind"].as_str() {
            Some("Pod") => vec![object.clone()],
            Some("Deployment") if replica_set.is_none() => Vec::new(),
            _ => self.owned::<Pod>(namespace, object, replica_set.as_ref().unwrap_or(object)).await?,
        };
        let pods: Vec<Value> = suspects(&pods).into_iter().take(MAX_PODS).cloned().collect();
        let involved = [object].into_iter().chain(&replica_set).chain(&pods);
        let events = try_join_all(involved.map(|object| self.events(namespace, object))).await?.concat();
        let log = match log_wanted(&pods) {
            Some(wanted) => self.log(namespace, &wanted).await,
            None => None,
        };
        Ok((pods, events, log))
    }

    /// Finds the `ReplicaSet` of a Deployment's newest pod template.
    async fn newest_replica_set(&self, namespace: &str, deployment: &Value) -> kube::Result<Option<Value>> {
        let revision = |set: &Value| {
            let text = set["metadata"]["annotations"]["deployment.kubernetes.io/revision"].as_str();
            text.and_then(|text| text.parse::<u64>().ok())
        };
        let sets = self.owned::<ReplicaSet>(namespace, deployment, deployment).await?;
        Ok(sets.into_iter().max_by_key(revision))
    }

    /// Lists the objects that match the selector of `object` and have an owner reference to `owner`: other objects may
    /// carry the same labels.
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
        let found = api.list(&ListParams::default().labels_from(&selector).limit(LIST_LIMIT)).await?;
        let values = found.items.into_iter().filter_map(|item| serde_json::to_value(item).ok());
        let is_owned = |item: &Value| {
            let mut owners = item["metadata"]["ownerReferences"].as_array().into_iter().flatten();
            owners.any(|reference| reference["uid"] == owner["metadata"]["uid"])
        };
        Ok(values.filter(is_owned).collect())
    }

    async fn events(&self, namespace: &str, object: &Value) -> kube::Result<Vec<Value>> {
        let api: Api<Event> = Api::namespaced(self.client().clone(), namespace);
        let uid = object["metadata"]["uid"].as_str().unwrap_or_default();
        let params = ListParams::default().fields(&format!("involvedObject.uid={uid}")).limit(LIST_LIMIT);
        let found = api.list(&params).await?.items.into_iter();
        Ok(found.filter_map(|event| serde_json::to_value(event).ok()).collect())
    }

    /// Reads the end of a log; none on any error, because the other evidence is of use without it.
    async fn log(&self, namespace: &str, wanted: &LogOf) -> Option<String> {
        let api: Api<Pod> = Api::namespaced(self.client().clone(), namespace);
        let params = LogParams {
            container: Some(wanted.container.clone()),
            previous: wanted.previous,
            tail_lines: Some(LOG_LINES),
            limit_bytes: Some(LOG_BYTES),
            ..LogParams::default()
        };
        api.logs(&wanted.pod, &params).await.ok()
    }
}
