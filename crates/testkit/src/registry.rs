//! A registry of charts and images.

use std::path::Path;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::{Process, Sandbox, Tool};

/// Who may push and pull where not everybody may.
const USER: &str = "user";
const PASSWORD: &str = "secret";
/// The password as the registry wants it, made with the least effort that bcrypt knows.
const HASH: &str = "$2a$04$gDs89ya.GFMvsUha7gnaAeAEEUtyv6OpvxSqusYwaXyAQnNUtNlFq";

/// A running registry, without TLS, on an address of its own.
#[derive(Debug)]
pub struct Registry {
    _process: Process,
    address: String,
    sandbox: Sandbox,
}

impl Registry {
    /// Starts one that is open to all.
    pub fn start() -> Result<Self> {
        Self::launch("")
    }

    /// Starts one that wants a user and a password, and says which.
    pub fn start_guarded() -> Result<(Self, (&'static str, &'static str))> {
        let registry = Self::launch("auth: { htpasswd: { realm: registry, path: BED/htpasswd } }\n")?;
        Ok((registry, (USER, PASSWORD)))
    }

    fn launch(guard: &str) -> Result<Self> {
        let sandbox = Sandbox::claim()?;
        let address = format!("{}:5000", sandbox.address_block().loopback());
        let config = format!(
            "version: 0.1\nlog: {{ level: warn, accesslog: {{ disabled: true }} }}\n\
             storage: {{ filesystem: {{ rootdirectory: BED/registry }} }}\n\
             http: {{ addr: '{address}', secret: of-nobody }}\n{guard}"
        );
        sandbox.write("registry.yaml", config.replace("BED", &sandbox.path("")))?;
        sandbox.write("htpasswd", format!("{USER}:{HASH}\n"))?;
        let program = sandbox.programs().registry()?.to_string_lossy().into_owned();
        let mut process = Process::start(&sandbox, "registry", &[program, sandbox.path("registry.yaml")])?;
        process.until_ready(Duration::from_secs(30), || match ureq::get(format!("http://{address}/v2/")).call() {
            // One that wants to see a password is there too.
            Ok(_) | Err(ureq::Error::StatusCode(401)) => Ok(()),
            Err(error) => bail!("{error}"),
        })?;
        Ok(Self { _process: process, address, sandbox })
    }

    /// Where it listens: an address and a port.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// A directory that goes when the registry goes.
    pub fn dir(&self) -> &Path {
        self.sandbox.dir()
    }

    /// Helm, without a cluster.
    pub fn helm(&self) -> Tool {
        Tool::new(self.sandbox.programs().helm(), &[], &self.sandbox.dir().join("no.kubeconfig"), self.sandbox.dir())
    }
}
