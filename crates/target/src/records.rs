//! Release records on a cluster: Helm's Secrets.

use std::collections::BTreeMap;

use fitout_model::{Gvk, ObjectId};
use fitout_plan::MANAGER;
use fitout_release::{Release, from_secret, secret_name};
use k8s_openapi::api::core::v1::{Namespace, Secret};
use kube::Api;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use crate::{Refusal, Target};

impl Target {
    /// The records of a release by revision.
    pub async fn records(&self, name: &str, namespace: &str) -> Result<BTreeMap<u32, Release>, Refusal> {
        let secrets: Api<Secret> = Api::namespaced(self.client().clone(), namespace);
        let params = ListParams::default().labels(&format!("owner=helm,name={name}"));
        let refused = |error: kube::Error| Refusal::new(&secret_id(namespace, name), &error);
        let listed = secrets.list(&params).await.map_err(refused)?;
        let values = listed.items.into_iter().filter_map(|secret| serde_json::to_value(secret).ok());
        let read = values.filter_map(|secret| from_secret(&secret).ok());
        Ok(read.filter_map(|release| Some((u32::try_from(release.revision).ok()?, release))).collect())
    }

    /// Writes the first record of a revision.
    pub async fn create_record(&self, secret: &Value) -> Result<(), Refusal> {
        let (secrets, id, object) = self.secret(secret)?;
        let created = secrets.create(&PostParams::default(), &object).await;
        created.map(drop).map_err(|error| Refusal::new(&id, &error))
    }

    /// Writes a record over the one of the same revision.
    pub async fn replace_record(&self, secret: &Value) -> Result<(), Refusal> {
        let (secrets, id, object) = self.secret(secret)?;
        let replaced = secrets.replace(&id.name, &PostParams::default(), &object).await;
        replaced.map(drop).map_err(|error| Refusal::new(&id, &error))
    }

    fn secret(&self, secret: &Value) -> Result<(Api<Secret>, ObjectId, Secret), Refusal> {
        let text = |field: &str| secret["metadata"][field].as_str().unwrap_or_default();
        let id = secret_id(text("namespace"), text("name"));
        let object = serde_json::from_value(secret.clone());
        let object = object.map_err(|error| Refusal::new(&id, &kube::Error::SerdeError(error)))?;
        Ok((Api::namespaced(self.client().clone(), &id.namespace), id, object))
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
        let namespaces: Api<Namespace> = Api::all(self.client().clone());
        let found = namespaces.get_metadata_opt(name).await;
        found.map(|found| found.is_some()).map_err(|error| Refusal::new(&namespace_id(name), &error))
    }

    /// Makes a namespace. One that is there already stays as it is.
    pub async fn make_namespace(&self, name: &str) -> Result<(), Refusal> {
        let namespaces: Api<Namespace> = Api::all(self.client().clone());
        let object = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } });
        let made = namespaces.patch(name, &PatchParams::apply(MANAGER), &Patch::Apply(&object)).await;
        made.map(drop).map_err(|error| Refusal::new(&namespace_id(name), &error))
    }
}

fn namespace_id(name: &str) -> ObjectId {
    ObjectId { gvk: Gvk::new("v1", "Namespace"), namespace: String::new(), name: name.to_owned() }
}

fn secret_id(namespace: &str, name: &str) -> ObjectId {
    ObjectId { gvk: Gvk::new("v1", "Secret"), namespace: namespace.to_owned(), name: name.to_owned() }
}
