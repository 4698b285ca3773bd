//! `fitout extension sideload`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use fitout_api::{ExtensionDefinition, ExtensionDefinitionSpec, FILES_SECRET, SIDELOADED};
use fitout_catalogs::{LocalChart, chart_package};
use fitout_helm_chart::{Chart, Warnings};
use fitout_model::{ArchiveLimits, Definition, FileMap, pack_files, parse_definition, unpack_files};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::ResourceExt;
use kube::api::{DeleteParams, PostParams, Preconditions};
use serde_json::json;

use crate::Answer;
use crate::connection::{FIELD_MANAGER, Session};
use crate::failure::{Failure, refused};

/// The key of the files in their Secret.
const FILES: &str = "files";

/// The bytes that fit into a Secret, with room for its metadata.
const LIMIT: usize = 1_000_000;

/// The limits of the files in a Secret.
const STORED: ArchiveLimits = ArchiveLimits { files: 10_000, file: 64 << 20, total: 64 << 20 };

#[derive(Args)]
pub(crate) struct Sideload {
    /// A definition, the directory of a definition, or a chart: a directory or an archive
    path: PathBuf,
    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
}

/// Offers a definition. What is offered never changes, so the files are written before the definition, neither of them over
/// something else, and nothing is written if the API server would refuse the definition.
pub(crate) async fn run(session: &Session, sideload: &Sideload) -> Result<Answer, Failure> {
    let (definition, files) = read(&sideload.path)?;
    let what = format!("{} {}", definition.extension, definition.version);
    let name = format!("{}-{}", definition.extension, definition.version).replace('+', "-").to_lowercase();
    let namespace = &session.namespace;
    let (definitions, secrets) = (session.own::<ExtensionDefinition>(), session.own::<Secret>());
    let reading = |error| refused(&format!("read what is sideloaded as {namespace}/{name}"), &error);
    let live = definitions.get_opt(&name).await.map_err(reading)?;
    let stored = secrets.get_opt(&name).await.map_err(reading)?;
    let stored = stored.filter(|secret| secret.type_.as_deref() == Some(FILES_SECRET));
    if live.as_ref().is_some_and(|live| live.spec.0 != definition) {
        return Err(taken(&what, "another definition"));
    }
    let has_same_files =
        stored.as_ref().map_or(files.is_empty(), |secret| stored_files(secret).as_ref() == Some(&files));
    if !has_same_files && (live.is_some() || stored.is_some()) {
        return Err(taken(&what, "other files"));
    }
    if let Some(live) = live {
        return Ok(session.output.object(&live, || format!("{what} is sideloaded already\n"))?.into());
    }

    let params = |dry_run| PostParams { dry_run, field_manager: Some(FIELD_MANAGER.to_owned()) };
    let metadata = ObjectMeta { name: Some(name.clone()), namespace: Some(namespace.clone()), ..ObjectMeta::default() };
    let secret = if stored.is_none() { secret(metadata.clone(), &files)? } else { None };
    let object = ExtensionDefinition { metadata, spec: ExtensionDefinitionSpec(definition.clone()), status: None };
    let writing = |error| refused(&format!("write ExtensionDefinition {namespace}/{name}"), &error);
    definitions.create(&params(true), &object).await.map_err(writing)?;
    let mut written = None;
    if let Some(secret) = secret {
        let created = secrets.create(&params(sideload.dry_run), &secret).await;
        written = Some(created.map_err(|error| refused(&format!("write Secret {namespace}/{name}"), &error))?);
    }
    if sideload.dry_run {
        eprintln!("dry run: nothing was written");
        return Ok(session.output.value(&json!(object)).into());
    }
    let created = match definitions.create(&params(false), &object).await {
        Ok(created) => created,
        Err(error) => {
            // The files are of no use without their definition, unless it was written all the same.
            if let Some(secret) = written
                && matches!(definitions.get_opt(&name).await, Ok(None))
            {
                let preconditions = Some(Preconditions { uid: secret.uid(), resource_version: None });
                let _ = secrets.delete(&name, &DeleteParams { preconditions, ..DeleteParams::default() }).await;
            }
            return Err(writing(error));
        }
    };
    let text = || {
        format!(
            "sideloaded {what}: only organization {} can install it, with `fitout install {} --catalog {SIDELOADED} \
             --cluster CLUSTER`\n",
            session.organization, definition.extension
        )
    };
    Ok(session.output.object(&created, text)?.into())
}

/// The error for a version that is sideloaded with something else.
fn taken(what: &str, with: &str) -> Failure {
    Failure::new(format!("{what} is already sideloaded with {with}")).hint("raise the version")
}

/// The files in a Secret; none if they cannot be read.
fn stored_files(secret: &Secret) -> Option<FileMap> {
    let packed = secret.data.as_ref()?.get(FILES)?;
    unpack_files(GzDecoder::new(packed.0.as_slice()), &STORED).ok()
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
fn secret(metadata: ObjectMeta, files: &FileMap) -> Result<Option<Secret>, Failure> {
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
        metadata,
        type_: Some(FILES_SECRET.to_owned()),
        data: Some([(FILES.to_owned(), ByteString(packed))].into()),
        immutable: Some(true),
        ..Secret::default()
    }))
}
