//! Helm release records on a cluster: the Secrets of type `helm.sh/release.v1`.

use std::collections::BTreeMap;

use fitout_helm_release::{Release, from_secret, secret_name};
use fitout_model::{Gvk, ObjectId, ResourceVersion};
use http::HeaderValue;
use http::header::ACCEPT;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{DeleteParams, ListParams, ObjectMeta, PartialObjectMeta, PostParams};
use kube::core::{Request, request};
use kube::{Api, Resource};
use serde_json::Value;

use crate::{ClusterClient, ClusterError, ErrorCause};

/// The `Accept` header that requests an object's metadata only.
const METADATA: HeaderValue = HeaderValue::from_static("application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1");

/// A release record and the resource version of its Secret.
#[derive(Clone, Debug)]
pub struct Record {
    /// The decoded release.
    pub release: Release,
    /// The resource version of the Secret.
    pub version: ResourceVersion,
}

impl ClusterClient {
    /// Reads all records of a release, by revision.
    pub async fn records(&self, name: &str, namespace: &str) -> Result<BTreeMap<u32, Record>, ClusterError> {
        let secrets: Api<Secret> = Api::namespaced(self.client().clone(), namespace);
        let refused = |error: kube::Error| ClusterError::new(&secret_id(namespace, name), &error);
        let listed = secrets.list(&record_params(name)).await.map_err(refused)?;
        let read = listed.items.into_iter().filter_map(|secret| {
            let version = version(&secret.metadata);
            let release = from_secret(&serde_json::to_value(secret).ok()?).ok()?;
            Some((u32::try_from(release.revision).ok()?, Record { release, version }))
        });
        Ok(read.collect())
    }

    /// Reads the resource version of each record of a release, by revision.
    pub async fn record_versions(
        &self,
        name: &str,
        namespace: &str,
    ) -> Result<BTreeMap<u32, ResourceVersion>, ClusterError> {
        let secrets: Api<Secret> = Api::namespaced(self.client().clone(), namespace);
        let refused = |error: kube::Error| ClusterError::new(&secret_id(namespace, name), &error);
        let listed = secrets.list_metadata(&record_params(name)).await.map_err(refused)?;
        let revision = |metadata: &ObjectMeta| metadata.labels.as_ref()?.get("version")?.parse().ok();
        let versions = listed.items.iter().map(|secret| &secret.metadata);
        Ok(versions.filter_map(|metadata| Some((revision(metadata)?, version(metadata)))).collect())
    }

    /// Creates a record and returns its resource version.
    pub async fn create_record(&self, secret: &Value) -> Result<ResourceVersion, ClusterError> {
        let (requests, id, body) = record_request(secret);
        let created = self.send_for_version(requests.create(&PostParams::default(), body)).await;
        created.map_err(|error| ClusterError::new(&id, &error))
    }

    /// Replaces a record and returns its new resource version. Fails on a conflict if it no longer has the `known` one.
    pub async fn replace_record(
        &self,
        mut secret: Value,
        known: Option<ResourceVersion>,
    ) -> Result<ResourceVersion, ClusterError> {
        secret["metadata"]["resourceVersion"] = known.map(|version| version.to_string()).into();
        let (requests, id, body) = record_request(&secret);
        match self.send_for_version(requests.replace(&id.name, &PostParams::default(), body)).await {
            Err(kube::Error::Api(status)) if status.code == 409 => Err(ClusterError {
                object: id.to_string(),
                message: "another client has changed it".to_owned(),
                cause: ErrorCause::ChangedMeanwhile,
            }),
            replaced => replaced.map_err(|error| ClusterError::new(&id, &error)),
        }
    }

    /// Sends a write and returns the object's resource version. Asks for metadata only, because records are large.
    async fn send_for_version(
        &self,
        request: Result<http::Request<Vec<u8>>, request::Error>,
    ) -> kube::Result<ResourceVersion> {
        let mut request = request.map_err(kube::Error::BuildRequest)?;
        request.headers_mut().insert(ACCEPT, METADATA);
        let written: PartialObjectMeta<Secret> = self.client().request(request).await?;
        Ok(version(&written.metadata))
    }

    /// Deletes a record; one that does not exist is not an error.
    pub async fn remove_record(&self, name: &str, namespace: &str, revision: u32) -> Result<(), ClusterError> {
        let secrets: Api<Secret> = Api::namespaced(self.client().clone(), namespace);
        let name = secret_name(name, revision.into());
        match secrets.delete(&name, &DeleteParams::default()).await {
            Ok(_) => Ok(()),
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
            Err(error) => Err(ClusterError::new(&secret_id(namespace, &name), &error)),
        }
    }
}

/// The request builder, identity and body for a write of a record.
fn record_request(secret: &Value) -> (Request, ObjectId, Vec<u8>) {
    let text = |field: &str| secret["metadata"][field].as_str().unwrap_or_default();
    let id = secret_id(text("namespace"), text("name"));
    (Request::new(Secret::url_path(&(), Some(&id.namespace))), id, secret.to_string().into_bytes())
}

fn record_params(name: &str) -> ListParams {
    ListParams::default().labels(&format!("owner=helm,name={name}"))
}

fn version(metadata: &ObjectMeta) -> ResourceVersion {
    ResourceVersion::parse(metadata.resource_version.as_deref()).unwrap_or_default()
}

fn secret_id(namespace: &str, name: &str) -> ObjectId {
    ObjectId { gvk: Gvk::new("v1", "Secret"), namespace: namespace.to_owned(), name: name.to_owned() }
}
