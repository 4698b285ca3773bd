//! `fitout catalog add`.

use std::collections::BTreeMap;
use std::io::IsTerminal;

use clap::{ArgGroup, Args};
use fitout_api::{
    ArchiveSource, BUILTIN, Catalog, CatalogFilter, CatalogSource, CatalogSpec, DirectorySource, GitSource,
    HelmRepositorySource, REPOSITORY_SECRET, Scope,
};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{Api, ResourceExt};

use super::wait::wait_until;
use super::{is_read, namespace_of, result};
use crate::Answer;
use crate::arguments::Waiting;
use crate::commands::instance::install::CatalogScope;
use crate::connection::Session;
use crate::failure::{Failure, refused};
use crate::output::{as_value, proposal};
use crate::registry_access;

#[derive(Args)]
pub(crate) struct Add {
    /// The name of the catalog
    name: String,
    #[command(flatten)]
    source: SourceArgs,
    /// Whom it serves: the organization, or every organization
    #[arg(long, value_enum, default_value = "organization")]
    scope: CatalogScope,
    /// The name shown to users
    #[arg(long, value_name = "TEXT")]
    display_name: Option<String>,
    /// Of two catalogs with the same extension, the one with the higher priority is listed first
    #[arg(long, value_name = "N", default_value_t = 0, allow_hyphen_values = true)]
    priority: i32,
    /// Offer these extensions only; `*` stands for any characters; may be given more than once
    #[arg(long, value_name = "NAME[@RANGE]", value_parser = parse_filter)]
    include: Vec<CatalogFilter>,
    /// Leave these extensions out; may be given more than once
    #[arg(long, value_name = "NAME[@RANGE]", value_parser = parse_filter)]
    exclude: Vec<CatalogFilter>,
    /// The seconds between two reads [default: 600]
    #[arg(long, value_name = "SECONDS")]
    interval: Option<u32>,
    /// The user for the source; the password is read from the standard input
    #[arg(long, value_name = "NAME", requires = "password_stdin")]
    username: Option<String>,
    /// Read the password from the standard input
    #[arg(long, requires = "username")]
    password_stdin: bool,
    /// Mark its extensions as the platform's own
    #[arg(long)]
    builtin: bool,
    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    waiting: Waiting,
}

#[derive(Args)]
#[group(skip)]
#[command(group(ArgGroup::new("source").required(true).args(["helm", "archive", "git", "directory", "embedded"])))]
struct SourceArgs {
    /// A repository of Helm charts: `https://…`, or `oci://HOST/PATH`
    #[arg(long, value_name = "URL")]
    helm: Option<String>,
    /// An archive of definitions: `https://…`, or `oci://HOST/PATH:TAG`
    #[arg(long, value_name = "URL")]
    archive: Option<String>,
    /// A git repository: `https://…` or `ssh://…`
    #[arg(long, value_name = "URL")]
    git: Option<String>,
    /// A directory on the hub's file system
    #[arg(long, value_name = "PATH")]
    directory: Option<String>,
    /// A catalog that is built into Fitout
    #[arg(long, value_name = "NAME")]
    embedded: Option<String>,
    /// A chart below an `oci://` address; may be given more than once
    #[arg(long, value_name = "NAME", requires = "helm")]
    chart: Vec<String>,
    /// The folder in the git repository
    #[arg(long, value_name = "PATH", requires = "git")]
    path: Option<String>,
    /// The branch of the git repository
    #[arg(long, requires = "git", conflicts_with_all = ["tag", "commit"])]
    branch: Option<String>,
    /// The tag of the git repository
    #[arg(long, requires = "git", conflicts_with = "commit")]
    tag: Option<String>,
    /// The commit of the git repository
    #[arg(long, requires = "git")]
    commit: Option<String>,
}

/// Parses `NAME` or `NAME@RANGE`.
fn parse_filter(text: &str) -> Result<CatalogFilter, String> {
    let (name, version) = text.split_once('@').map_or((text, None), |(name, version)| (name, Some(version)));
    if name.is_empty() {
        return Err("expected NAME or NAME@RANGE, such as cert-* or web@>=1.2".to_owned());
    }
    Ok(CatalogFilter { name: Some(name.to_owned()), version: version.map(str::to_owned) })
}

pub(crate) async fn run(session: &Session, add: &Add) -> Result<Answer, Failure> {
    let (name, scope) = (&add.name, Scope::from(add.scope));
    let namespace = namespace_of(session, scope);
    let source = source(&add.source);
    let secret = secret(add, &namespace, &source)?;
    let catalog = catalog(add, &namespace, source);
    let api: Api<Catalog> = Api::namespaced(session.client.clone(), &namespace);
    let doing = format!("create Catalog {namespace}/{name}");
    let failed = |error: kube::Error| match &error {
        kube::Error::Api(status) if status.reason == "AlreadyExists" => {
            Failure::new(format!("catalog {name} already exists")).hint("choose another name, or remove it first")
        }
        kube::Error::Api(status) if status.code == 403 && scope == Scope::Shared => {
            refused(&doing, &error).hint("only the platform team adds shared catalogs; leave --scope out")
        }
        _ => refused(&doing, &error),
    };
    // A dry run first, so that no Secret is written for a catalog that is refused.
    let proposed = api.create(&Session::writing(true), &catalog).await.map_err(failed)?;
    if add.dry_run {
        eprintln!("dry run: nothing was written");
        return Ok(session.output.value(&proposal(&as_value(&proposed)?)).into());
    }
    if let Some(secret) = secret {
        let secrets: Api<Secret> = Api::namespaced(session.client.clone(), &namespace);
        let creating = format!("create Secret {namespace}/{}", secret.name_any());
        secrets.create(&Session::writing(false), &secret).await.map_err(|error| refused(&creating, &error))?;
    }
    let created = api.create(&Session::writing(false), &catalog).await.map_err(failed)?;
    if !add.waiting.is_on(std::io::stderr().is_terminal()) {
        return Ok(session.output.object(&created, || format!("added catalog {name}: the hub reads it\n"))?.into());
    }
    match wait_until(session, &namespace, name, add.waiting.timeout, is_read).await? {
        Some(catalog) => result(session, &catalog, "added"),
        None => Err(Failure::new(format!("catalog {name} is added, and the hub has not read it yet"))
            .hint(format!("`fitout catalog show {name}` shows its state"))),
    }
}

fn source(args: &SourceArgs) -> CatalogSource {
    let url = |url: &String| url.clone();
    CatalogSource {
        directory: match (&args.embedded, &args.directory) {
            (None, None) => None,
            (embedded, path) => Some(DirectorySource { embedded: embedded.clone(), path: path.clone() }),
        },
        archive: args.archive.as_ref().map(|archive| ArchiveSource { url: url(archive) }),
        helm_repository: args
            .helm
            .as_ref()
            .map(|helm| HelmRepositorySource { url: url(helm), charts: args.chart.clone() }),
        git: args.git.as_ref().map(|git| GitSource {
            url: url(git),
            path: args.path.clone(),
            branch: args.branch.clone(),
            tag: args.tag.clone(),
            commit: args.commit.clone(),
        }),
    }
}

fn catalog(add: &Add, namespace: &str, source: CatalogSource) -> Catalog {
    let spec = CatalogSpec {
        display_name: add.display_name.clone(),
        source: Some(source),
        priority: add.priority,
        include: add.include.clone(),
        exclude: add.exclude.clone(),
        interval_seconds: add.interval,
        ..CatalogSpec::default()
    };
    let mut catalog = Catalog::new(&add.name, spec);
    catalog.metadata.namespace = Some(namespace.to_owned());
    catalog.metadata.labels = add.builtin.then(|| BTreeMap::from([(BUILTIN.to_owned(), "true".to_owned())]));
    catalog
}

/// The Secret with the credentials for the source.
fn secret(add: &Add, namespace: &str, source: &CatalogSource) -> Result<Option<Secret>, Failure> {
    let Some(username) = &add.username else { return Ok(None) };
    let CatalogSource { archive, helm_repository, git, .. } = source;
    let url = archive.as_ref().map(|archive| &archive.url);
    let url = url.or(helm_repository.as_ref().map(|helm| &helm.url)).or(git.as_ref().map(|git| &git.url));
    let url = url.ok_or_else(|| Failure::new("a directory needs no user; leave --username out"))?;
    let password = registry_access::password()?;
    let entry = |key: &str, value: &str| (key.to_owned(), ByteString(value.as_bytes().to_vec()));
    Ok(Some(Secret {
        metadata: ObjectMeta {
            name: Some(format!("{}-catalog", add.name)),
            namespace: Some(namespace.to_owned()),
            ..ObjectMeta::default()
        },
        type_: Some(REPOSITORY_SECRET.to_owned()),
        data: Some([entry("repository", url), entry("username", username), entry("password", &password)].into()),
        ..Secret::default()
    }))
}
