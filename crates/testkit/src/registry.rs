//! A registry of charts and images.

use std::net::Ipv4Addr;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;
use ureq::Body;
use ureq::http::Response;

use crate::kubeconfig::base64;
use crate::{Cluster, Process, Sandbox, Tool};

/// The user of a registry that requires one.
const USER: &str = "user";
const PASSWORD: &str = "secret";
/// The bcrypt hash of the password, with the lowest cost.
const HASH: &str = "$2a$04$gDs89ya.GFMvsUha7gnaAeAEEUtyv6OpvxSqusYwaXyAQnNUtNlFq";

/// The part of the configuration that requires a user.
const GUARD: &str = "auth: { htpasswd: { realm: registry, path: SANDBOX/htpasswd } }\n";

/// A running registry without TLS, on its own address.
#[derive(Debug)]
pub struct Registry {
    _process: Process,
    address: String,
    sandbox: Sandbox,
}

impl Registry {
    /// Starts a registry that requires no user.
    pub fn start() -> Result<Self> {
        Self::launch("", None)
    }

    /// Starts a registry that requires a user and a password, and returns both.
    pub fn start_guarded() -> Result<(Self, (&'static str, &'static str))> {
        Ok((Self::launch(GUARD, None)?, (USER, PASSWORD)))
    }

    /// The same, on an address that the pods of a cluster reach. A cluster has one such registry.
    pub fn start_guarded_for_pods(cluster: &Cluster) -> Result<(Self, (&'static str, &'static str))> {
        let host = cluster.sandbox().address_block().host();
        Ok((Self::launch(GUARD, Some(host))?, (USER, PASSWORD)))
    }

    fn launch(guard: &str, host: Option<Ipv4Addr>) -> Result<Self> {
        let sandbox = Sandbox::claim()?;
        let address = format!("{}:5000", host.unwrap_or_else(|| sandbox.address_block().loopback()));
        let config = format!(
            "version: 0.1\nlog: {{ level: warn, accesslog: {{ disabled: true }} }}\n\
             storage: {{ filesystem: {{ rootdirectory: SANDBOX/registry }} }}\n\
             http: {{ addr: '{address}', secret: unused }}\n{guard}"
        );
        sandbox.write("registry.yaml", config.replace("SANDBOX", &sandbox.path("")))?;
        sandbox.write("htpasswd", format!("{USER}:{HASH}\n"))?;
        let program = sandbox.programs().registry()?.to_string_lossy().into_owned();
        let mut process = Process::start(&sandbox, "registry", &[program, sandbox.path("registry.yaml")])?;
        process.until_ready(Duration::from_secs(30), || match ureq::get(format!("http://{address}/v2/")).call() {
            // A registry that requires a password is ready too.
            Ok(_) | Err(ureq::Error::StatusCode(401)) => Ok(()),
            Err(error) => bail!("{error}"),
        })?;
        Ok(Self { _process: process, address, sandbox })
    }

    /// Its address and port.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The repositories that it has.
    pub fn repositories(&self) -> Result<Vec<String>> {
        let listed: Value = self.get("_catalog")?.body_mut().read_json()?;
        Ok(serde_json::from_value(listed["repositories"].clone())?)
    }

    /// The digest of the manifest that a tag of a repository has.
    pub fn digest(&self, repository: &str, tag: &str) -> Result<String> {
        let response = self.get(&format!("{repository}/manifests/{tag}"))?;
        let digest = response.headers().get("docker-content-digest").context("a digest")?;
        Ok(digest.to_str()?.to_owned())
    }

    fn get(&self, path: &str) -> Result<Response<Body>> {
        let login = format!("Basic {}", base64(format!("{USER}:{PASSWORD}").as_bytes()));
        let request = ureq::get(format!("http://{}/v2/{path}", self.address)).header("authorization", login);
        let request = request.header("accept", "application/vnd.oci.image.manifest.v1+json");
        request.call().with_context(|| format!("GET {path} from the registry"))
    }

    /// A directory that is removed with the registry.
    pub fn dir(&self) -> &Path {
        self.sandbox.dir()
    }

    /// Helm, without a cluster.
    pub fn helm(&self) -> Tool {
        Tool::new(self.sandbox.programs().helm(), &[], &self.sandbox.dir().join("no.kubeconfig"), self.sandbox.dir())
    }
}
