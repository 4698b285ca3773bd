//! Flux, which a benchmark compares us with: two controllers, each with the dependencies that it pins. No test needs them, so
//! only the benchmark builds them.

use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::{Part, Programs, Progress};

pub(crate) const HELM_CONTROLLER: &str = "flux/helm-controller";
pub(crate) const SOURCE_CONTROLLER: &str = "flux/source-controller";

/// The folder of its CRDs, in the directory of each controller.
pub(crate) const CRDS: &str = "crds";

/// The programs and the CRDs of Flux.
#[derive(Clone, Debug)]
pub struct Flux(Programs);

impl Flux {
    /// Flux, if it has been built from exactly these sources.
    pub fn find() -> Result<Option<Self>> {
        Ok(Programs::find(&Part::FLUX)?.map(Self))
    }

    /// Flux, or an error that says how to build it.
    pub fn get() -> Result<Self> {
        Self::find()?.context("flux is not built: `cargo xtask bench releases` builds it")
    }

    /// Builds what is missing of it.
    pub fn build(progress: impl FnMut(Progress)) -> Result<Self> {
        Programs::build(&Part::FLUX, progress).map(Self)
    }

    /// The controller that installs releases.
    pub fn helm_controller(&self) -> PathBuf {
        self.0.file(Part::HelmController, "helm-controller")
    }

    /// The controller that fetches charts.
    pub fn source_controller(&self) -> PathBuf {
        self.0.file(Part::SourceController, "source-controller")
    }

    /// The directories of its CRDs.
    pub fn crds(&self) -> [PathBuf; 2] {
        Part::FLUX.map(|part| self.0.file(part, CRDS))
    }
}
