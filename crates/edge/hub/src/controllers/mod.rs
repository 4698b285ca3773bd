//! Controllers of organizations, catalogs and clusters, finalizers, and garbage collection of content.

pub(crate) mod catalogs;
pub(crate) mod clusters;
pub(crate) mod content_gc;
pub(crate) mod finalizers;
pub(crate) mod organizations;
pub(crate) mod sideloads;
