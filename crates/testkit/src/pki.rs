//! The certificates of one cluster, in the files that its components read.

use std::net::Ipv4Addr;

use anyhow::Result;

use crate::Sandbox;
use crate::certificates::{Authority, Identity, signing_key};
use crate::kubeconfig::kubeconfig;

/// The node's name in the cluster.
pub(crate) const NODE: &str = "node";

pub(crate) struct Pki {
    authority: Authority,
    server: String,
}

impl Pki {
    /// Creates all certificates for a cluster whose API is at `server`.
    pub(crate) fn create(sandbox: &Sandbox, server: &str) -> Result<Self> {
        let authority = Authority::new("kubernetes")?;
        sandbox.write("pki/ca.crt", authority.certificate())?;
        sandbox.write("pki/ca.key", authority.key())?;
        let slot = sandbox.address_block();

        let names =
            ["kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"];
        let addresses = [slot.loopback(), slot.host(), slot.kubernetes_service(), Ipv4Addr::LOCALHOST];
        write(sandbox, "apiserver", &authority.server("kube-apiserver", &names, &addresses)?)?;
        let kubelet_client = authority.client("kube-apiserver-kubelet-client", Some("system:masters"))?;
        write(sandbox, "apiserver-kubelet-client", &kubelet_client)?;
        write(sandbox, "kubelet", &authority.server(NODE, &[NODE], &[slot.node()])?)?;

        // A separate authority, because a holder of its certificates may act as any user.
        let front_proxy = Authority::new("front-proxy")?;
        sandbox.write("pki/front-proxy-ca.crt", front_proxy.certificate())?;
        write(sandbox, "front-proxy-client", &front_proxy.client("front-proxy-client", None)?)?;

        let tokens = signing_key()?;
        sandbox.write("pki/sa.key", tokens.private)?;
        sandbox.write("pki/sa.pub", tokens.public)?;

        let pki = Self { authority, server: server.to_owned() };
        pki.write_kubeconfig(sandbox, "admin", "kubernetes-admin", Some("system:masters"))?;
        pki.write_kubeconfig(sandbox, "controller-manager", "system:kube-controller-manager", None)?;
        pki.write_kubeconfig(sandbox, "scheduler", "system:kube-scheduler", None)?;
        pki.write_kubeconfig(sandbox, "proxy", "system:kube-proxy", None)?;
        pki.write_kubeconfig(sandbox, "kubelet", &format!("system:node:{NODE}"), Some("system:nodes"))?;
        Ok(pki)
    }

    /// A client certificate for this user.
    pub(crate) fn identity(&self, user: &str, group: Option<&str>) -> Result<Identity> {
        self.authority.client(user, group)
    }

    /// The authority's certificate, as PEM.
    pub(crate) fn authority(&self) -> String {
        self.authority.certificate()
    }

    /// Writes `NAME.kubeconfig` for this user.
    pub(crate) fn write_kubeconfig(
        &self,
        sandbox: &Sandbox,
        name: &str,
        user: &str,
        group: Option<&str>,
    ) -> Result<()> {
        let config = kubeconfig(&self.server, &self.authority(), &self.identity(user, group)?);
        sandbox.write(&format!("{name}.kubeconfig"), serde_json::to_string_pretty(&config)?)
    }
}

fn write(sandbox: &Sandbox, name: &str, identity: &Identity) -> Result<()> {
    sandbox.write(&format!("pki/{name}.crt"), &identity.certificate)?;
    sandbox.write(&format!("pki/{name}.key"), &identity.key)
}
