//! Writes, checks and packages definitions and charts.
//!
//! [`derive`] writes the definition of a chart from what the chart renders. [`lint`] finds what a reviewer would find in
//! definitions and catalogs. Both render for each supported Kubernetes version, with the kinds that a real API server of that
//! version serves.
//!
//! **Invariant:** nothing here reads a file or asks a cluster. Files come in as bytes, by path.

mod access;
mod archive;
mod comments;
mod derive;
mod document;
mod footprint;
mod kubernetes;
mod lint;
mod manifests;
mod metadata;
mod range;
mod rendering;
mod roles;
mod scaffold;
mod schema;

use fitout_model::{Definition, Lifecycle};
pub use scaffold::{Packaging, scaffold};
use semver::Version;

pub use archive::{PackagedChart, archive, package_chart};
pub use derive::{ChartSource, Derived, derive, requirements};
pub use document::write_definition;
pub use fitout_engines::Environment;
pub use kubernetes::{Kubernetes, is_builtin_group, supported};
pub use lint::{Directory, Finding, LintContext, LocalChart, Severity, lint, lint_catalog, lint_states};
pub use manifests::{Folder, ManifestChart, chart_from_manifests};

/// A definition with nothing but its name and version.
pub(crate) fn blank(extension: String, version: Version) -> Definition {
    Definition {
        extension,
        version,
        upgrade_from: None,
        app_version: None,
        display_name: None,
        summary: None,
        publisher: None,
        logo: None,
        description: None,
        license: None,
        links: vec![],
        categories: vec![],
        changelog: None,
        lifecycle: Lifecycle::External,
        kubernetes: None,
        platform: None,
        singleton: None,
        bootstrap: false,
        requirements: None,
        dependencies: vec![],
        provides: vec![],
        conflicts: vec![],
        suggests: vec![],
        parameters: None,
        configuration: None,
        helm: None,
        manifests: None,
        olm: None,
        runtime: None,
        operands: vec![],
        images: vec![],
        roles: vec![],
        menu: None,
        pages: None,
    }
}
