//! A real Kubernetes for tests: clusters in seconds, gone without a trace.
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
//! The programs are built once by `cargo xtask testbed`. Everything a cluster makes is in one directory, its sandbox, and
//! everything it starts is on record there, so that it can be ended by whoever comes next.

mod audit;
mod cases;
mod certificates;
mod charts;
mod client;
mod cluster;
mod compare;
mod control_plane;
mod etcd;
mod flux;
mod golang;
mod hub;
mod image;
mod kubeconfig;
pub mod leak_check;
mod load_balancer;
mod logs;
mod node;
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
pub use cluster::{Cluster, Spec};
pub use compare::{differences, without_server_fields};
pub use etcd::Etcd;
pub use flux::Flux;
pub use golang::copy_tree;
pub use hub::{install_hub, serve_compute, start_hub};
pub use image::{Image, StandIn};
pub use load_balancer::LoadBalancer;
pub use node::{NoPods, Node, install_dns, pods_cannot_run};
pub use oracle::Oracle;
pub use process::{Process, clock_mover, cpu, cpu_of_children};
pub use programs::{Part, Programs, Progress};
pub use proxy::{Asked, Fault, Proxy};
pub use raw_tls_request::raw_tls_request;
pub use registry::Registry;
pub use sandbox::{AddressBlock, Sandbox, end, find_kept, sweep};
pub use skip::{full, sample, skip};
pub use tool::Tool;
pub use version::KubeVersion;
pub use wait::until;
