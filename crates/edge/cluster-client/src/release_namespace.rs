//! The namespace of a release on a cluster.

use std::collections::BTreeSet;
use std::time::Duration;

use fitout_model::{Gvk, ObjectId};
use fitout_plan::MANAGER;
use fitout_reconcile::namespace::{CREATED_FOR, NamespaceObject, NamespaceState};
use futures::future::try_join_all;
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::{DeleteParams, DynamicObject, ListParams, ObjectMeta, PostParams, Preconditions};
use kube::discovery::{ApiGroup, ApiResource, Discovery, Scope, verbs};
use kube::{Api, ResourceExt};
use tokio::time::timeout;

use crate::{ClusterClient, ClusterError};

/// How long listing all objects of a namespace may take. An aggregated API that hangs takes longer.
const LIST_TIMEOUT: Duration = Duration::from_secs(10);

impl ClusterClient {
    /// Whether a namespace of this name exists.
    pub async fn has_namespace(&self, name: &str) -> Result<bool, ClusterError> {
        if let Some(known) = self.namespaces.has(name) {
            return Ok(known);
        }
        let found = self.namespaces().get_metadata_opt(name).await;
        found.map(|found| found.is_some()).map_err(|error| ClusterError::new(&namespace_id(name), &error))
    }

    /// Creates a namespace for an instance; an existing one is left unchanged.
    pub async fn create_namespace(&self, name: &str, instance: &str) -> Result<(), ClusterError> {
        let annotations = Some([(CREATED_FOR.to_owned(), instance.to_owned())].into());
        let metadata = ObjectMeta { name: Some(name.to_owned()), annotations, ..ObjectMeta::default() };
        let object = Namespace { metadata, ..Namespace::default() };
        let params = PostParams { field_manager: Some(MANAGER.to_owned()), ..PostParams::default() };
        match self.namespaces().create(&params, &object).await {
            Ok(_) => {}
            Err(kube::Error::Api(status)) if status.reason == "AlreadyExists" => {}
            Err(error) => return Err(ClusterError::new(&namespace_id(name), &error)),
        }
        self.namespaces.add(name);
        Ok(())
    }

    /// Reads a namespace and, if the hub created it, the metadata of every object in it. One resource that cannot be listed
    /// makes the objects unknown, and is no error.
    pub async fn namespace_state(&self, name: &str) -> Result<NamespaceState, ClusterError> {
        let failed = |error: kube::Error| ClusterError::new(&namespace_id(name), &error);
        let Some(namespace) = self.namespaces().get_metadata_opt(name).await.map_err(failed)? else {
            return Ok(NamespaceState::default());
        };
        let exists = namespace.metadata.deletion_timestamp.is_none();
        let created_by_hub = namespace.annotations().contains_key(CREATED_FOR);
        let objects = if exists && created_by_hub {
            match timeout(LIST_TIMEOUT, self.objects_in(name)).await {
                Ok(listed) => listed.map_err(|error| error.to_string()),
                Err(_) => Err(format!("its objects are not listed within {} s", LIST_TIMEOUT.as_secs())),
            }
        } else {
            Ok(vec![])
        };
        if objects.is_err() {
            // Fails if the server does not answer at all: then the caller tries again.
            self.namespaces().get_metadata_opt(name).await.map_err(failed)?;
        }
        let uid = namespace.uid().unwrap_or_default();
        Ok(NamespaceState { exists, uid, created_by_hub, objects })
    }

    /// Deletes a namespace with this UID. One that is gone already is no error.
    pub async fn delete_namespace(&self, name: &str, uid: &str) -> Result<(), ClusterError> {
        let preconditions = Some(Preconditions { uid: Some(uid.to_owned()), resource_version: None });
        let params = DeleteParams { preconditions, ..DeleteParams::default() };
        match self.namespaces().delete(name, &params).await {
            Ok(_) => Ok(()),
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
            Err(error) => Err(ClusterError::new(&namespace_id(name), &error)),
        }
    }

    /// The objects in a namespace, of every kind that can be listed and deleted.
    async fn objects_in(&self, namespace: &str) -> kube::Result<Vec<NamespaceObject>> {
        let discovery = Discovery::new(self.client().clone()).run_aggregated().await?;
        // Each kind once, also those that the preferred version of their group does not have.
        let resources = discovery.groups().flat_map(ApiGroup::resources_by_stability);
        let namespaced: Vec<_> =
            resources.filter(|(_, capabilities)| capabilities.scope == Scope::Namespaced).collect();
        let kinds: BTreeSet<(&str, &str)> =
            namespaced.iter().map(|(resource, _)| (resource.group.as_str(), resource.kind.as_str())).collect();
        let deletable = namespaced.iter().filter(|(_, capabilities)| {
            capabilities.supports_operation(verbs::LIST) && capabilities.supports_operation(verbs::DELETE)
        });
        let lists = deletable.map(|(resource, _)| self.list_in(namespace, resource, &kinds));
        Ok(try_join_all(lists).await?.into_iter().flatten().collect())
    }

    /// Lists the objects of a resource, given the kinds that are namespaced.
    async fn list_in(
        &self,
        namespace: &str,
        resource: &ApiResource,
        namespaced: &BTreeSet<(&str, &str)>,
    ) -> kube::Result<Vec<NamespaceObject>> {
        let api: Api<DynamicObject> = Api::namespaced_with(self.client().clone(), namespace, resource);
        let found = match api.list_metadata(&ListParams::default()).await {
            Ok(found) => found.items,
            // A CRD was deleted since the discovery.
            Err(kube::Error::Api(status)) if status.code == 404 => vec![],
            Err(error) => return Err(error),
        };
        let gvk = Gvk::new(&resource.api_version, &resource.kind);
        // An owner without a namespace may outlive this one.
        let is_local = |owner: &OwnerReference| {
            let group = owner.api_version.split_once('/').map_or("", |(group, _)| group);
            namespaced.contains(&(group, owner.kind.as_str()))
        };
        let object = |metadata: &ObjectMeta| NamespaceObject {
            id: ObjectId {
                gvk: gvk.clone(),
                namespace: namespace.to_owned(),
                name: metadata.name.clone().unwrap_or_default(),
            },
            has_owner: metadata
                .owner_references
                .as_ref()
                .is_some_and(|owners| !owners.is_empty() && owners.iter().all(is_local)),
            is_terminating: metadata.deletion_timestamp.is_some(),
        };
        Ok(found.iter().map(|found| object(&found.metadata)).collect())
    }

    fn namespaces(&self) -> Api<Namespace> {
        Api::all(self.client().clone())
    }
}

fn namespace_id(name: &str) -> ObjectId {
    ObjectId { gvk: Gvk::new("v1", "Namespace"), namespace: String::new(), name: name.to_owned() }
}
