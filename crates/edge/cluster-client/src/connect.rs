//! Connecting to a cluster, with a reason for each failure.

use std::error::Error as _;
use std::time::Duration;

use kube::client::ClientBuilder;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

use crate::client_layer::ClientLayer;
use crate::{ClientOptions, Connectivity};

/// The reason why a cluster cannot be reached; each variant has its own remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the message says it")]
pub enum Disconnected {
    #[error("the kubeconfig is invalid: {0}; put a complete kubeconfig into the Secret")]
    Kubeconfig(String),
    #[error(
        "the certificate of {server} is not signed by the authority in the kubeconfig; use the cluster's own authority"
    )]
    WrongAuthority { server: String },
    #[error("{server} rejects the credentials in the kubeconfig; renew them")]
    Unauthorized { server: String },
    #[error("the name of {server} cannot be resolved; check the address in the kubeconfig")]
    UnknownHost { server: String },
    #[error("{server} refuses the connection; is the API server running?")]
    Refused { server: String },
    #[error("{server} does not answer; check the network between the hub and the cluster")]
    TimedOut { server: String },
    #[error("the same cluster is registered as {name}; remove one of the two")]
    Known { name: String },
    #[error("{server}: {message}")]
    Other { server: String, message: String },
}

impl Disconnected {
    /// The machine-readable reason, as a condition has it.
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

/// Long enough for a loaded API server, short enough to report a failure within ten seconds.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Creates a client from a kubeconfig and verifies that the API server answers.
pub async fn connect(kubeconfig: &str, options: ClientOptions) -> Result<(Client, Connectivity), Disconnected> {
    let invalid = |error: &dyn std::fmt::Display| Disconnected::Kubeconfig(error.to_string());
    let kubeconfig = Kubeconfig::from_yaml(kubeconfig).map_err(|error| invalid(&error))?;
    if let Some(reference) = external_reference(&kubeconfig) {
        return Err(invalid(&reference));
    }
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
        .await
        .map_err(|error| invalid(&error))?;
    let (client, connectivity) = client_with_options(config, options).map_err(|error| invalid(&error))?;
    let server = connectivity.server.to_string();
    match tokio::time::timeout(CONNECT_TIMEOUT, client.apiserver_version()).await {
        Ok(Ok(_)) => Ok((client, connectivity)),
        Ok(Err(error)) => Err(Disconnected::of(&server, &error)),
        Err(_) => Err(Disconnected::TimedOut { server }),
    }
}

/// Creates a client whose requests have a deadline and go through the options, and its connectivity.
pub fn client_with_options(mut config: Config, options: ClientOptions) -> kube::Result<(Client, Connectivity)> {
    config.connect_timeout = Some(CONNECT_TIMEOUT);
    // The caller decides whether to retry.
    config.default_retry = false;
    let connectivity = Connectivity::new(config.cluster_url.to_string().trim_end_matches('/'));
    let layer = ClientLayer::new(options, connectivity.clone());
    Ok((ClientBuilder::try_from(config)?.with_layer(&layer).build(), connectivity))
}

/// The first field by which a kubeconfig would have the hub run a program or read a file. A user who registers a
/// cluster must not be able to do that, so a kubeconfig has to be self-contained.
fn external_reference(kubeconfig: &Kubeconfig) -> Option<String> {
    let users = kubeconfig.auth_infos.iter().filter_map(|named| named.auth_info.as_ref());
    let user_fields = users.flat_map(|user| {
        [
            ("exec", user.exec.is_some()),
            ("auth-provider", user.auth_provider.is_some()),
            ("tokenFile", user.token_file.is_some()),
            ("client-certificate", user.client_certificate.is_some()),
            ("client-key", user.client_key.is_some()),
        ]
    });
    let clusters = kubeconfig.clusters.iter().filter_map(|named| named.cluster.as_ref());
    let cluster_fields = clusters.map(|cluster| ("certificate-authority", cluster.certificate_authority.is_some()));
    let (field, _) = user_fields.chain(cluster_fields).find(|(_, is_set)| *is_set)?;
    Some(format!("`{field}` refers to something outside the kubeconfig; use a token or inline data"))
}

impl Disconnected {
    /// Classifies an error by the messages of its sources, because no type survives all layers of the client.
    pub(crate) fn of(server: &str, error: &kube::Error) -> Self {
        let server = server.to_owned();
        if let kube::Error::Api(status) = error
            && status.code == 401
        {
            return Disconnected::Unauthorized { server };
        }
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(inner) = source {
            message = format!("{message}: {inner}");
            source = inner.source();
        }
        let has_any = |parts: &[&str]| parts.iter().any(|part| message.contains(part));
        match () {
            () if has_any(&["UnknownIssuer", "invalid peer certificate", "BadSignature"]) => {
                Disconnected::WrongAuthority { server }
            }
            () if has_any(&["dns error", "failed to lookup address"]) => Disconnected::UnknownHost { server },
            () if has_any(&["Connection refused"]) => Disconnected::Refused { server },
            () if has_any(&["deadline has elapsed", "timed out", "Timeout", "TimedOut"]) => {
                Disconnected::TimedOut { server }
            }
            () => Disconnected::Other { server, message },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kubeconfig_with_external_reference_is_rejected() {
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
            let message = external_reference(&Kubeconfig::from_yaml(&text).unwrap());
            let sentence =
                |field| format!("`{field}` refers to something outside the kubeconfig; use a token or inline data");
            assert_eq!(message, expected.map(sentence), "{text}");
        }
    }
}
