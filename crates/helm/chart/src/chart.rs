//! A chart, as it is once it has been loaded.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use fitout_go_template::{Map, Parsed, Text};

use crate::metadata::{Lock, Metadata};

/// A file of a chart: its path within the chart, with slashes, and what is in it. A clone shares both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// The path.
    pub name: Rc<str>,
    /// The content.
    pub data: Text,
}

impl File {
    /// A file.
    pub fn new(name: impl Into<Rc<str>>, data: impl Into<Text>) -> Self {
        Self { name: name.into(), data: data.into() }
    }
}

/// A chart with all the charts that it depends on. A clone shares files, values and what was parsed of them.
#[derive(Clone, Debug)]
pub struct Chart {
    /// What `Chart.yaml` says, and `requirements.yaml` of older charts.
    pub metadata: Metadata,
    /// What `Chart.lock` says.
    pub lock: Option<Lock>,
    /// The defaults. Nobody changes this map: it is shared between copies of a chart.
    pub values: Rc<Map>,
    /// `values.schema.json`.
    pub schema: Option<Text>,
    /// What is in `templates/`, in the order in which it was loaded.
    pub templates: Rc<[File]>,
    /// What is nothing else: in `crds/`, at the top, anywhere.
    pub files: Rc<[File]>,
    /// All files as they came, those of subcharts too.
    pub raw: Rc<[File]>,
    /// The charts in `charts/`, or what is left of them once dependencies have been processed.
    pub dependencies: Vec<Chart>,
    /// See [`Chart::full_path`].
    pub(crate) path: Rc<str>,
    pub(crate) root: bool,
    /// The templates that have been parsed, by the paths they had then.
    pub(crate) parsed: Rc<RefCell<HashMap<String, Parsed>>>,
}

/// A file of `crds/`, of a chart or of one it depends on.
#[derive(Clone, Debug)]
pub struct Crd {
    /// The path as it is shown: with that of the chart.
    pub filename: String,
    /// The file.
    pub file: File,
}

impl Chart {
    /// The name. A chart with an alias has that for a name.
    pub fn name(&self) -> &str {
        &self.metadata.name
    }

    /// Where it is among the charts: `parent/charts/name`. Templates are named after it.
    ///
    /// As in Helm, what is inside of a chart with an alias and was never declared by anyone keeps the path it had
    /// before.
    pub fn full_path(&self) -> &Rc<str> {
        &self.path
    }

    /// Whether it is nobody's dependency.
    pub fn is_root(&self) -> bool {
        self.root
    }

    /// Whether it has only definitions for other charts.
    pub fn is_library(&self) -> bool {
        self.metadata.kind.eq_ignore_ascii_case("library")
    }

    /// `values.yaml` as it is written.
    pub fn values_text(&self) -> Option<Cow<'_, str>> {
        self.raw.iter().find(|file| &*file.name == "values.yaml").map(|file| file.data.to_str())
    }

    /// What its documentation says.
    pub fn readme(&self) -> Option<Cow<'_, str>> {
        let known = |file: &&File| ["readme.md", "readme.txt", "readme"].contains(&&*file.name.to_ascii_lowercase());
        self.files.iter().find(known).map(|file| file.data.to_str())
    }

    /// What is in `crds/`, here and in all dependencies.
    pub fn crds(&self) -> Vec<Crd> {
        let mut found = Vec::new();
        self.collect_crds(&mut found);
        found
    }

    fn collect_crds(&self, found: &mut Vec<Crd>) {
        let manifests = self.files.iter().filter(|file| file.name.starts_with("crds/") && is_manifest(&file.name));
        found.extend(manifests.map(|file| Crd {
            filename: crate::load::clean(&format!("{}/{}", self.path, file.name)),
            file: file.clone(),
        }));
        for dependency in &self.dependencies {
            dependency.collect_crds(found);
        }
    }

    /// Makes these the dependencies, and tells them where they are.
    pub(crate) fn adopt(&mut self, dependencies: Vec<Chart>) {
        self.dependencies = dependencies;
        for dependency in &mut self.dependencies {
            dependency.root = false;
            dependency.path = format!("{}/charts/{}", self.path, dependency.metadata.name).into();
        }
    }

    /// Tells all charts below where they are.
    pub(crate) fn settle(&mut self) {
        let dependencies = std::mem::take(&mut self.dependencies);
        self.adopt(dependencies);
        self.dependencies.iter_mut().for_each(Self::settle);
    }
}

fn is_manifest(name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or(name);
    let extension = file.rsplit_once('.').map_or("", |(_, extension)| extension);
    ["yaml", "yml", "json"].iter().any(|known| extension.eq_ignore_ascii_case(known))
}
