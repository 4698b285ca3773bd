//! The client of one target cluster: its served APIs, its objects, and the writes that effects ask for.
//!
//! A [`ClusterClient`] owns the client of a cluster. Watches and the responses to our own writes fill its
//! [`ObjectCache`], so no object is read after it was written.

mod cause;
mod change_queue;
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
mod release_namespace;
mod release_records;
mod release_watch;

pub use change_queue::{ChangeQueue, Slot};
pub use client::{AbortOnDrop, ClusterClient};
pub use client_layer::{Call, ClientOptions, Fence, Fenced};
pub use cluster_info::{ClusterInfo, Nodes};
pub use connect::{Disconnected, client_with_options, connect};
pub use connectivity::Connectivity;
pub use error::{ClusterError, ErrorCause};
pub use object_cache::{CachedObject, ObjectCache, Owner, Ownership, Subscription};
pub use release_records::Record;
pub use release_watch::ReleaseSubscription;
