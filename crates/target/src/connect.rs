//! Reaching a cluster, and saying why not.

use std::error::Error as _;
use std::time::Duration;

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

/// Why a cluster cannot be reached: each its own reason, because each has its own remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the sentence says it")]
pub enum Disconnected {
    #[error("the kubeconfig cannot be read: {0}; put a whole kubeconfig into the secret")]
    Kubeconfig(String),
    #[error(
        "the certificate of {server} is not from the authority in the kubeconfig; take the cluster's own authority"
    )]
    WrongAuthority { server: String },
    #[error("{server} does not know the user in the kubeconfig; renew its credentials")]
    Unauthorized { server: String },
    #[error("the name of {server} cannot be resolved; check the address in the kubeconfig")]
    UnknownHost { server: String },
    #[error("{server} refuses the connection; is the API server running?")]
    Refused { server: String },
    #[error("{server} does not answer; is there a way from the hub to the cluster?")]
    TimedOut { server: String },
    #[error("{server}: {message}")]
    Other { server: String, message: String },
}

impl Disconnected {
    /// One word for machines.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Kubeconfig(_) => "InvalidKubeconfig",
            Self::WrongAuthority { .. } => "WrongAuthority",
            Self::Unauthorized { .. } => "Unauthorized",
            Self::UnknownHost { .. } => "UnknownHost",
            Self::Refused { .. } => "ConnectionRefused",
            Self::TimedOut { .. } => "TimedOut",
            Self::Other { .. } => "Unreachable",
        }
    }
}

/// Long enough for a loaded server, short enough to tell a person within ten seconds.
const PATIENCE: Duration = Duration::from_secs(5);

/// A client for the cluster of this kubeconfig, which has answered once.
pub async fn connect(kubeconfig: &str) -> Result<Client, Disconnected> {
    let broken = |error: &dyn std::fmt::Display| Disconnected::Kubeconfig(error.to_string());
    let kubeconfig = Kubeconfig::from_yaml(kubeconfig).map_err(|error| broken(&error))?;
    let options = KubeConfigOptions::default();
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &options).await.map_err(|error| broken(&error))?;
    config.connect_timeout = Some(PATIENCE);
    let server = config.cluster_url.to_string().trim_end_matches('/').to_owned();
    let client = Client::try_from(config).map_err(|error| broken(&error))?;
    match tokio::time::timeout(PATIENCE, client.apiserver_version()).await {
        Ok(Ok(_)) => Ok(client),
        Ok(Err(error)) => Err(classify(&server, &error)),
        Err(_) => Err(Disconnected::TimedOut { server }),
    }
}

/// The causes are told apart by what the libraries below say; there is no type that survives all their layers.
fn classify(server: &str, error: &kube::Error) -> Disconnected {
    let server = server.to_owned();
    if let kube::Error::Api(status) = error
        && status.code == 401
    {
        return Disconnected::Unauthorized { server };
    }
    let mut said = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        said = format!("{said}: {inner}");
        cause = inner.source();
    }
    let says = |words: &[&str]| words.iter().any(|word| said.contains(word));
    match () {
        () if says(&["UnknownIssuer", "invalid peer certificate", "BadSignature"]) => {
            Disconnected::WrongAuthority { server }
        }
        () if says(&["dns error", "failed to lookup address"]) => Disconnected::UnknownHost { server },
        () if says(&["Connection refused"]) => Disconnected::Refused { server },
        () if says(&["deadline has elapsed", "timed out", "Timeout", "TimedOut"]) => Disconnected::TimedOut { server },
        () => Disconnected::Other { server, message: said },
    }
}
