//! `fitout extension sideload`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use fitout_api::{ExtensionDefinition, FILES_SECRET, SIDELOADED};
use fitout_catalogs::{LocalChart, chart_package};
use fitout_helm_chart::{Chart, Warnings};
use fitout_model::{Definition, FileMap, pack_files, parse_definition};
use flate2::Compression;
use flate2::write::GzEncoder;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::ResourceExt;
use kube::api::{DeleteParams, Patch, PatchParams};
use serde_json::json;

use crate::Answer;
use crate::connection::{FIELD_MANAGER, Session};
use crate::failure::{Failure, refused};

/// The key of the files in their Secret.
const FILES: &str = "files";

/// The bytes that fit into a Secret, with room for its metadata.
const LIMIT: usize = 1_000_000;

#[derive(Args)]
pub(crate) struct Sideload {
    /// A definition, the directory of a definition, or a chart: a directory or an archive
    path: PathBuf,
    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
}

pub(crate) async fn run(session: &Session, sideload: &Sideload) -> Result<Answer, Failure> {
    let path = &sideload.path;
    let (definition, files) = read(path)?;
    let name = format!("{}-{}", definition.extension, definition.version).replace('+', "-").to_lowercase();
    let namespace = &session.namespace;
    let object = json!({
        "apiVersion": "fitout.dev/v1alpha1",
        "kind": "ExtensionDefinition",
        "metadata": { "name": name, "namespace": namespace },
        "spec": definition,
    });
    let params = PatchParams { dry_run: sideload.dry_run, ..PatchParams::apply(FIELD_MANAGER) };
    let secret = secret(&name, namespace, &files)?;
    if let Some(secret) = &secret {
        let doing = format!("write Secret {namespace}/{name}");
        let applied = session.own::<Secret>().patch(&name, &params.clone().force(), &Patch::Apply(secret)).await;
        applied.map_err(|error| refused(&doing, &error))?;
    }
    let applied = session.own::<ExtensionDefinition>().patch(&name, &params, &Patch::Apply(&object)).await;
    let applied = match applied {
        Ok(applied) => applied,
        Err(error) => {
            // The files are of no use without their definition, unless it exists already.
            let exists = session.own::<ExtensionDefinition>().get_opt(&name).await;
            if secret.is_some() && !sideload.dry_run && matches!(exists, Ok(None)) {
                let _ = session.own::<Secret>().delete(&name, &DeleteParams::default()).await;
            }
            let failure = refused(&format!("write ExtensionDefinition {namespace}/{name}"), &error);
            return Err(failure.hint("a definition never changes: raise its version, or delete the old one first"));
        }
    };
    if sideload.dry_run {
        eprintln!("dry run: nothing was written");
        return Ok(session.output.value(&object).into());
    }
    let text = || {
        format!(
            "sideloaded {} {}: only organization {} can install it, with `fitout install {} --catalog {SIDELOADED} \
             --cluster CLUSTER`\n",
            definition.extension, definition.version, session.organization, definition.extension
        )
    };
    debug_assert_eq!(applied.name_any(), name);
    Ok(session.output.object(&applied, text)?.into())
}

/// The definition and the files beside it.
fn read(path: &Path) -> Result<(Definition, FileMap), Failure> {
    let cannot = |error: &dyn std::fmt::Display| Failure::new(format!("cannot read {}: {error}", path.display()));
    let is_chart = path.join("Chart.yaml").is_file()
        || path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(".tgz"));
    if is_chart {
        return chart(path);
    }
    let (folder, file) = if path.is_dir() {
        (path, path.join("definition.yaml"))
    } else {
        (path.parent().unwrap_or(path), path.to_owned())
    };
    let text = fs::read_to_string(&file).map_err(|error| cannot(&error))?;
    let document = fitout_go_yaml::from_yaml_strict(&text).map_err(|error| cannot(&error))?;
    let definition = parse_definition(&document).map_err(|problem| cannot(&problem))?;
    let mut files = FileMap::new();
    if path.is_dir() || needs_files(&definition) {
        collect(folder, "", &mut files).map_err(|error| cannot(&error))?;
        let own = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        files.remove(&own);
    }
    Ok((definition, files))
}

/// Whether a definition names files beside it.
fn needs_files(definition: &Definition) -> bool {
    let chart = definition.helm.as_ref().is_some_and(|helm| helm.repository.is_none());
    chart || definition.manifests.is_some() || definition.parameters.is_some() || definition.logo.is_some()
}

fn collect(folder: &Path, prefix: &str, files: &mut FileMap) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().display());
        // Symbolic links are skipped, because they may lead out of the directory.
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{name}/"), files)?;
        } else if entry.file_type()?.is_file() {
            files.insert(name, fs::read(entry.path())?);
        }
    }
    Ok(())
}

/// The definition of a chart that is in the files beside it.
fn chart(path: &Path) -> Result<(Definition, FileMap), Failure> {
    let cannot = |error: &dyn std::fmt::Display| Failure::new(format!("cannot read {}: {error}", path.display()));
    let mut warnings = Warnings::new();
    let chart: Chart = fitout_environment::load(path, &mut warnings).map_err(|error| cannot(&error))?;
    let metadata = fitout_go_yaml::from_yaml(&chart.metadata.to_yaml()).map_err(|error| cannot(&error))?;
    let mut files = FileMap::new();
    if path.is_dir() {
        collect(path, "chart/", &mut files).map_err(|error| cannot(&error))?;
    } else {
        files.insert("chart".to_owned(), fs::read(path).map_err(|error| cannot(&error))?);
    }
    let chart = LocalChart { folder: format!("{}/", path.display()), metadata, files };
    let (mut package, _) = chart_package(chart).map_err(|problem| cannot(&problem))?;
    // The definition is an object of its own.
    package.files.remove("definition.yaml");
    Ok((package.definition, package.files))
}

/// The Secret with the files; none without any.
fn secret(name: &str, namespace: &str, files: &FileMap) -> Result<Option<Secret>, Failure> {
    if files.is_empty() {
        return Ok(None);
    }
    let tar = pack_files(files.iter().map(|(path, content)| (path.as_str(), content.as_slice())));
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let packed = encoder.write_all(&tar).and_then(|()| encoder.finish());
    let packed = packed.map_err(|error| Failure::new(format!("cannot compress the files: {error}")))?;
    if packed.len() > LIMIT {
        return Err(Failure::new(format!(
            "the files have {} bytes compressed, and {LIMIT} is the limit",
            packed.len()
        ))
        .hint("push the chart to a registry, and add it with `fitout catalog add --helm oci://…`"));
    }
    Ok(Some(Secret {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            namespace: Some(namespace.to_owned()),
            ..ObjectMeta::default()
        },
        type_: Some(FILES_SECRET.to_owned()),
        data: Some([(FILES.to_owned(), ByteString(packed))].into()),
        ..Secret::default()
    }))
}
