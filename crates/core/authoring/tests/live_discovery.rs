//! The data in `discovery/` is what an API server answers.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use fitout_authoring::supported;
use fitout_model::Scope;
use fitout_testkit::{Client, Cluster, Controllers, KubeVersion, Spec, full};

/// The kinds that an API server serves, with their scope.
fn served(client: &Client) -> Result<BTreeSet<String>> {
    let mut versions = vec![("v1".to_owned(), "/api/v1".to_owned())];
    for group in client.get("/apis")?["groups"].as_array().context("groups")? {
        for version in group["versions"].as_array().context("versions")? {
            let name = version["groupVersion"].as_str().context("a version")?;
            versions.push((name.to_owned(), format!("/apis/{name}")));
        }
    }
    let mut kinds = BTreeSet::new();
    for (version, path) in versions {
        for resource in client.get(&path)?["resources"].as_array().context("resources")? {
            if !resource["name"].as_str().context("a name")?.contains('/') {
                let kind = resource["kind"].as_str().context("a kind")?;
                kinds.insert(format!("{version} {kind} {}", resource["namespaced"] == true));
            }
        }
    }
    Ok(kinds)
}

/// `cargo xtask generate discovery` writes the data again.
#[test]
fn discovery_data_is_what_api_servers_answer() -> Result<()> {
    let versions = if full() { &KubeVersion::ALL[..] } else { &[KubeVersion::NEWEST] };
    for version in versions {
        let spec = Spec { version: *version, controllers: Controllers::None, audit: false, ..Spec::default() };
        let cluster = Cluster::start(spec)?;
        let known =
            supported().iter().find(|known| known.minor == u64::from(version.minor())).context("the version")?;
        let kinds = known.apis.kinds().map(|gvk| {
            let is_namespaced = known.apis.scope(gvk) == Some(Scope::Namespaced);
            format!("{} {} {is_namespaced}", gvk.api_version(), gvk.kind)
        });
        assert_eq!(kinds.collect::<BTreeSet<_>>(), served(cluster.client())?, "{version}");
        assert_eq!(format!("v{}", known.version), version.git_version());
    }
    Ok(())
}
