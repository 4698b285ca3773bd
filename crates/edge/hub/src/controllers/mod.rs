//! The controllers of everything but instances: each watches one kind and writes its status.

pub(crate) mod catalogs;
pub(crate) mod clusters;
pub(crate) mod content_gc;
pub(crate) mod finalizers;
pub(crate) mod organizations;
