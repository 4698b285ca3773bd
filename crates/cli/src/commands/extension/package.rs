//! `fitout extension package`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use fitout_authoring::archive;
use fitout_model::{Digest, parse_definition, read_packages};
use serde_json::json;

use crate::Answer;
use crate::failure::{Failure, problem};
use crate::file_tree;
use crate::output::Format;

const DEFINITION: &str = "definition.yaml";

#[derive(Args)]
pub(crate) struct Package {
    /// The directory of a definition, or of a catalog
    directory: PathBuf,
    /// Write the archive into this directory
    #[arg(long, value_name = "DIRECTORY", default_value = ".")]
    output_dir: PathBuf,
}

pub(super) fn run(arguments: &Package, output: Format) -> Result<Answer, Failure> {
    let (name, archive) = build(&arguments.directory)?;
    let digest = Digest::of(&archive);
    let written = file_tree::write(&arguments.output_dir, &[(format!("{name}.tar.gz"), archive)].into())?;
    Ok(packaged(&written, &digest, output).into())
}

/// The archive of a definition or a catalog, and its name.
pub(super) fn build(directory: &Path) -> Result<(String, Vec<u8>), Failure> {
    let files = file_tree::read(directory)?;
    let (name, files) = match files.get(DEFINITION) {
        Some(definition) => single(definition, &files)?,
        None => (directory_name(directory)?, catalog(files)),
    };
    let packages = read_packages(files.clone());
    if let Some((_, found)) = packages.problems.into_iter().next() {
        return Err(problem(found));
    }
    if packages.packages.is_empty() {
        let message = format!("{} contains no {DEFINITION}", directory.display());
        return Err(Failure::new(message).hint("give the directory of a definition or of a catalog"));
    }
    let archive = archive(&files).map_err(|error| Failure::new(format!("cannot archive {name}: {error}")))?;
    Ok((name, archive))
}

/// The answer of a command that has written an archive.
pub(crate) fn packaged(written: &[String], digest: &Digest, output: Format) -> String {
    let path = written.first().map(String::as_str).unwrap_or_default();
    if output.is_table() {
        return format!("wrote {path}\ndigest {}\n", digest.as_str());
    }
    output.value(&json!({ "file": path, "digest": digest.as_str() }))
}

/// The files of one definition, with their paths in a catalog.
fn single(
    definition: &[u8],
    files: &BTreeMap<String, Vec<u8>>,
) -> Result<(String, BTreeMap<String, Vec<u8>>), Failure> {
    let text = String::from_utf8_lossy(definition);
    let document = fitout_go_yaml::from_yaml_strict(&text)
        .map_err(|error| Failure::new(format!("{DEFINITION}: {error}")).hint("fix the YAML"))?;
    let read = parse_definition(&document).map_err(problem)?;
    let place = format!("{}/{}", read.extension, read.version);
    let placed = files.iter().map(|(path, content)| (format!("{place}/{path}"), content.clone()));
    Ok((format!("{}-{}", read.extension, read.version), placed.collect()))
}

/// The file of a catalog with the states of versions.
const STATES: &str = "states.yaml";

/// The files of the definitions and the states of versions, without other files such as a readme.
fn catalog(files: BTreeMap<String, Vec<u8>>) -> BTreeMap<String, Vec<u8>> {
    files
        .into_iter()
        .filter(|(path, _)| {
            let is_of_version = path.matches('/').count() >= 2 && !path.starts_with('.');
            is_of_version || path == STATES
        })
        .collect()
}

fn directory_name(directory: &Path) -> Result<String, Failure> {
    let path = directory.canonicalize();
    let path = path.map_err(|error| Failure::new(format!("cannot read {}: {error}", directory.display())))?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    name.ok_or_else(|| Failure::new(format!("{} has no name", directory.display())))
}
