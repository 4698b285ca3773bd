//! The connection to the hub: kubeconfig, organization, and reading objects by name.

use std::error::Error;
use std::fmt::Debug;

use fitout_api::Organization;
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::jiff::Timestamp;
use kube::api::{ListParams, PostParams};
use kube::config::KubeconfigError;
use kube::{Api, Client, Config, Resource, ResourceExt};
use serde::de::DeserializeOwned;

use crate::failure::{Failure, SET_KUBECONFIG, refused, root, unknown};
use crate::organization;
use crate::output::{Format, Paint};
use crate::tables::Layout;

/// The field manager of what this command writes.
pub(crate) const FIELD_MANAGER: &str = "fitout-cli";

/// The namespace of the objects that every organization shares.
pub(crate) const SHARED: &str = "fitout-system";

/// A connection to the hub on behalf of one organization, with the output options of the command.
pub(crate) struct Session {
    pub(crate) client: Client,
    pub(crate) organization: String,
    /// The organization's namespace on the hub.
    pub(crate) namespace: String,
    pub(crate) output: Format,
    pub(crate) paint: Paint,
    pub(crate) layout: Layout,
    pub(crate) now: Timestamp,
}

/// A kind whose objects are in the namespace of an organization.
pub(crate) trait OrganizationResource:
    Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned + Send + 'static
{
}

impl<K> OrganizationResource for K where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned + Send + 'static
{
}

/// The client configuration from the user's kubeconfig.
pub(crate) async fn config() -> Result<Config, Failure> {
    Config::infer().await.map_err(|error| {
        let place = match error.source().and_then(|source| source.downcast_ref()) {
            Some(KubeconfigError::ReadConfig(_, path)) => format!(" {}", path.display()),
            _ => String::new(),
        };
        Failure::new(format!("cannot read your kubeconfig{place}: {}", root(&error))).hint(SET_KUBECONFIG)
    })
}

/// A client of the hub.
pub(crate) async fn client() -> Result<Client, Failure> {
    Client::try_from(config().await?)
        .map_err(|error| Failure::new(format!("cannot use your kubeconfig: {}", root(&error))).hint(SET_KUBECONFIG))
}

impl Session {
    pub(crate) async fn open(
        organization: Option<&str>,
        output: Format,
        paint: Paint,
        layout: Layout,
    ) -> Result<Self, Failure> {
        let client = client().await?;
        let organization = organization::find(&client, organization).await?;
        let namespace = Organization::namespace_of(&organization);
        Ok(Self { client, organization, namespace, output, paint, layout, now: Timestamp::now() })
    }

    /// The organization's own objects of a kind.
    pub(crate) fn own<K: OrganizationResource>(&self) -> Api<K> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    /// The objects of a kind that every organization shares.
    pub(crate) fn shared<K: OrganizationResource>(&self) -> Api<K> {
        Api::namespaced(self.client.clone(), SHARED)
    }

    /// The objects of an API, sorted by name.
    pub(crate) async fn all<K: OrganizationResource>(
        &self,
        api: Api<K>,
        params: &ListParams,
    ) -> Result<Vec<K>, Failure> {
        let place = api.namespace().unwrap_or_default().to_owned();
        let list = api.list(params).await;
        let mut items = list.map_err(|error| refused(&format!("list {} of {place}", K::plural(&())), &error))?.items;
        items.sort_by_key(ResourceExt::name_any);
        Ok(items)
    }

    /// The organization's object with this name; the error suggests the nearest existing name.
    pub(crate) async fn named<K: OrganizationResource>(
        &self,
        what: &str,
        name: &str,
        list: &str,
    ) -> Result<K, Failure> {
        let found = self.own::<K>().get_opt(name).await;
        let doing = || format!("read {} {}/{name}", K::kind(&()), self.namespace);
        if let Some(object) = found.map_err(|error| refused(&doing(), &error))? {
            return Ok(object);
        }
        let names: Vec<_> = self.all(self.own::<K>(), &ListParams::default()).await?.iter().map(K::name_any).collect();
        let place = format!("organization {}", self.organization);
        Err(unknown(what, name, &place, names.iter().map(String::as_str), list))
    }

    /// The parameters of a write.
    pub(crate) fn writing(dry_run: bool) -> PostParams {
        PostParams { dry_run, field_manager: Some(FIELD_MANAGER.to_owned()) }
    }
}
