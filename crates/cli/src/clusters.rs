//! Clusters: registering them, looking at them, letting them go.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::IsTerminal;

use fitout_api::{Cluster, ClusterSpec, ExtensionInstance, FORGET, KUBECONFIG_SECRET, conditions};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::ResourceExt;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, Preconditions};
use serde_json::{Value, json};

use crate::arguments::{self, AddCluster};
use crate::cluster_wait::connected;
use crate::connection::Session;
use crate::display::Display;
use crate::failure::{Failure, refused};
use crate::output::{Format, Paint, as_value, proposal};
use crate::wait::{Until, follow};
use crate::{Answer, kubeconfig, organizations, tables, views};

/// The key in that secret.
const SECRET_KEY: &str = "kubeconfig";

pub(crate) async fn run(session: &Session, command: arguments::Cluster) -> Result<Answer, Failure> {
    match command {
        arguments::Cluster::Add(arguments) => add(session, &arguments).await,
        arguments::Cluster::List => {
            let clusters = session.all(session.own::<Cluster>(), &ListParams::default()).await?;
            let words = || tables::clusters(&clusters, session.output == Format::Wide, session.now);
            let none = format!("organization {} has no cluster yet", session.organization);
            views::listed(session, &clusters, &none, words)
        }
        arguments::Cluster::Show { name } => {
            let cluster: Cluster = named(session, &name).await?;
            Ok(session.output.object(&cluster, || view(&cluster, session.paint))?.into())
        }
        arguments::Cluster::Remove { name, forget, dry_run } => {
            remove(session, &name, forget.as_deref(), dry_run).await
        }
    }
}

async fn named(session: &Session, name: &str) -> Result<Cluster, Failure> {
    session.named("cluster", name, "fitout cluster list").await
}

async fn add(session: &Session, arguments: &AddCluster) -> Result<Answer, Failure> {
    let AddCluster { name, dry_run, .. } = arguments;
    let namespace = &session.namespace;
    let kubeconfig = way_in(arguments)?;
    let params = Session::writing(*dry_run);
    let doing = format!("create Cluster {namespace}/{name}");
    // Whether the name is right and free is known before the secret is written.
    let cluster = registered(name, namespace);
    let mut answer = session.own().create(&Session::writing(true), &cluster).await;
    if matches!(&answer, Err(kube::Error::Api(status)) if status.code == 404 && status.message.starts_with("namespaces "))
    {
        organizations::until_made(&session.client, &session.organization).await;
        answer = session.own().create(&Session::writing(true), &cluster).await;
    }
    answer.map_err(|error| match &error {
        kube::Error::Api(status) if status.reason == "AlreadyExists" => {
            Failure::new(format!("there is already a cluster {name} in organization {}", session.organization))
                .hint("choose another name, or remove the other first")
        }
        _ => refused(&doing, &error),
    })?;
    let secret = secret(name, namespace, &kubeconfig);
    let creating = format!("create Secret {namespace}/{}", secret.name_any());
    let written = session.own().create(&params, &secret).await.map_err(|error| refused(&creating, &error))?;
    let created = match session.own().create(&params, &cluster).await {
        Ok(created) => created,
        Err(error) => {
            // Nothing is left behind: the secret is of no use alone.
            let _ = session.own::<Secret>().delete(&written.name_any(), &DeleteParams::default()).await;
            return Err(refused(&doing, &error));
        }
    };
    if *dry_run {
        eprintln!("dry run: nothing was written");
        let secret = session.output.value(&masked(proposal(&as_value(&written)?)));
        let cluster = session.output.value(&proposal(&as_value(&created)?));
        let between = if session.output == Format::Json { "" } else { "---\n" };
        return Ok(format!("{secret}{between}{cluster}").into());
    }
    if !arguments.waiting.wanted(std::io::stderr().is_terminal()) {
        let words = || format!("registered cluster {name}: the hub connects to it\n");
        return Ok(session.output.object(&created, words)?.into());
    }
    let limit = arguments.waiting.timeout;
    let seen = follow(session, created.clone(), Until::Ready, limit, &Display::for_people(name)).await?;
    let cluster = seen.unwrap_or(created);
    let said = connected(&cluster).map(|said| said.message.clone()).unwrap_or_default();
    Ok(session.output.object(&cluster, || format!("registered cluster {name}: {said}\n"))?.into())
}

/// What is handed to the hub of the kubeconfig that was named.
fn way_in(arguments: &AddCluster) -> Result<Value, Failure> {
    let path = &arguments.kubeconfig;
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::new(format!("cannot read the kubeconfig {shown}: {error}")))?;
    let whole = fitout_go_yaml::from_yaml_strict(&text)
        .map_err(|error| Failure::new(format!("the kubeconfig {shown} is not as it should be: {error}")))?;
    let beside = path.parent().unwrap_or(path);
    kubeconfig::reduced(&whole, arguments.context.as_deref(), |file| std::fs::read(beside.join(file)))
}

fn secret_name(cluster: &str) -> String {
    format!("{cluster}-kubeconfig")
}

fn secret(cluster: &str, namespace: &str, kubeconfig: &Value) -> Secret {
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

fn registered(name: &str, namespace: &str) -> Cluster {
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

/// A secret that may be shown.
fn masked(mut secret: Value) -> Value {
    for (_, content) in secret["data"].as_object_mut().into_iter().flatten() {
        *content = "(not shown)".into();
    }
    secret
}

async fn remove(session: &Session, name: &str, forget: Option<&str>, dry_run: bool) -> Result<Answer, Failure> {
    let cluster = named(session, name).await?;
    let params = ListParams::default().fields(&format!("spec.cluster={name}"));
    let instances = session.all(session.own::<ExtensionInstance>(), &params).await?;
    if let Some(said) = forget.filter(|said| *said != name) {
        return Err(Failure::new(format!("cluster {name} is to be removed, and {said} forgotten"))
            .hint(format!("`fitout cluster remove {name} --forget {name}` says the same name twice")));
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
    // Only the secret that `cluster add` made: another may have other uses.
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

fn view(cluster: &Cluster, paint: Paint) -> String {
    let status = cluster.status.clone().unwrap_or_default();
    let unknown = || "not known yet".to_owned();
    let nodes = status.nodes.map(|nodes| format!("{} of {} ready", nodes.ready, nodes.total));
    let capabilities = (!status.capabilities.is_empty()).then(|| status.capabilities.join(", "));
    let mut facts = vec![
        ("Version", status.version.unwrap_or_else(unknown)),
        ("Platform", status.platform.unwrap_or_else(unknown)),
        ("Nodes", nodes.unwrap_or_else(unknown)),
        ("Able to", capabilities.unwrap_or_else(unknown)),
        ("Kubeconfig", format!("secret {}", cluster.spec.kubeconfig_secret)),
    ];
    facts.extend(cluster.spec.planned_version.clone().map(|planned| ("Planned", planned)));
    if cluster.spec.rooted {
        facts.push(("Rooted", "its owner has accepted privileged workloads and workloads in kube-system".to_owned()));
    }
    if cluster.spec.airgapped {
        facts.push(("Airgapped", "images come from the hub's registry".to_owned()));
    }
    let mut text = format!("{}\n", paint.bold(&cluster.name_any()));
    for (label, content) in facts {
        let _ = writeln!(text, "  {label:<10} {content}");
    }
    for condition in &status.conditions {
        let good = conditions::is_true(std::slice::from_ref(condition), &condition.type_);
        let mark = if good { paint.green("✓") } else { paint.red("✗") };
        let _ = write!(text, "\n  {mark} {:<12} {}", condition.type_, condition.message);
    }
    if status.conditions.is_empty() { text + "\nThe hub has said nothing about it yet.\n" } else { text + "\n" }
}
