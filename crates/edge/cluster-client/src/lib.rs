//! One target cluster: what it serves, what is on it, and the writes that effects ask for.
//!
//! A [`ClusterClient`] owns the client of a cluster. [`ObjectCache`] is what is known of its objects: watches fill it, and so do
//! the answers to our own writes, so that nobody has to read what was just written.

mod cause;
mod client;
mod client_layer;
mod cluster_info;
mod cluster_info_watch;
mod connect;
mod connectivity;
mod error;
mod namespaces;
mod object_cache;
mod object_watch;
mod release_records;
mod release_watch;

pub use client::{AbortOnDrop, ClusterClient};
pub use client_layer::{Call, ClientOptions, Fence, Fenced};
pub use cluster_info::{ClusterInfo, Nodes};
pub use connect::{Disconnected, client_with_options, connect};
pub use connectivity::Connectivity;
pub use error::Refusal;
pub use object_cache::{CachedObject, ObjectCache, Owner, Ownership, Subscription};
pub use release_records::Record;
pub use release_watch::ReleaseSubscription;
