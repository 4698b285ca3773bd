//! Cluster DNS: CoreDNS as a pod.

use anyhow::Result;

use crate::Cluster;

/// Installs CoreDNS at the address in the `resolv.conf` of pods.
pub fn install_dns(cluster: &Cluster) -> Result<()> {
    let manifest =
        include_str!("dns.yaml").replace("CLUSTER_IP", &cluster.sandbox().address_block().dns_service().to_string());
    cluster.kubectl().run_with_input(&["apply", "--server-side", "--filename=-"], &manifest)?;
    Ok(())
}
