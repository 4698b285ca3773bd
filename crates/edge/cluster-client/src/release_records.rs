//! Release records on a cluster: Helm's Secrets.

use std::collections::BTreeMap;

use fitout_helm_release::{Release, from_secret, secret_name};
use fitout_model::{Gvk, ObjectId};
use fitout_plan::MANAGER;
use http::HeaderValue;
use http::header::ACCEPT;
use k8s_openapi::api::core::v1::{Namespace, Secret};
use kube::api::{DeleteParams, ListParams, ObjectMeta, PartialObjectMeta, PostParams};
use kube::core::{Request, request};
use kube::{Api, Resource};
use serde_json::Value;

use crate::{ClusterClient, Refusal};

/// Asks for no more of an object than its metadata.
const METADATA: HeaderValue = HeaderValue::from_static("application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1");

/// A release record, and the version of the Secret that it is in.
#[derive(Clone, Debug)]
pub struct Record {
    /// What it says.
    pub release: Release,
    /// The version.
    pub version: u64,
}

impl ClusterClient {
    /// All records of a release, by revision.
    pub async fn records(&self, name: &str, namespace: &str) -> Result<BTreeMap<u32, Record>, Refusal> {
        let secrets: Api<Secret> = Api::namespaced(self.client().clone(), namespace);
        let refused = |error: kube::Error| Refusal::new(&secret_id(namespace, name), &error);
        let listed = secrets.list(&of_release(name)).await.map_err(refused)?;
        let read = listed.items.into_iter().filter_map(|secret| {
            let version = version(&secret.metadata);
            let release = from_secret(&serde_json::to_value(secret).ok()?).ok()?;
            Some((u32::try_from(release.revision).ok()?, Record { release, version }))
        });
        Ok(read.collect())
    }

    /// The version of each record of a release.
    pub async fn record_versions(&self, name: &str, namespace: &str) -> Result<BTreeMap<u32, u64>, Refusal> {
        let secrets: Api<Secret> = Api::namespaced(self.client().clone(), namespace);
        let refused = |error: kube::Error| Refusal::new(&secret_id(namespace, name), &error);
        let listed = secrets.list_metadata(&of_release(name)).await.map_err(refused)?;
        let number = |metadata: &ObjectMeta| metadata.labels.as_ref()?.get("version")?.parse().ok();
        Ok(listed.items.iter().filter_map(|found| Some((number(&found.metadata)?, version(&found.metadata)))).collect())
    }

    /// Makes a new record, and says its version.
    pub async fn create_record(&self, secret: &Value) -> Result<u64, Refusal> {
        let (requests, id, content) = sent(secret);
        let made = self.versioned(requests.create(&PostParams::default(), content)).await;
        made.map_err(|error| Refusal::new(&id, &error))
    }

    /// Changes a record that has this version, and says which it has then. One that somebody else has changed is left.
    pub async fn replace_record(&self, mut secret: Value, known: Option<u64>) -> Result<u64, Refusal> {
        secret["metadata"]["resourceVersion"] = known.map(|version| version.to_string()).into();
        let (requests, id, content) = sent(&secret);
        match self.versioned(requests.replace(&id.name, &PostParams::default(), content)).await {
            Err(kube::Error::Api(status)) if status.code == 409 => Err(Refusal {
                object: id.to_string(),
                message: "somebody else has changed it".to_owned(),
                remedy: "it is looked at again",
                passing: true,
                invalid: false,
                unsure: true,
            }),
            made => made.map_err(|error| Refusal::new(&id, &error)),
        }
    }

    /// Sends a request, and says the version that the object has then. What it holds need not be sent back.
    async fn versioned(&self, request: Result<http::Request<Vec<u8>>, request::Error>) -> kube::Result<u64> {
        let mut request = request.map_err(kube::Error::BuildRequest)?;
        request.headers_mut().insert(ACCEPT, METADATA);
        let made: PartialObjectMeta<Secret> = self.client().request(request).await?;
        Ok(version(&made.metadata))
    }

    /// Removes a record.
    pub async fn remove_record(&self, name: &str, namespace: &str, revision: u32) -> Result<(), Refusal> {
        let secrets: Api<Secret> = Api::namespaced(self.client().clone(), namespace);
        let name = secret_name(name, revision.into());
        match secrets.delete(&name, &DeleteParams::default()).await {
            Ok(_) => Ok(()),
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
            Err(error) => Err(Refusal::new(&secret_id(namespace, &name), &error)),
        }
    }

    /// Whether there is a namespace of this name.
    pub async fn has_namespace(&self, name: &str) -> Result<bool, Refusal> {
        if let Some(known) = self.namespaces.has(name) {
            return Ok(known);
        }
        let namespaces: Api<Namespace> = Api::all(self.client().clone());
        let found = namespaces.get_metadata_opt(name).await;
        found.map(|found| found.is_some()).map_err(|error| Refusal::new(&namespace_id(name), &error))
    }

    /// Makes a namespace. One that is there already stays as it is.
    pub async fn make_namespace(&self, name: &str) -> Result<(), Refusal> {
        let namespaces: Api<Namespace> = Api::all(self.client().clone());
        let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
        let object = Namespace { metadata, ..Namespace::default() };
        let params = PostParams { field_manager: Some(MANAGER.to_owned()), ..PostParams::default() };
        match namespaces.create(&params, &object).await {
            Ok(_) => {}
            Err(kube::Error::Api(status)) if status.reason == "AlreadyExists" => {}
            Err(error) => return Err(Refusal::new(&namespace_id(name), &error)),
        }
        self.namespaces.add(name);
        Ok(())
    }
}

/// A record as it is sent, and where to.
fn sent(secret: &Value) -> (Request, ObjectId, Vec<u8>) {
    let text = |field: &str| secret["metadata"][field].as_str().unwrap_or_default();
    let id = secret_id(text("namespace"), text("name"));
    (Request::new(Secret::url_path(&(), Some(&id.namespace))), id, secret.to_string().into_bytes())
}

fn of_release(name: &str) -> ListParams {
    ListParams::default().labels(&format!("owner=helm,name={name}"))
}

fn version(metadata: &ObjectMeta) -> u64 {
    metadata.resource_version.as_ref().and_then(|version| version.parse().ok()).unwrap_or_default()
}

fn namespace_id(name: &str) -> ObjectId {
    ObjectId { gvk: Gvk::new("v1", "Namespace"), namespace: String::new(), name: name.to_owned() }
}

fn secret_id(namespace: &str, name: &str) -> ObjectId {
    ObjectId { gvk: Gvk::new("v1", "Secret"), namespace: namespace.to_owned(), name: name.to_owned() }
}
