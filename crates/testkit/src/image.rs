//! Container images, built from programs without a container engine.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use fitout_model::hex;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::Programs;

/// A container image with one layer.
#[derive(Clone, Debug)]
pub struct Image {
    /// The name that pods use.
    pub reference: String,
    /// Files and folders of this machine, and their paths in the image.
    pub files: Vec<(PathBuf, String)>,
    /// The program and its first arguments.
    pub entrypoint: Vec<String>,
    /// The working directory.
    pub directory: String,
    /// The user, by number, because the image has no list of users. Restricted pods require one that is not root.
    pub user: u32,
}

/// The behaviour of an image that stands in for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StandIn {
    /// Answers every probe.
    Serves,
    /// Exits with 0 at once, as a Job.
    Exits,
}

impl Image {
    fn of(reference: &str, files: &[(PathBuf, &str)], entrypoint: &[&str]) -> Self {
        Self {
            reference: reference.to_owned(),
            files: files.iter().map(|(from, to)| (from.clone(), (*to).to_owned())).collect(),
            entrypoint: entrypoint.iter().map(|&word| word.to_owned()).collect(),
            directory: "/".to_owned(),
            user: 1000,
        }
    }

    /// The pause image, which every pod has.
    pub fn pause(programs: &Programs) -> Self {
        Self::of("localhost/pause:1", &[(programs.tool("standin"), "standin")], &["/standin", "pause"])
    }

    /// CoreDNS.
    pub fn dns(programs: &Programs) -> Self {
        Self::of("localhost/coredns:1", &[(programs.workload("dns"), "coredns")], &["/coredns"])
    }

    /// podinfo with podcli, under the name in its chart.
    pub fn podinfo(programs: &Programs) -> Self {
        let files = [
            (programs.workload("podinfo"), "home/app/podinfo"),
            (programs.workload("podcli"), "usr/local/bin/podcli"),
            (programs.workload("podinfo-ui"), "home/app/ui"),
        ];
        let image = Self::of("ghcr.io/stefanprodan/podinfo:6.9.2", &files, &["./podinfo"]);
        Self { directory: "/home/app".to_owned(), ..image }
    }

    /// metrics-server, under the name in its chart.
    pub fn metrics_server(programs: &Programs) -> Self {
        // The chart in the module of v0.9.0 still names the version before.
        let reference = "registry.k8s.io/metrics-server/metrics-server:v0.8.1";
        Self::of(reference, &[(programs.workload("metrics-server"), "metrics-server")], &["/metrics-server"])
    }

    /// The stand-in, under the name of the image that it replaces.
    pub fn stand_in(programs: &Programs, reference: &str, what: StandIn) -> Self {
        let verb = if what == StandIn::Serves { "serve" } else { "exit" };
        Self::of(reference, &[(programs.tool("standin"), "standin")], &["/standin", verb])
    }

    /// The hub, from its program, with the CA certificates of this machine. A program that is not static brings the libraries
    /// of this machine that it is linked to.
    pub fn hub(reference: &str, program: &Path) -> Result<Self> {
        let mut image = Self::of(reference, &[(program.to_owned(), "fitout")], &["/fitout"]);
        image.user = 65532;
        let authorities = PathBuf::from(AUTHORITIES);
        let found = authorities.exists().then_some(authorities);
        image.add(libraries(program)?.into_iter().chain(found));
        Ok(image)
    }

    /// A directory of charts at `/charts`, and no program. A program that a pod brings into it finds the libraries that it is
    /// linked to; a static one needs none.
    pub fn charts(reference: &str, charts: &Path, program: &Path) -> Result<Self> {
        let mut image = Self::of(reference, &[(charts.to_owned(), "charts")], &[]);
        image.user = 0;
        image.add(libraries(program)?);
        Ok(image)
    }

    /// Adds files of this machine, at their own paths.
    fn add(&mut self, paths: impl IntoIterator<Item = PathBuf>) {
        for path in paths {
            let place = path.to_string_lossy().trim_start_matches('/').to_owned();
            self.files.push((path, place));
        }
    }

    /// Writes the image as an OCI layout in one archive, and returns the digest of its manifest.
    pub fn write(&self, archive: &Path) -> Result<String> {
        let layer_path = archive.with_extension("layer");
        let layer = self.write_layer(&layer_path)?;
        let config = serde_json::to_vec(&json!({
            "architecture": if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" },
            "os": "linux",
            "config": {
                "Entrypoint": self.entrypoint,
                "Env": ["PATH=/usr/local/bin:/usr/bin:/bin:/"],
                "WorkingDir": self.directory,
                "User": self.user.to_string(),
            },
            "rootfs": { "type": "layers", "diff_ids": [layer.digest] },
        }))?;
        let manifest = serde_json::to_vec(&json!({
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": descriptor("application/vnd.oci.image.config.v1+json", &Blob::of(&config)),
            "layers": [descriptor("application/vnd.oci.image.layer.v1.tar", &layer)],
        }))?;
        let digest = Blob::of(&manifest).digest;
        let mut entry = descriptor("application/vnd.oci.image.manifest.v1+json", &Blob::of(&manifest));
        entry["annotations"] = json!({
            "io.containerd.image.name": self.reference,
            "org.opencontainers.image.ref.name": self.reference,
        });
        let index = serde_json::to_vec(&json!({ "schemaVersion": 2, "manifests": [entry] }))?;

        let mut tar = tar::Builder::new(File::create(archive)?);
        tar.mode(tar::HeaderMode::Deterministic);
        tar.sparse(false);
        append(&mut tar, "oci-layout", br#"{"imageLayoutVersion":"1.0.0"}"#)?;
        append(&mut tar, "index.json", &index)?;
        append(&mut tar, &blob_path(&digest), &manifest)?;
        append(&mut tar, &blob_path(&Blob::of(&config).digest), &config)?;
        tar.append_path_with_name(&layer_path, blob_path(&layer.digest))?;
        tar.finish()?;
        fs::remove_file(layer_path)?;
        Ok(digest)
    }

    fn write_layer(&self, path: &Path) -> Result<Blob> {
        let mut tar = tar::Builder::new(Hashing { inner: File::create(path)?, hash: Sha256::new(), size: 0 });
        // The same files give the same digest at any time.
        tar.mode(tar::HeaderMode::Deterministic);
        // Sparse files are a GNU extension that images do not support.
        tar.sparse(false);
        let mut temporary = tar::Header::new_gnu();
        temporary.set_entry_type(tar::EntryType::Directory);
        temporary.set_mode(0o1777);
        temporary.set_size(0);
        tar.append_data(&mut temporary, "tmp", std::io::empty())?;
        for (from, to) in &self.files {
            let added = if from.is_dir() { tar.append_dir_all(to, from) } else { tar.append_path_with_name(from, to) };
            added.with_context(|| format!("put {} into {}", from.display(), self.reference))?;
        }
        Ok(tar.into_inner()?.finish())
    }
}

/// The CA certificates on Debian, where programs look for them.
const AUTHORITIES: &str = "/etc/ssl/certs/ca-certificates.crt";

/// The shared libraries of a program. A static program has none.
fn libraries(program: &Path) -> Result<Vec<PathBuf>> {
    let output = Command::new("ldd").arg(program).output().context("run ldd")?;
    let text = String::from_utf8(output.stdout)?;
    // `name => /path (0x…)`, or only the path for the dynamic loader.
    let paths = text.lines().filter_map(|line| line.split_whitespace().find(|word| word.starts_with('/')));
    Ok(paths.map(PathBuf::from).collect())
}

struct Blob {
    digest: String,
    size: u64,
}

impl Blob {
    fn of(content: &[u8]) -> Self {
        Self { digest: format!("sha256:{}", hex(&Sha256::digest(content))), size: content.len() as u64 }
    }
}

fn blob_path(digest: &str) -> String {
    format!("blobs/{}", digest.replace(':', "/"))
}

fn descriptor(media_type: &str, blob: &Blob) -> serde_json::Value {
    json!({ "mediaType": media_type, "digest": blob.digest, "size": blob.size })
}

fn append(tar: &mut tar::Builder<File>, path: &str, content: &[u8]) -> Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_size(content.len() as u64);
    header.set_mode(0o644);
    Ok(tar.append_data(&mut header, path, content)?)
}

/// A writer that hashes and counts what it writes.
struct Hashing {
    inner: File,
    hash: Sha256,
    size: u64,
}

impl Hashing {
    fn finish(self) -> Blob {
        Blob { digest: format!("sha256:{}", hex(&self.hash.finalize())), size: self.size }
    }
}

impl Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.hash.update(&bytes[..written]);
        self.size += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.flush()
    }
}
