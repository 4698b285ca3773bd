//! `fitout cluster add`.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::PathBuf;

use clap::Args;
use fitout_api::{Cluster, ClusterSpec, KUBECONFIG_SECRET};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::ResourceExt;
use kube::api::DeleteParams;
use serde_json::Value;

use super::{kubeconfig, secret_name};
use crate::Answer;
use crate::arguments::Waiting;
use crate::cluster_wait::connected;
use crate::connection::Session;
use crate::display::Display;
use crate::failure::{Failure, refused};
use crate::organization;
use crate::output::{Format, as_value, proposal};
use crate::wait::{Until, wait_for};

/// The key of the kubeconfig in its secret.
const SECRET_KEY: &str = "kubeconfig";

#[derive(Args)]
pub(crate) struct Add {
    /// The name of the cluster on the hub
    name: String,
    /// The kubeconfig with which the hub connects to the cluster
    #[arg(long, value_name = "FILE")]
    kubeconfig: PathBuf,
    /// The context of that kubeconfig [default: its current context]
    #[arg(long, value_name = "CONTEXT")]
    context: Option<String>,
    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    waiting: Waiting,
}

pub(crate) async fn run(session: &Session, add: &Add) -> Result<Answer, Failure> {
    let Add { name, dry_run, .. } = add;
    let namespace = &session.namespace;
    let kubeconfig = read_kubeconfig(add)?;
    let params = Session::writing(*dry_run);
    let doing = format!("create Cluster {namespace}/{name}");
    // A dry run first, so that no secret is written for a cluster whose name is invalid or taken.
    let cluster = new_cluster(name, namespace);
    let mut answer = session.own().create(&Session::writing(true), &cluster).await;
    if matches!(&answer, Err(kube::Error::Api(status)) if status.code == 404 && status.message.starts_with("namespaces "))
    {
        organization::wait_for_namespace(&session.client, &session.organization).await;
        answer = session.own().create(&Session::writing(true), &cluster).await;
    }
    answer.map_err(|error| match &error {
        kube::Error::Api(status) if status.reason == "AlreadyExists" => {
            Failure::new(format!("cluster {name} already exists in organization {}", session.organization))
                .hint("choose another name, or remove the existing cluster first")
        }
        _ => refused(&doing, &error),
    })?;
    let secret = new_secret(name, namespace, &kubeconfig);
    let creating = format!("create Secret {namespace}/{}", secret.name_any());
    let written = session.own().create(&params, &secret).await.map_err(|error| refused(&creating, &error))?;
    let created = match session.own().create(&params, &cluster).await {
        Ok(created) => created,
        Err(error) => {
            // The secret is of no use without its cluster.
            let _ = session.own::<Secret>().delete(&written.name_any(), &DeleteParams::default()).await;
            return Err(refused(&doing, &error));
        }
    };
    if *dry_run {
        eprintln!("dry run: nothing was written");
        let secret = session.output.value(&masked(proposal(&as_value(&written)?)));
        let cluster = session.output.value(&proposal(&as_value(&created)?));
        let separator = if session.output == Format::Json { "" } else { "---\n" };
        return Ok(format!("{secret}{separator}{cluster}").into());
    }
    if !add.waiting.is_on(std::io::stderr().is_terminal()) {
        let text = || format!("registered cluster {name}: the hub connects to it\n");
        return Ok(session.output.object(&created, text)?.into());
    }
    let timeout = add.waiting.timeout;
    let cluster = wait_for(session, created, Until::Ready, timeout, &Display::for_people(name)).await?;
    let message = connected(&cluster).map(|condition| condition.message.clone()).unwrap_or_default();
    Ok(session.output.object(&cluster, || format!("registered cluster {name}: {message}\n"))?.into())
}

/// Reads the kubeconfig of the command line, reduced to what the hub needs.
fn read_kubeconfig(add: &Add) -> Result<Value, Failure> {
    let path = &add.kubeconfig;
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::new(format!("cannot read the kubeconfig {shown}: {error}")))?;
    let whole = fitout_go_yaml::from_yaml_strict(&text)
        .map_err(|error| Failure::new(format!("cannot parse the kubeconfig {shown}: {error}")))?;
    let dir = path.parent().unwrap_or(path);
    kubeconfig::reduced(&whole, add.context.as_deref(), |file| std::fs::read(dir.join(file)))
}

fn new_secret(cluster: &str, namespace: &str, kubeconfig: &Value) -> Secret {
    let content = ByteString(fitout_go_yaml::to_yaml(kubeconfig).into_bytes());
    Secret {
        metadata: ObjectMeta {
            name: Some(secret_name(cluster)),
            namespace: Some(namespace.to_owned()),
            ..ObjectMeta::default()
        },
        type_: Some(KUBECONFIG_SECRET.to_owned()),
        data: Some(BTreeMap::from([(SECRET_KEY.to_owned(), content)])),
        ..Secret::default()
    }
}

fn new_cluster(name: &str, namespace: &str) -> Cluster {
    let spec = ClusterSpec {
        kubeconfig_secret: secret_name(name),
        rooted: false,
        airgapped: false,
        planned_version: None,
        users: vec![],
    };
    let mut cluster = Cluster::new(name, spec);
    cluster.metadata.namespace = Some(namespace.to_owned());
    cluster
}

/// A secret without its data, safe to print.
fn masked(mut secret: Value) -> Value {
    for (_, content) in secret["data"].as_object_mut().into_iter().flatten() {
        *content = "(not shown)".into();
    }
    secret
}
