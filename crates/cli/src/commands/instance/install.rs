//! `fitout install`.

use clap::{Args, ValueEnum};
use fitout_api::{
    Choice, Cluster, Drift, ExtensionInstance, ExtensionInstanceSpec, ExtensionReference, FreeForm, Scope, Takeover,
    Upgrade,
};
use kube::ResourceExt;
use kube::api::ListParams;

use super::{dry_run, finish};
use crate::arguments::{SafetyArgs, ValuesArgs, Waiting, parse_label};
use crate::connection::Session;
use crate::failure::{Failure, refused};
use crate::output::as_value;
use crate::{Answer, catalog_lookup, durations, settings};

/// The longest name of an instance: the names of other objects are made from it.
const MAX_INSTANCE_NAME: usize = 63;

/// The longest name of a release that Helm accepts: names that charts derive from it have to fit into a label.
const MAX_RELEASE_NAME: usize = 53;

#[derive(Args)]
pub(crate) struct Install {
    /// The name of the extension
    pub(crate) extension: String,
    /// The cluster to install it on
    #[arg(long, short)]
    cluster: String,
    /// The catalog that offers the extension
    #[arg(long, default_value = "community")]
    pub(crate) catalog: String,
    /// The scope of the catalog, where a shared and an own one have the same name
    #[arg(long, value_enum)]
    pub(crate) scope: Option<CatalogScope>,
    /// The namespace on the cluster [default: the extension's name]
    #[arg(long, short)]
    namespace: Option<String>,
    /// The name of the instance [default: CLUSTER-EXTENSION]
    #[arg(long)]
    name: Option<String>,
    /// The name of the Helm release [default: the extension's name]
    #[arg(long)]
    release_name: Option<String>,
    /// The range of versions, such as 1.x [default: any version that fits the cluster]
    #[arg(long, value_name = "RANGE")]
    version: Option<String>,
    #[command(flatten)]
    values: ValuesArgs,
    #[command(flatten)]
    safety: SafetyArgs,
    /// A label of the Helm release; may be given more than once
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = parse_label)]
    labels: Vec<(String, String)>,
    /// Adopt the existing Helm release of this name, without changing it
    #[arg(long)]
    adopt: bool,
    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    waiting: Waiting,
}

/// The owner of a catalog.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum CatalogScope {
    Shared,
    Organization,
}

impl From<CatalogScope> for Scope {
    fn from(scope: CatalogScope) -> Self {
        match scope {
            CatalogScope::Shared => Self::Shared,
            CatalogScope::Organization => Self::Organization,
        }
    }
}

pub(crate) async fn run(session: &Session, install: &Install) -> Result<Answer, Failure> {
    let values = settings::layered(FreeForm::new(), &settings::read(&install.values)?)?;
    session.named::<Cluster>("cluster", &install.cluster, "fitout cluster list").await?;
    let scope = catalog_lookup::scope(session, install).await?;
    let instance = new_instance(install, &session.namespace, scope, values)?;
    let name = instance.name_any();
    let neighbours = ListParams::default().fields(&format!("spec.cluster={}", install.cluster));
    check_release_is_free(&instance, &session.all(session.own::<ExtensionInstance>(), &neighbours).await?)?;
    let created = session.own().create(&Session::writing(install.dry_run), &instance).await;
    let created = created.map_err(|error| match &error {
        kube::Error::Api(status) if status.reason == "AlreadyExists" => {
            Failure::new(format!("instance {name} already exists in organization {}", session.organization))
                .hint(format!("change it with `fitout upgrade {name}`, or choose another name with --name"))
        }
        _ => refused(&format!("create ExtensionInstance {}/{name}", session.namespace), &error),
    })?;
    if install.dry_run {
        return dry_run(session, &as_value(&created)?).await;
    }
    let done = format!("installed {} on cluster {} as {name}", install.extension, install.cluster);
    let begun =
        format!("created instance {name}: the hub installs {} on cluster {}", install.extension, install.cluster);
    finish(session, created, &install.waiting, &done, &begun).await
}

/// The instance that an install creates.
fn new_instance(
    install: &Install,
    namespace: &str,
    scope: Scope,
    values: FreeForm,
) -> Result<ExtensionInstance, Failure> {
    let extension = &install.extension;
    let name = install.name.clone().unwrap_or_else(|| format!("{}-{extension}", install.cluster));
    if name.len() > MAX_INSTANCE_NAME {
        let sentence = format!("instance name {name} is too long: the maximum is {MAX_INSTANCE_NAME} characters");
        return Err(Failure::new(sentence).hint("choose a shorter name with --name"));
    }
    let release = install.release_name.as_ref().unwrap_or(extension);
    if release.len() > MAX_RELEASE_NAME {
        let sentence = format!("release name {release} is too long: the maximum is {MAX_RELEASE_NAME} characters");
        return Err(Failure::new(sentence).hint("choose a shorter name with --release-name"));
    }
    let spec = ExtensionInstanceSpec {
        cluster: install.cluster.clone(),
        extension: ExtensionReference { name: extension.clone(), catalog: install.catalog.clone(), scope },
        release_name: install.release_name.clone(),
        namespace: install.namespace.clone().unwrap_or_else(|| extension.clone()),
        version: install.version.clone(),
        values: (!values.is_empty()).then_some(values),
        values_from: vec![],
        upgrade: Upgrade::default(),
        suspend: false,
        drift: Drift::default(),
        rollback_to: None,
        on_failure: install.safety.on_failure.map(Into::into).unwrap_or_default(),
        recreate: install.safety.recreate.clone(),
        allow_data_loss: install.safety.allow_data_loss.clone(),
        healthy_within_seconds: install.safety.healthy_within.map(durations::seconds),
        release_labels: install.labels.iter().cloned().collect(),
        skip_delete_hooks: false,
        keep_namespace: false,
        takeover: install.adopt.then_some(Takeover { choice: Choice::Adopt, revision: None }),
        test_run: None,
    };
    Ok(ExtensionInstance::with_finalizer(namespace, &name, spec))
}

/// Refuses an instance whose release belongs to another instance of the cluster: they would revert each other's changes.
fn check_release_is_free(instance: &ExtensionInstance, others: &[ExtensionInstance]) -> Result<(), Failure> {
    let (name, spec) = (instance.name_any(), &instance.spec);
    let shares_release = |other: &&ExtensionInstance| {
        other.spec.namespace == spec.namespace && other.spec.release_name() == spec.release_name()
    };
    let Some(owner) = others.iter().filter(|other| other.name_any() != name).find(shares_release) else {
        return Ok(());
    };
    let sentence = format!(
        "release {} in namespace {} of cluster {} already belongs to instance {}",
        spec.release_name(),
        spec.namespace,
        spec.cluster,
        owner.name_any()
    );
    Err(Failure::new(sentence).hint("choose another with --namespace or --release-name"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Arguments;
    use crate::commands::Command;
    use crate::output::Paint;
    use clap::Parser;
    use insta::assert_snapshot;

    fn install(words: &str) -> Result<String, Failure> {
        Ok(fitout_go_yaml::to_yaml(&serde_json::to_value(parsed(words)?).unwrap()))
    }

    fn parsed(words: &str) -> Result<ExtensionInstance, Failure> {
        let words = ["fitout", "install"].into_iter().chain(words.split(' '));
        let Command::Install(install) = Arguments::try_parse_from(words).unwrap().command else { unreachable!() };
        let values = crate::settings::layered(FreeForm::new(), &crate::settings::read(&install.values)?)?;
        new_instance(&install, "org-acme", Scope::Shared, values)
    }

    #[test]
    fn names_default_to_cluster_and_extension() {
        assert_snapshot!(install("cert-manager --cluster foo").unwrap(), @r"
        apiVersion: fitout.dev/v1alpha1
        kind: ExtensionInstance
        metadata:
          finalizers:
          - fitout.dev/installed
          name: foo-cert-manager
          namespace: org-acme
        spec:
          cluster: foo
          extension:
            catalog: community
            name: cert-manager
            scope: Shared
          namespace: cert-manager
          suspend: false
          upgrade:
            policy: Follow
        ");
    }

    #[test]
    fn every_name_can_be_given() {
        let words =
            "podinfo -c foo --catalog own -n web --name shop --release-name shop-web --version 6.x --set ui.color=#fff";
        assert_snapshot!(install(words).unwrap(), @r"
        apiVersion: fitout.dev/v1alpha1
        kind: ExtensionInstance
        metadata:
          finalizers:
          - fitout.dev/installed
          name: shop
          namespace: org-acme
        spec:
          cluster: foo
          extension:
            catalog: own
            name: podinfo
            scope: Shared
          namespace: web
          releaseName: shop-web
          suspend: false
          upgrade:
            policy: Follow
          values:
            ui:
              color: '#fff'
          version: 6.x
        ");
    }

    #[test]
    fn long_names_are_refused() {
        let refused = |words: &str| install(words).unwrap_err().shown(Paint::new(false));
        let long = "c".repeat(60);
        assert_snapshot!(refused(&format!("podinfo -c {long}")), @r"
        error: instance name cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc-podinfo is too long: the maximum is 63 characters
        hint: choose a shorter name with --name
        ");
        let message = "error: release name cccccccccccccccccccccccccccccccccccccccccccccccccccccc is too long: the \
                       maximum is 53 characters\nhint: choose a shorter name with --release-name\n";
        let (fits, long) = (&long[..53], &long[..54]);
        assert_eq!(refused(&format!("{long} -c foo")), message);
        assert_eq!(refused(&format!("podinfo -c foo --release-name {long}")), message);
        install(&format!("{fits} -c foo")).unwrap();
        install(&format!("{long} -c foo --release-name {fits}")).unwrap();
    }

    #[test]
    fn release_of_another_instance_is_refused() {
        let others = [parsed("podinfo -c foo").unwrap()];
        let check = |words| check_release_is_free(&parsed(words).unwrap(), &others);
        assert_snapshot!(check("podinfo -c foo --name two").unwrap_err().shown(Paint::new(false)), @r"
        error: release podinfo in namespace podinfo of cluster foo already belongs to instance foo-podinfo
        hint: choose another with --namespace or --release-name
        ");
        check("podinfo -c foo --name two -n two").unwrap();
        check("podinfo -c foo --name two --release-name two").unwrap();
        check("podinfo -c foo").unwrap();
    }
}
