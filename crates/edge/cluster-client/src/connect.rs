//! Reaching a cluster, and saying why not.

use std::error::Error as _;
use std::time::Duration;

use kube::client::ClientBuilder;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

use crate::client_layer::ClientLayer;
use crate::{ClientOptions, Connectivity};

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
    #[error("the same cluster is registered as {name}; remove one of the two")]
    Known { name: String },
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
            Self::Known { .. } => "AlreadyRegistered",
            Self::Other { .. } => "Unreachable",
        }
    }
}

/// Long enough for a loaded server, short enough to tell a person within ten seconds.
const PATIENCE: Duration = Duration::from_secs(5);

/// A client for the cluster of this kubeconfig, which has answered once.
pub async fn connect(kubeconfig: &str, options: ClientOptions) -> Result<(Client, Connectivity), Disconnected> {
    let broken = |error: &dyn std::fmt::Display| Disconnected::Kubeconfig(error.to_string());
    let kubeconfig = Kubeconfig::from_yaml(kubeconfig).map_err(|error| broken(&error))?;
    if let Some(outside) = outside(&kubeconfig) {
        return Err(broken(&outside));
    }
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
        .await
        .map_err(|error| broken(&error))?;
    let (client, connectivity) = client_with_options(config, options).map_err(|error| broken(&error))?;
    let server = connectivity.server.to_string();
    match tokio::time::timeout(PATIENCE, client.apiserver_version()).await {
        Ok(Ok(_)) => Ok((client, connectivity)),
        Ok(Err(error)) => Err(Disconnected::of(&server, &error)),
        Err(_) => Err(Disconnected::TimedOut { server }),
    }
}

/// A client whose calls all have a deadline and go through the options, and word of whether its server answers.
pub fn client_with_options(mut config: Config, options: ClientOptions) -> kube::Result<(Client, Connectivity)> {
    config.connect_timeout = Some(PATIENCE);
    // Whoever made the call decides whether it is made again.
    config.default_retry = false;
    let connectivity = Connectivity::new(config.cluster_url.to_string().trim_end_matches('/'));
    let layer = ClientLayer::new(options, connectivity.clone());
    Ok((ClientBuilder::try_from(config)?.with_layer(&layer).build(), connectivity))
}

/// What a kubeconfig would make the hub run or read on its own machine. Whoever may register a cluster must not be able
/// to do that, so a kubeconfig has to hold all it needs.
fn outside(kubeconfig: &Kubeconfig) -> Option<String> {
    let users = kubeconfig.auth_infos.iter().filter_map(|named| named.auth_info.as_ref());
    let of_users = users.flat_map(|user| {
        [
            ("exec", user.exec.is_some()),
            ("auth-provider", user.auth_provider.is_some()),
            ("tokenFile", user.token_file.is_some()),
            ("client-certificate", user.client_certificate.is_some()),
            ("client-key", user.client_key.is_some()),
        ]
    });
    let clusters = kubeconfig.clusters.iter().filter_map(|named| named.cluster.as_ref());
    let of_clusters = clusters.map(|cluster| ("certificate-authority", cluster.certificate_authority.is_some()));
    let (field, _) = of_users.chain(of_clusters).find(|(_, there)| *there)?;
    Some(format!("`{field}` names something outside of it; use a token, or data in its place"))
}

impl Disconnected {
    /// The causes are told apart by what the libraries below say; there is no type that survives all their layers.
    pub(crate) fn of(server: &str, error: &kube::Error) -> Self {
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
            () if says(&["deadline has elapsed", "timed out", "Timeout", "TimedOut"]) => {
                Disconnected::TimedOut { server }
            }
            () => Disconnected::Other { server, message: said },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kubeconfig_that_leads_outside_of_itself_is_refused() {
        let rows = [
            ("{ token: t }", "{ server: s }", None),
            (
                "{ client-certificate-data: YQ==, client-key-data: YQ== }",
                "{ server: s, certificate-authority-data: YQ== }",
                None,
            ),
            ("{ exec: { apiVersion: v1, command: sh } }", "{ server: s }", Some("exec")),
            ("{ auth-provider: { name: gcp } }", "{ server: s }", Some("auth-provider")),
            ("{ tokenFile: /a }", "{ server: s }", Some("tokenFile")),
            ("{ client-certificate: /a, client-key: /b }", "{ server: s }", Some("client-certificate")),
            ("{ token: t, client-key: /b }", "{ server: s }", Some("client-key")),
            ("{ token: t }", "{ server: s, certificate-authority: /a }", Some("certificate-authority")),
        ];
        for (user, cluster, expected) in rows {
            let text = format!(
                "apiVersion: v1\nkind: Config\nusers: [{{ name: u, user: {user} }}]\n\
                 clusters: [{{ name: c, cluster: {cluster} }}]\n"
            );
            let said = outside(&Kubeconfig::from_yaml(&text).unwrap());
            let sentence =
                |field| format!("`{field}` names something outside of it; use a token, or data in its place");
            assert_eq!(said, expected.map(sentence), "{text}");
        }
    }
}
