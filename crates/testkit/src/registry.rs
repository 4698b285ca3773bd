//! A registry of charts and images.

use std::path::Path;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::{Process, Sandbox, Tool};

/// The user of a registry that requires one.
const USER: &str = "user";
const PASSWORD: &str = "secret";
/// The bcrypt hash of the password, with the lowest cost.
const HASH: &str = "$2a$04$gDs89ya.GFMvsUha7gnaAeAEEUtyv6OpvxSqusYwaXyAQnNUtNlFq";

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
        Self::launch("")
    }

    /// Starts a registry that requires a user and a password, and returns both.
    pub fn start_guarded() -> Result<(Self, (&'static str, &'static str))> {
        let registry = Self::launch("auth: { htpasswd: { realm: registry, path: SANDBOX/htpasswd } }\n")?;
        Ok((registry, (USER, PASSWORD)))
    }

    fn launch(guard: &str) -> Result<Self> {
        let sandbox = Sandbox::claim()?;
        let address = format!("{}:5000", sandbox.address_block().loopback());
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

    /// A directory that is removed with the registry.
    pub fn dir(&self) -> &Path {
        self.sandbox.dir()
    }

    /// Helm, without a cluster.
    pub fn helm(&self) -> Tool {
        Tool::new(self.sandbox.programs().helm(), &[], &self.sandbox.dir().join("no.kubeconfig"), self.sandbox.dir())
    }
}
