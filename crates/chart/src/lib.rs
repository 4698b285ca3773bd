//! Helm charts: loading from bytes, values, dependencies, rendering, hooks, the order of kinds.
