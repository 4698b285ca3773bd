//! The testbed's programs: built once from their Go modules, found again by the hash of what made them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use fitout_model::hex;
use sha2::{Digest, Sha256};

use crate::KubeVersion;
use crate::charts;
use crate::flux;
use crate::golang;
use crate::paths;

/// One `go build`: the module it happens in, what it builds, and into which file.
#[derive(Debug)]
pub(crate) struct Build {
    pub(crate) module: &'static str,
    pub(crate) package: &'static str,
    pub(crate) output: String,
    /// String variables set at link time.
    pub(crate) variables: Vec<(&'static str, String)>,
}

/// A folder of a Go module that tests use as it is.
pub(crate) struct Copied {
    pub(crate) module: &'static str,
    pub(crate) source: &'static str,
    pub(crate) folder: &'static str,
    pub(crate) output: &'static str,
}

/// Where the testbed's programs, charts and files are.
#[derive(Clone, Debug)]
pub struct Programs {
    /// A directory for each module, so that a change to one builds only that one again.
    modules: BTreeMap<&'static str, PathBuf>,
}

/// What tests run on.
const MODULES: [&str; 8] = ["tools", "oracle", "helm", "helm3", "charts", "workloads", "registry", "kubernetes"];

/// A step of the build, for a progress bar.
#[derive(Clone, Debug)]
pub enum Progress {
    /// Something is about to be built from this many packages.
    Begin {
        /// What is being built.
        name: String,
        /// Its place among all that is built, from 1.
        index: usize,
        /// How many there are.
        of: usize,
        /// How many packages it is linked from: those that are cached are not compiled again.
        packages: u64,
    },
    /// A package of it has been compiled.
    Compiled,
    /// It is there.
    Done,
}

fn builds() -> Vec<Build> {
    const VERSION: [&str; 3] = [
        "k8s.io/component-base/version.gitVersion",
        "k8s.io/component-base/version.gitMajor",
        "k8s.io/component-base/version.gitMinor",
    ];
    let plain = |module, package, output: &str| Build { module, package, output: output.to_owned(), variables: vec![] };
    let mut all = vec![
        plain("tools", "./reaper", "reaper"),
        plain("tools", "./standin", "standin"),
        plain("oracle", "./yaml", "oracle-yaml"),
        plain("oracle", "./range", "oracle-range"),
        plain("oracle", "./template", "oracle-template"),
        plain("oracle", "./regex", "oracle-regex"),
        plain("oracle", "./functions", "oracle-functions"),
        plain("oracle", "./render", "oracle-render"),
        plain("oracle", "./command", "oracle-command"),
        plain("oracle", "./chart", "oracle-chart"),
        Build {
            variables: vec![("helm.sh/helm/v4/internal/version.version", "v4.3.1".to_owned())],
            ..plain("oracle", "./helm", "oracle-helm")
        },
        Build {
            variables: vec![("helm.sh/helm/v4/internal/version.version", "v4.3.1".to_owned())],
            ..plain("helm", "helm.sh/helm/v4/cmd/helm", "helm")
        },
        Build {
            variables: vec![("helm.sh/helm/v3/internal/version.version", "v3.21.4".to_owned())],
            ..plain("helm3", "helm.sh/helm/v3/cmd/helm", "helm3")
        },
        plain("registry", ".", "registry"),
        plain(flux::HELM_CONTROLLER, "github.com/fluxcd/helm-controller", "helm-controller"),
        plain(flux::SOURCE_CONTROLLER, "github.com/fluxcd/source-controller", "source-controller"),
        plain("workloads", "./dns", "dns"),
        plain("workloads", "github.com/stefanprodan/podinfo/cmd/podinfo", "podinfo"),
        plain("workloads", "github.com/stefanprodan/podinfo/cmd/podcli", "podcli"),
        plain("workloads", "sigs.k8s.io/metrics-server/cmd/metrics-server", "metrics-server"),
    ];
    // The newest first: it compiles everything, the others are only linked again.
    all.extend(KubeVersion::ALL.into_iter().rev().map(|version| {
        let values = [version.git_version().to_owned(), "1".to_owned(), version.minor().to_string()];
        Build { variables: VERSION.into_iter().zip(values).collect(), ..plain("kubernetes", ".", &version.program()) }
    }));
    all
}

const COPIES: [Copied; 5] = [
    Copied {
        module: flux::HELM_CONTROLLER,
        source: "github.com/fluxcd/helm-controller",
        folder: "config/crd/bases",
        output: flux::CRDS,
    },
    Copied {
        module: flux::SOURCE_CONTROLLER,
        source: "github.com/fluxcd/source-controller",
        folder: "config/crd/bases",
        output: flux::CRDS,
    },
    Copied {
        module: "workloads",
        source: "github.com/stefanprodan/podinfo",
        folder: "charts/podinfo",
        output: "charts/podinfo",
    },
    Copied { module: "workloads", source: "github.com/stefanprodan/podinfo", folder: "ui", output: "podinfo-ui" },
    Copied {
        module: "workloads",
        source: "sigs.k8s.io/metrics-server",
        folder: "charts/metrics-server",
        output: "charts/metrics-server",
    },
];

impl Programs {
    fn locate(modules: &[&'static str]) -> Result<Self> {
        let modules = modules.iter().map(|&module| Ok((module, directory(module)?)));
        Ok(Self { modules: modules.collect::<Result<_>>()? })
    }

    fn complete(&self) -> bool {
        self.modules.values().all(|dir| dir.join(COMPLETE).exists())
    }

    /// The programs, if they have been built from exactly these sources.
    pub fn find() -> Result<Option<Self>> {
        Self::find_in(&MODULES)
    }

    /// The programs of these modules.
    pub(crate) fn find_in(modules: &[&'static str]) -> Result<Option<Self>> {
        let programs = Self::locate(modules)?;
        Ok(programs.complete().then_some(programs))
    }

    /// The programs. A test that finds none says how to get them.
    pub fn get() -> Result<Self> {
        Self::find()?.context("the testbed is not built: run `cargo xtask testbed`")
    }

    /// Builds what is missing. Two that build at once wait for each other; what one finished is not lost when it is
    /// interrupted, for Go keeps what it compiled.
    pub fn build(progress: impl FnMut(Progress)) -> Result<Self> {
        Self::build_in(&MODULES, progress)
    }

    /// Builds what is missing of these modules.
    pub(crate) fn build_in(modules: &[&'static str], mut progress: impl FnMut(Progress)) -> Result<Self> {
        let programs = Self::locate(modules)?;
        for dir in programs.modules.values() {
            fs::create_dir_all(dir).with_context(|| format!("create {}", dir.display()))?;
        }
        let lock = File::create(paths::cache()?.join("testbed/lock"))?;
        lock.lock()?;
        let mut missing = builds();
        missing.retain(|build| modules.contains(&build.module) && !programs.output(build).exists());
        for (index, build) in missing.iter().enumerate() {
            progress(Progress::Begin {
                name: build.output.clone(),
                index: index + 1,
                of: missing.len(),
                packages: golang::count_packages(build)?,
            });
            golang::build(build, &programs.output(build), || progress(Progress::Compiled))?;
            progress(Progress::Done);
        }
        for (module, dir) in programs.modules.iter().filter(|(_, dir)| !dir.join(COMPLETE).exists()) {
            for copied in COPIES.iter().filter(|copied| copied.module == *module) {
                golang::copy(copied, dir)?;
            }
            if *module == CHARTS {
                charts::fetch(dir)?;
            }
            File::create(dir.join(COMPLETE))?;
        }
        Ok(programs)
    }

    fn output(&self, build: &Build) -> PathBuf {
        self.file(build.module, &build.output)
    }

    /// What was built or copied of a module.
    pub(crate) fn file(&self, module: &str, name: &str) -> PathBuf {
        self.modules[module].join(name)
    }

    /// All of Kubernetes at one version.
    pub fn kubebox(&self, version: KubeVersion) -> PathBuf {
        self.modules["kubernetes"].join(version.program())
    }

    /// The Helm before Helm, whose releases are adopted.
    pub fn helm3(&self) -> PathBuf {
        self.modules["helm3"].join("helm3")
    }

    /// Helm.
    pub fn helm(&self) -> PathBuf {
        self.modules["helm"].join("helm")
    }

    /// A registry of charts and images.
    pub(crate) fn registry(&self) -> PathBuf {
        self.modules["registry"].join("registry")
    }

    /// A oracle: a small program that answers how a Go library understands what it is given.
    pub fn oracle(&self, name: &str) -> PathBuf {
        self.modules["oracle"].join(name)
    }

    /// One of our own tools.
    pub fn tool(&self, name: &str) -> PathBuf {
        self.modules["tools"].join(name)
    }

    /// What runs in pods: a program or a folder, by its name.
    pub(crate) fn workload(&self, name: &str) -> PathBuf {
        self.modules["workloads"].join(name)
    }

    /// The charts that rendering is tried on, by their names.
    pub fn charts(&self) -> Result<BTreeMap<String, PathBuf>> {
        let dir = &self.modules[CHARTS];
        Ok(charts::names()?.into_iter().map(|name| (name.clone(), dir.join(name))).collect())
    }

    /// A chart that came with its program's module, as a directory.
    pub fn chart(&self, name: &str) -> PathBuf {
        self.modules["workloads"].join("charts").join(name)
    }
}

/// Is no module of Go, but a list of folders of some.
const CHARTS: &str = "charts";

/// Marks a directory in which everything is.
const COMPLETE: &str = "complete";

/// The cache directory for exactly these sources of a module.
fn directory(module: &str) -> Result<PathBuf> {
    let mut files = BTreeMap::new();
    collect(&paths::testbed_sources().join(module), &mut files)?;
    let mut hash = Sha256::new();
    for (path, content) in files {
        for part in [path.as_bytes(), &content] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
    }
    for build in builds().into_iter().filter(|build| build.module == module) {
        hash.update(format!("{build:?}\n"));
    }
    let name = format!("{module}-{}", &hex(&hash.finalize())[..16]);
    Ok(paths::cache()?.join("testbed").join(name))
}

fn collect(dir: &Path, into: &mut BTreeMap<String, Vec<u8>>) -> Result<()> {
    for entry in fs::read_dir(dir).with_context(|| format!("read {}", dir.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, into)?;
        } else if path.extension().is_some_and(|end| ["go", "mod", "sum", "txt"].iter().any(|source| end == *source)) {
            let name = path.strip_prefix(paths::testbed_sources())?.to_string_lossy().into_owned();
            into.insert(name, fs::read(&path)?);
        }
    }
    Ok(())
}
