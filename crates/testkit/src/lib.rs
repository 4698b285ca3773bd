//! A real Kubernetes for tests: clusters that start in seconds and leave nothing behind.
//!
//! ```no_run
//! # fn main() -> anyhow::Result<()> {
//! use fitout_testkit::{Cluster, Spec};
//!
//! let cluster = Cluster::start(Spec::default())?;
//! println!("{}", cluster.kubectl().run(&["version"])?);
//! # Ok(()) }
//! ```
//!
//! `cargo xtask testbed` builds the programs once. All files of a cluster are in one directory, its sandbox, and every
//! process it starts is recorded there, so that any later run can end it.

mod audit;
mod cases;
mod certificates;
mod charts;
mod client;
mod cluster;
mod compare;
mod control_plane;
mod etcd;
mod example_catalog;
mod example_chart;
mod flux;
mod git_server;
mod golang;
pub mod http_server;
mod hub;
mod image;
mod installation;
mod kubeconfig;
pub mod leak_check;
mod load_balancer;
mod logs;
mod node;
mod objects;
mod oracle;
pub mod paths;
mod pki;
mod process;
mod programs;
mod proxy;
mod raw_tls_request;
mod registry;
mod sandbox;
pub mod skip;
mod tool;
mod version;
mod wait;

pub use audit::{AuditLog, Call, Calls, ObjectRef, ResponseStatus, User};
pub use cases::case_lines;
pub use client::{Answer, Client};
pub use cluster::{Cluster, Controllers, Spec};
pub use compare::{differences, without_server_fields};
pub use etcd::Etcd;
pub use example_catalog::write_example_catalog;
pub use example_chart::write_example_chart;
pub use flux::Flux;
pub use git_server::{Git, GitServer, SshServer, WorkingCopy, no_git, no_sshd};
pub use golang::copy_tree;
pub use hub::{install_hub, serve_compute, start_hub};
pub use image::{Image, StandIn};
pub use installation::Installation;
pub use load_balancer::LoadBalancer;
pub use node::{NoPods, Node, install_dns, pods_cannot_run};
pub use objects::{INSTANCES, add_fake_node, apply, condition, object};
pub use oracle::Oracle;
pub use process::{Process, clock_mover, cpu, cpu_of_children};
pub use programs::{Part, Programs, Progress};
pub use proxy::{Fault, Proxy, ProxyRequest};
pub use raw_tls_request::raw_tls_request;
pub use registry::Registry;
pub use sandbox::{AddressBlock, Sandbox, end, find_kept, sweep};
pub use skip::{full, sample, skip};
pub use tool::Tool;
pub use version::KubeVersion;
pub use wait::until;
