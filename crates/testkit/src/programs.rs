//! The testbed's programs: built once from their Go modules, found by the hash of their sources.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use fitout_model::hex;
use sha2::{Digest, Sha256};

use crate::KubeVersion;
use crate::charts;
use crate::flux;
use crate::golang;
use crate::paths;

/// One `go build`: the module, the package and the output file. Its `Debug` output is part of the cache key.
#[derive(Debug)]
pub(crate) struct Build {
    pub(crate) module: &'static str,
    pub(crate) package: &'static str,
    pub(crate) output: String,
    /// String variables set at link time.
    pub(crate) variables: Vec<(&'static str, String)>,
}

/// A folder of a Go module that tests use unchanged.
pub(crate) struct Copied {
    pub(crate) module: &'static str,
    pub(crate) source: &'static str,
    pub(crate) folder: &'static str,
    pub(crate) output: &'static str,
}

/// The programs, charts and files of the testbed in the cache.
///
/// The parts that every cluster needs are built by `cargo xtask up` and `cargo xtask testbed`. All others are built by the
/// first test that needs them.
#[derive(Clone, Debug)]
pub struct Programs {
    /// A directory for each module, so that a change to one rebuilds only that one.
    modules: BTreeMap<&'static str, PathBuf>,
}

/// A part of the testbed: outputs of one Go module that are needed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The reaper and the stand-in.
    Tools,
    /// The newest Kubernetes, which is also `kubectl`.
    Kubernetes,
    /// The older Kubernetes versions.
    OlderKubernetes,
    /// Helm 4.
    Helm,
    /// Helm 3.
    Helm3,
    /// The programs that run in pods, with their charts.
    Workloads,
    /// A registry of charts and images.
    Registry,
    /// The charts that rendering is compared on.
    Charts,
    /// The programs that answer how a Go library understands its input.
    Oracles,
    /// Flux's controller that installs releases.
    HelmController,
    /// Flux's controller that fetches charts.
    SourceController,
}

impl Part {
    /// The parts of a cluster with a node, with the tools to work with it.
    pub const CLUSTER: [Self; 4] = [Self::Tools, Self::Kubernetes, Self::Helm, Self::Workloads];
    /// Flux, which only a benchmark needs.
    pub const FLUX: [Self; 2] = [Self::HelmController, Self::SourceController];
    /// All parts that tests need.
    pub const ALL: [Self; 9] = [
        Self::Tools,
        Self::Kubernetes,
        Self::Helm,
        Self::Workloads,
        Self::OlderKubernetes,
        Self::Oracles,
        Self::Helm3,
        Self::Registry,
        Self::Charts,
    ];

    fn module(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Kubernetes | Self::OlderKubernetes => "kubernetes",
            Self::Helm => "helm",
            Self::Helm3 => "helm3",
            Self::Workloads => "workloads",
            Self::Registry => "registry",
            Self::Charts => CHARTS,
            Self::Oracles => "oracle",
            Self::HelmController => flux::HELM_CONTROLLER,
            Self::SourceController => flux::SOURCE_CONTROLLER,
        }
    }

    fn has(self, build: &Build) -> bool {
        let newest = || build.output == KubeVersion::NEWEST.program();
        build.module == self.module()
            && match self {
                Self::Kubernetes => newest(),
                Self::OlderKubernetes => !newest(),
                _ => true,
            }
    }

    fn copies(self) -> impl Iterator<Item = &'static Copied> {
        COPIES.iter().filter(move |copied| copied.module == self.module())
    }
}

/// A step of the build, for a progress bar.
#[derive(Clone, Debug)]
pub enum Progress {
    /// The build of a program begins.
    Begin {
        /// The program.
        name: String,
        /// Its place among the programs to build, from 1.
        index: usize,
        /// The number of programs to build.
        of: usize,
        /// The number of packages it is linked from. Packages in Go's cache are not compiled again.
        packages: u64,
    },
    /// A package of the program has been compiled.
    Compiled,
    /// The program is built.
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
        plain("oracle", "./index", "oracle-index"),
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
    // The newest first: it compiles all packages, the others are only linked.
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
    fn locate() -> Result<Self> {
        let modules = Part::ALL.into_iter().chain(Part::FLUX).map(Part::module);
        Ok(Self { modules: modules.map(|module| Ok((module, directory(module)?))).collect::<Result<_>>()? })
    }

    /// The programs, where these parts have been built from exactly these sources.
    pub fn find(parts: &[Part]) -> Result<Option<Self>> {
        let programs = Self::locate()?;
        Ok(parts.iter().all(|part| programs.is_built(*part)).then_some(programs))
    }

    /// The programs, for a test: an error says how to build them where a part of a cluster is missing.
    pub fn get() -> Result<Self> {
        Self::find(&Part::CLUSTER)?.context("the testbed is not built: run `cargo xtask testbed`")
    }

    /// Builds what is missing of these parts. One build runs at a time on a machine, others wait for it. A build that is
    /// interrupted loses little: Go keeps what it has compiled.
    pub fn build(parts: &[Part], progress: impl FnMut(Progress)) -> Result<Self> {
        let programs = Self::locate()?;
        programs.build_missing(|build| parts.iter().any(|part| part.has(build)), parts, progress)?;
        Ok(programs)
    }

    fn build_missing(
        &self,
        wanted: impl Fn(&Build) -> bool,
        parts: &[Part],
        mut progress: impl FnMut(Progress),
    ) -> Result<()> {
        let testbed = paths::cache()?.join("testbed");
        fs::create_dir_all(&testbed).with_context(|| format!("create {}", testbed.display()))?;
        let lock = File::create(testbed.join("lock"))?;
        lock.lock()?;
        let mut missing = builds();
        missing.retain(|build| wanted(build) && !self.output(build).exists());
        for (index, build) in missing.iter().enumerate() {
            fs::create_dir_all(&self.modules[build.module])?;
            progress(Progress::Begin {
                name: build.output.clone(),
                index: index + 1,
                of: missing.len(),
                packages: golang::count_packages(build)?,
            });
            golang::build(build, &self.output(build), || progress(Progress::Compiled))?;
            progress(Progress::Done);
        }
        for part in parts.iter().filter(|part| !self.is_copied(**part)) {
            let dir = &self.modules[part.module()];
            fs::create_dir_all(dir)?;
            for copied in part.copies() {
                golang::copy(copied, dir)?;
            }
            if *part == Part::Charts {
                charts::fetch(dir)?;
            }
            File::create(dir.join(COPIED))?;
        }
        Ok(())
    }

    fn is_built(&self, part: Part) -> bool {
        builds().iter().filter(|build| part.has(build)).all(|build| self.output(build).exists()) && self.is_copied(part)
    }

    /// Whether the files of a part that are not built but copied are complete.
    fn is_copied(&self, part: Part) -> bool {
        let copies = part == Part::Charts || part.copies().next().is_some();
        !copies || self.modules[part.module()].join(COPIED).exists()
    }

    fn output(&self, build: &Build) -> PathBuf {
        self.modules[build.module].join(&build.output)
    }

    /// An output of a part, whether it has been built or not.
    pub(crate) fn file(&self, part: Part, name: &str) -> PathBuf {
        self.modules[part.module()].join(name)
    }

    /// A program, built first where it is missing.
    fn built(&self, part: Part, name: &str) -> Result<PathBuf> {
        let path = self.file(part, name);
        if !path.exists() {
            eprintln!("building {name} of the testbed");
            self.build_missing(|build| part.has(build) && build.output == name, &[], |_| ())?;
            ensure!(path.exists(), "testbed/{} has no program {name}", part.module());
        }
        Ok(path)
    }

    /// Kubernetes at one version: API server, controllers, kubelet and kubectl in one program. An older
    /// version exists once a cluster of that version has been started.
    pub fn kubebox(&self, version: KubeVersion) -> PathBuf {
        self.file(Part::Kubernetes, &version.program())
    }

    /// Builds a Kubernetes version where it is missing.
    pub(crate) fn ensure_kubernetes(&self, version: KubeVersion) -> Result<()> {
        let part = if version == KubeVersion::NEWEST { Part::Kubernetes } else { Part::OlderKubernetes };
        self.built(part, &version.program()).map(drop)
    }

    /// Helm 3, whose releases are adopted.
    pub fn helm3(&self) -> Result<PathBuf> {
        self.built(Part::Helm3, "helm3")
    }

    /// Helm 4.
    pub fn helm(&self) -> PathBuf {
        self.file(Part::Helm, "helm")
    }

    /// A registry of charts and images.
    pub(crate) fn registry(&self) -> Result<PathBuf> {
        self.built(Part::Registry, "registry")
    }

    /// An oracle: a program that answers how a Go library understands its input.
    pub fn oracle(&self, name: &str) -> Result<PathBuf> {
        self.built(Part::Oracles, name)
    }

    /// One of our own tools.
    pub fn tool(&self, name: &str) -> PathBuf {
        self.file(Part::Tools, name)
    }

    /// A program or a folder of those that run in pods.
    pub(crate) fn workload(&self, name: &str) -> PathBuf {
        self.file(Part::Workloads, name)
    }

    /// The charts that rendering is compared on, by name.
    pub fn charts(&self) -> Result<BTreeMap<String, PathBuf>> {
        if !self.is_copied(Part::Charts) {
            self.build_missing(|_| false, &[Part::Charts], |_| ())?;
        }
        Ok(charts::names()?.into_iter().map(|name| (name.clone(), self.file(Part::Charts, &name))).collect())
    }

    /// A chart from the module of a workload, as a directory.
    pub fn chart(&self, name: &str) -> PathBuf {
        self.workload("charts").join(name)
    }
}

/// Not a Go module, but a list of folders of Go modules.
const CHARTS: &str = "charts";

/// Marks a directory whose copied files are complete. A program is complete when it exists.
const COPIED: &str = "complete";

/// The directory of a module in the cache, by the hash of its sources and of its builds.
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn outputs(parts: &[Part]) -> BTreeSet<String> {
        let all = builds().into_iter().filter(|build| parts.iter().any(|part| part.has(build)));
        all.map(|build| build.output).collect()
    }

    #[test]
    fn a_cluster_needs_one_kubernetes_and_no_oracle() {
        let expected = ["helm", "kubebox-1.36", "metrics-server", "podcli", "podinfo", "reaper", "standin", "dns"];
        assert_eq!(outputs(&Part::CLUSTER), expected.map(str::to_owned).into());
    }

    #[test]
    fn every_program_belongs_to_exactly_one_part() {
        let parts: Vec<Part> = Part::ALL.into_iter().chain(Part::FLUX).collect();
        for build in builds() {
            assert_eq!(parts.iter().filter(|part| part.has(&build)).count(), 1, "{build:?}");
        }
    }

    /// Its text is part of the cache key: a change of it has every machine build the testbed again.
    #[test]
    fn the_text_of_a_build_stays_the_same() {
        let all = builds();
        let helm3 = all.iter().find(|build| build.output == "helm3").map(|build| format!("{build:?}"));
        assert_eq!(
            helm3.as_deref(),
            Some(
                r#"Build { module: "helm3", package: "helm.sh/helm/v3/cmd/helm", output: "helm3", variables: [("helm.sh/helm/v3/internal/version.version", "v3.21.4")] }"#
            )
        );
    }
}
