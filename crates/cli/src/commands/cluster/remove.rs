//! `fitout cluster remove`.

use clap::Args;
use fitout_api::{Cluster, ExtensionInstance, FORGET};
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, Preconditions};
use serde_json::json;

use super::{find, secret_name};
use crate::Answer;
use crate::connection::Session;
use crate::failure::{Failure, refused};

#[derive(Args)]
pub(crate) struct Remove {
    /// The name of the cluster
    name: String,
    /// Remove the cluster with all its instances, because it is gone for good; repeat its name
    #[arg(long, value_name = "NAME")]
    forget: Option<String>,
    /// Show what would be deleted, and delete nothing
    #[arg(long)]
    dry_run: bool,
}

pub(crate) async fn run(session: &Session, remove: &Remove) -> Result<Answer, Failure> {
    let Remove { name, forget, dry_run } = remove;
    let dry_run = *dry_run;
    let cluster = find(session, name).await?;
    let params = ListParams::default().fields(&format!("spec.cluster={name}"));
    let instances = session.all(session.own::<ExtensionInstance>(), &params).await?;
    if let Some(forget) = forget.as_ref().filter(|forget| *forget != name) {
        return Err(Failure::new(format!("--forget names {forget}, but the cluster to remove is {name}"))
            .hint(format!("repeat its name: `fitout cluster remove {name} --forget {name}`")));
    }
    if !instances.is_empty() && forget.is_none() {
        let names: Vec<_> = instances.iter().map(ResourceExt::name_any).collect();
        return Err(Failure::new(format!("cluster {name} still has instances: {}", names.join(", ")))
            .hint(format!("uninstall them first, with `fitout uninstall {}`", names[0])));
    }
    let doing = format!("delete Cluster {}/{name}", session.namespace);
    if forget.is_some() {
        let patch = json!({ "metadata": { "annotations": { FORGET: name } } });
        let params = PatchParams { dry_run, ..PatchParams::default() };
        let patched = session.own::<Cluster>().patch(name, &params, &Patch::Merge(patch)).await;
        patched.map_err(|error| refused(&format!("annotate Cluster {}/{name}", session.namespace), &error))?;
    }
    let preconditions = Some(Preconditions { uid: cluster.uid(), resource_version: None });
    let params = DeleteParams { dry_run, preconditions, ..DeleteParams::default() };
    session.own::<Cluster>().delete(name, &params).await.map_err(|error| refused(&doing, &error))?;
    // Only the secret that `cluster add` created: any other may have other uses.
    let secret = secret_name(name);
    if cluster.spec.kubeconfig_secret == secret {
        let params = DeleteParams { dry_run, ..DeleteParams::default() };
        match session.own::<Secret>().delete(&secret, &params).await {
            Err(kube::Error::Api(status)) if status.code == 404 => {}
            Err(error) => return Err(refused(&format!("delete Secret {}/{secret}", session.namespace), &error)),
            Ok(_) => {}
        }
    }
    if dry_run {
        eprintln!("dry run: nothing was deleted");
        return Ok(session.output.object(&cluster, || format!("would {doing}\n"))?.into());
    }
    Ok(session.output.object(&cluster, || format!("removed cluster {name}\n"))?.into())
}
