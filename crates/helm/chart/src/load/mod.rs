//! Loading: from files to a chart.

mod archive;
mod content;
mod directory;
mod glob;
mod ignore;
mod path;

use std::collections::BTreeMap;
use std::rc::Rc;

pub use ignore::Rules;

pub(crate) use glob::matches;
pub(crate) use path::clean;

use crate::Warnings;
use crate::chart::{Chart, File};
use crate::error::Error;
use crate::metadata::{self, Draft, Metadata};
use crate::values;

/// The most bytes that the files of a chart may have: 100 MiB.
pub(crate) const MAX_SIZE: usize = 100 << 20;

const BOM: &[u8] = b"\xEF\xBB\xBF";

impl Chart {
    /// The chart of these files, with paths from its top, in this order.
    pub fn from_files(files: Vec<File>, warnings: &mut Warnings) -> Result<Self, Error> {
        if let Some(file) = files.iter().find(|file| &*file.name == "Chart.yaml") {
            supported(&file.data)?;
        }
        assembled(files, warnings)
    }

    /// The chart of a directory's files, with paths from there: what `.helmignore` says is left out.
    pub fn from_directory(files: Vec<File>, warnings: &mut Warnings) -> Result<Self, Error> {
        Self::from_files(directory::chosen(files)?, warnings)
    }

    /// The chart in an archive, which is a gzipped tar. A layer of an OCI artifact is one.
    pub fn from_archive(bytes: &[u8], warnings: &mut Warnings) -> Result<Self, Error> {
        let files = archive::files(bytes).map_err(|error| match error {
            archive::Problem::NoGzip(error) => error.detailing("stream does not appear to be a valid chart file"),
            archive::Problem::Other(error) => error.while_doing("unable to load chart archive"),
        })?;
        Self::from_archive_files(files, warnings)
    }

    /// The chart in an archive of this name, which is named where it is refused.
    pub fn from_archive_file(name: &str, bytes: &[u8], warnings: &mut Warnings) -> Result<Self, Error> {
        content::ensure_archive(name, bytes)?;
        let files = archive::files(bytes).map_err(|error| match error {
            archive::Problem::NoGzip(error) => {
                error.detailing(&format!("file '{name}' does not appear to be a valid chart file"))
            }
            archive::Problem::Other(_) => Error::new("unable to load chart archive"),
        })?;
        Self::from_archive_files(files, warnings)
    }

    fn from_archive_files(files: Vec<File>, warnings: &mut Warnings) -> Result<Self, Error> {
        if !files.iter().any(|file| &*file.name == "Chart.yaml") {
            return Err(Error::new("unable to detect chart version, no Chart.yaml found"));
        }
        Self::from_files(files, warnings)
    }
}

/// Whether a `Chart.yaml` is of a version that can be read.
fn supported(chart_yaml: &[u8]) -> Result<(), Error> {
    let version = metadata::detect_api_version(chart_yaml);
    match &*version.map_err(|error| error.while_doing("cannot load Chart.yaml"))? {
        "v1" | "v2" | "" => Ok(()),
        _ => Err(Error::new("unsupported chart version")),
    }
}

fn assembled(files: Vec<File>, warnings: &mut Warnings) -> Result<Chart, Error> {
    let mut chart = parts(files, warnings)?;
    chart.path = chart.metadata.name.as_str().into();
    chart.settle();
    Ok(chart)
}

/// What is known while the files are gone through.
#[derive(Default)]
struct Parts {
    draft: Option<Draft>,
    lock: Option<metadata::Lock>,
    values: Option<Rc<fitout_go_template::Map>>,
    schema: Option<fitout_go_template::Text>,
    templates: Vec<File>,
    files: Vec<File>,
    /// The files of each entry of `charts/`, with paths from there.
    charts: BTreeMap<String, Vec<File>>,
}

fn parts(files: Vec<File>, warnings: &mut Warnings) -> Result<Chart, Error> {
    let mut parts = Parts::default();
    for file in files.iter().filter(|file| &*file.name == "Chart.yaml") {
        let draft = parts.draft.get_or_insert_default();
        draft.read(&file.data).map_err(|error| error.while_doing("cannot load Chart.yaml"))?;
        if draft.api_version.is_empty() {
            "v1".clone_into(&mut draft.api_version);
        }
    }
    for file in &files {
        parts.sort(file, warnings)?;
    }
    let Some(draft) = parts.draft else { return Err(Error::new("Chart.yaml file is missing")) };
    let metadata = draft.checked()?;
    let dependencies = subcharts(parts.charts, &metadata, warnings)?;
    Ok(Chart {
        metadata,
        lock: parts.lock,
        values: parts.values.unwrap_or_else(values::empty),
        schema: parts.schema,
        templates: parts.templates.into(),
        files: parts.files.into(),
        raw: files.into(),
        dependencies,
        path: "".into(),
        root: true,
        parsed: Rc::default(),
    })
}

impl Parts {
    /// Puts a file where it belongs.
    fn sort(&mut self, file: &File, warnings: &mut Warnings) -> Result<(), Error> {
        let name = &*file.name;
        let cannot_load = |error: Error| error.while_doing(&format!("cannot load {name}"));
        match name {
            "Chart.yaml" => {}
            "Chart.lock" => self.lock = metadata::lock(&file.data).map_err(cannot_load)?,
            "values.yaml" => self.values = Some(values::load(&file.data).map_err(cannot_load)?),
            "values.schema.json" => self.schema = Some(file.data.clone()),
            "requirements.yaml" => {
                if !self.is_v1() {
                    warnings.push(
                        "Warning: Dependencies are handled in Chart.yaml since apiVersion \"v2\". We recommend migrating \
                         dependencies to Chart.yaml."
                            .to_owned(),
                    );
                }
                self.draft.get_or_insert_default().read(&file.data).map_err(cannot_load)?;
                self.keep_if_v1(file);
            }
            "requirements.lock" => {
                self.lock = metadata::lock(&file.data).map_err(cannot_load)?;
                if !self.is_v1() {
                    warnings.push(
                        "Warning: Dependency locking is handled in Chart.lock since apiVersion \"v2\". We recommend \
                         migrating to Chart.lock."
                            .to_owned(),
                    );
                }
                self.keep_if_v1(file);
            }
            _ if name.starts_with("templates/") => self.templates.push(file.clone()),
            _ => match name.strip_prefix("charts/") {
                Some(inner) if !is_provenance(name) => {
                    let entry = inner.split('/').next().unwrap_or(inner);
                    let files = self.charts.entry(entry.to_owned()).or_default();
                    files.push(File { name: inner.into(), data: file.data.clone() });
                }
                _ => self.files.push(file.clone()),
            },
        }
        Ok(())
    }

    /// Whether it is of the first version, which knows `requirements.yaml`. A chart without metadata is of none.
    fn is_v1(&mut self) -> bool {
        self.draft.get_or_insert_default().api_version == "v1"
    }

    fn keep_if_v1(&mut self, file: &File) {
        if self.is_v1() {
            self.files.push(file.clone());
        }
    }
}

fn is_provenance(name: &str) -> bool {
    path::extension(name) == ".prov"
}

fn subcharts(
    entries: BTreeMap<String, Vec<File>>,
    around: &Metadata,
    warnings: &mut Warnings,
) -> Result<Vec<Chart>, Error> {
    let mut charts = Vec::new();
    for (entry, files) in entries {
        if entry.starts_with(['_', '.']) {
            continue;
        }
        let parent = &around.name;
        let loaded = if path::extension(&entry) == ".tgz" {
            let file = &files[0];
            if *file.name != *entry {
                let got = &file.name;
                let problem = format!("error unpacking subchart tar in {parent}: expected {entry}, got {got}");
                return Err(Error::new(problem));
            }
            archive::files(&file.data).map_err(archive::Problem::into_error).and_then(|files| parts(files, warnings))
        } else {
            let inside = |file: &File| {
                let (_, name) = file.name.split_once('/')?;
                Some(File { name: name.into(), data: file.data.clone() })
            };
            values::with_stack(|| parts(files.iter().filter_map(inside).collect(), warnings))
        };
        let what = format!("error unpacking subchart {entry} in {parent}");
        charts.push(loaded.map_err(|error| error.while_doing(&what))?);
    }
    Ok(charts)
}

/// Without the mark of the byte order that some editors put before everything.
fn without_bom(data: &[u8]) -> &[u8] {
    data.strip_prefix(BOM).unwrap_or(data)
}
