//! The command lines of the control plane.

use std::net::Ipv4Addr;

use crate::{Controllers, KubeVersion, Sandbox};

/// The Service range of a cluster without a node, large enough for a benchmark.
const WIDE: &str = "198.18.0.0/16";

/// The parameters of an API server.
pub(crate) struct ApiServer<'a> {
    pub(crate) sandbox: &'a Sandbox,
    pub(crate) version: KubeVersion,
    pub(crate) address: Ipv4Addr,
    pub(crate) port: u16,
    pub(crate) etcd: &'a str,
    /// The file of its audit log, if it writes one.
    pub(crate) audit_log: Option<&'a str>,
    pub(crate) with_node: bool,
}

impl ApiServer<'_> {
    pub(crate) fn command(&self) -> Vec<String> {
        let Self { sandbox, address, port, etcd, .. } = self;
        let pki = |name: &str| sandbox.path(&format!("pki/{name}"));
        let mut command = program(sandbox, self.version, "kube-apiserver");
        command.extend([
            format!("--etcd-servers={etcd}"),
            // By the sandbox's name, so that clusters which share an etcd do not share their data.
            format!("--etcd-prefix=/{}", sandbox.dir().file_name().unwrap_or_default().display()),
            format!("--bind-address={address}"),
            format!("--advertise-address={address}"),
            format!("--secure-port={port}"),
            format!("--tls-cert-file={}", pki("apiserver.crt")),
            format!("--tls-private-key-file={}", pki("apiserver.key")),
            format!("--client-ca-file={}", pki("ca.crt")),
            format!("--service-account-key-file={}", pki("sa.pub")),
            format!("--service-account-signing-key-file={}", pki("sa.key")),
            "--service-account-issuer=https://kubernetes.default.svc.cluster.local".to_owned(),
            "--authorization-mode=Node,RBAC".to_owned(),
            "--enable-admission-plugins=NodeRestriction".to_owned(),
            "--allow-privileged=true".to_owned(),
            // Without a node no Service is reached, so the range need not be the sandbox's own.
            format!(
                "--service-cluster-ip-range={}",
                if self.with_node { sandbox.address_block().services() } else { WIDE.to_owned() }
            ),
            format!("--kubelet-client-certificate={}", pki("apiserver-kubelet-client.crt")),
            format!("--kubelet-client-key={}", pki("apiserver-kubelet-client.key")),
            format!("--kubelet-certificate-authority={}", pki("ca.crt")),
            "--kubelet-preferred-address-types=InternalIP".to_owned(),
            format!("--proxy-client-cert-file={}", pki("front-proxy-client.crt")),
            format!("--proxy-client-key-file={}", pki("front-proxy-client.key")),
            format!("--requestheader-client-ca-file={}", pki("front-proxy-ca.crt")),
            "--requestheader-allowed-names=front-proxy-client".to_owned(),
            "--requestheader-username-headers=X-Remote-User".to_owned(),
            "--requestheader-group-headers=X-Remote-Group".to_owned(),
            "--requestheader-extra-headers-prefix=X-Remote-Extra-".to_owned(),
        ]);
        if let Some(log) = self.audit_log {
            command.extend([
                format!("--audit-policy-file={}", sandbox.path("audit-policy.yaml")),
                format!("--audit-log-path={log}"),
                // In megabytes. A test reads the whole log, so it is never rotated.
                "--audit-log-maxsize=4096".to_owned(),
            ]);
        }
        command.push(if self.with_node {
            // Aggregated API servers run in pods, which the API server reaches only by pod address.
            "--enable-aggregator-routing=true".to_owned()
        } else {
            // The Service `kubernetes` must not point to a loopback address, and without pods it is unused.
            "--endpoint-reconciler-type=none".to_owned()
        });
        command.extend(emulation(self.version));
        command
    }
}

pub(crate) fn controller_manager(sandbox: &Sandbox, version: KubeVersion, controllers: Controllers) -> Vec<String> {
    let controllers = match controllers {
        Controllers::Namespaces => "--controllers=namespace-controller",
        // The addresses of pods come from the network plugin.
        Controllers::All | Controllers::None => "--controllers=*,-nodeipam",
    };
    let mut command = program(sandbox, version, "kube-controller-manager");
    command.extend([
        format!("--kubeconfig={}", sandbox.path("controller-manager.kubeconfig")),
        format!("--service-account-private-key-file={}", sandbox.path("pki/sa.key")),
        format!("--root-ca-file={}", sandbox.path("pki/ca.crt")),
        format!("--cluster-signing-cert-file={}", sandbox.path("pki/ca.crt")),
        format!("--cluster-signing-key-file={}", sandbox.path("pki/ca.key")),
        "--use-service-account-credentials=true".to_owned(),
        controllers.to_owned(),
    ]);
    command.extend(single_instance());
    command.extend(emulation(version));
    command
}

pub(crate) fn scheduler(sandbox: &Sandbox, version: KubeVersion) -> Vec<String> {
    let mut command = program(sandbox, version, "kube-scheduler");
    command.push(format!("--kubeconfig={}", sandbox.path("scheduler.kubeconfig")));
    command.extend(single_instance());
    command.extend(emulation(version));
    command
}

/// Flags of a component that runs once: no leader election, no metrics, and no rate limit that slows tests.
fn single_instance() -> [String; 4] {
    ["--leader-elect=false", "--secure-port=0", "--kube-api-qps=500", "--kube-api-burst=1000"].map(str::to_owned)
}

fn emulation(version: KubeVersion) -> Option<String> {
    (version != KubeVersion::NEWEST).then(|| format!("--emulated-version={version}"))
}

fn program(sandbox: &Sandbox, version: KubeVersion, component: &str) -> Vec<String> {
    vec![sandbox.programs().kubebox(version).to_string_lossy().into_owned(), component.to_owned()]
}

/// Records every request once it is answered, except health checks. The bodies of clients' writes are recorded; those of
/// Kubernetes' own components are not, because they are too many.
pub(crate) const AUDIT_POLICY: &str = r#"
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - { level: None, nonResourceURLs: ["/healthz*", "/livez*", "/readyz*"] }
  - { level: None, users: ["system:apiserver"] }
  - level: Metadata
    userGroups: ["system:nodes", "system:serviceaccounts:kube-system"]
  - level: Metadata
    users: ["system:kube-controller-manager", "system:kube-scheduler", "system:kube-proxy"]
  - { level: Request, verbs: [create, update, patch, delete, deletecollection] }
  - { level: Metadata }
"#;
