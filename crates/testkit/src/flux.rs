//! Flux, to be measured against: two controllers, each with the very dependencies that it pins. No test needs them, so they
//! are built only for who asks.

use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::{Programs, Progress};

pub(crate) const HELM_CONTROLLER: &str = "flux/helm-controller";
pub(crate) const SOURCE_CONTROLLER: &str = "flux/source-controller";
const MODULES: [&str; 2] = [HELM_CONTROLLER, SOURCE_CONTROLLER];

/// Where its kinds are, in the directory of each.
pub(crate) const CRDS: &str = "crds";

/// Where Flux's programs and kinds are.
#[derive(Clone, Debug)]
pub struct Flux(Programs);

impl Flux {
    /// Flux, if it has been built from exactly these sources.
    pub fn find() -> Result<Option<Self>> {
        Ok(Programs::find_in(&MODULES)?.map(Self))
    }

    /// Flux. Who finds none says how to get it.
    pub fn get() -> Result<Self> {
        Self::find()?.context("flux is not built: `cargo xtask bench releases` builds it")
    }

    /// Builds what is missing of it.
    pub fn build(progress: impl FnMut(Progress)) -> Result<Self> {
        Programs::build_in(&MODULES, progress).map(Self)
    }

    /// The controller that installs releases.
    pub fn helm_controller(&self) -> PathBuf {
        self.0.file(HELM_CONTROLLER, "helm-controller")
    }

    /// The controller that fetches charts.
    pub fn source_controller(&self) -> PathBuf {
        self.0.file(SOURCE_CONTROLLER, "source-controller")
    }

    /// The directories of its kinds.
    pub fn crds(&self) -> [PathBuf; 2] {
        MODULES.map(|module| self.0.file(module, CRDS))
    }
}
