//! Access to a registry: the credentials of the command line, or those of `docker login` and `helm registry login`.

use std::env;
use std::fs;
use std::io::Read;
use std::path::PathBuf;

use clap::Args;
use fitout_repositories::{Access, Pushed};
use serde_json::json;

use crate::failure::Failure;
use crate::output::Format;

#[derive(Args)]
pub(crate) struct RegistryArgs {
    /// The user of the registry; the password is read from the standard input
    #[arg(long, value_name = "NAME", requires = "password_stdin")]
    username: Option<String>,
    /// Read the password from the standard input
    #[arg(long, requires = "username")]
    password_stdin: bool,
    /// A file with certificates of authorities to trust
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
}

impl RegistryArgs {
    /// The credentials and certificates. Without a user, those of the configuration of Helm or Docker.
    pub(crate) fn access(&self) -> Result<Access, Failure> {
        let authority = self.ca_file.as_ref().map(|file| {
            fs::read_to_string(file).map_err(|error| Failure::new(format!("cannot read {}: {error}", file.display())))
        });
        let mut access = Access { authority: authority.transpose()?, ..Access::default() };
        match &self.username {
            Some(username) => access.basic = Some((username.clone(), password()?)),
            None => access.docker_config = configurations().into_iter().find_map(|path| fs::read_to_string(path).ok()),
        }
        Ok(access)
    }
}

/// Reads a password from the standard input.
pub(crate) fn password() -> Result<String, Failure> {
    let mut password = String::new();
    std::io::stdin()
        .read_to_string(&mut password)
        .map_err(|error| Failure::new(format!("cannot read the password from the standard input: {error}")))?;
    Ok(password.trim_end_matches(['\r', '\n']).to_owned())
}

/// The files with credentials, in the order of their precedence.
fn configurations() -> Vec<PathBuf> {
    let path = |variable: &str| env::var_os(variable).map(PathBuf::from);
    let home = |below: &str| path("HOME").map(|home| home.join(below));
    [
        path("HELM_REGISTRY_CONFIG"),
        home(".config/helm/registry/config.json"),
        path("DOCKER_CONFIG").map(|folder| folder.join("config.json")),
        home(".docker/config.json"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The time that manifests state: the same for the same archive, so that it always has the same digest.
pub(crate) const CREATED: &str = "1970-01-01T00:00:00Z";

/// The answer of a command that has pushed.
pub(crate) fn pushed(all: &[Pushed], output: Format) -> String {
    if !output.is_table() {
        let items: Vec<_> = all
            .iter()
            .map(|one| json!({ "name": one.name, "tag": one.tag, "manifest": one.manifest, "archive": one.archive }))
            .collect();
        return output.value(&json!(items));
    }
    let line = |one: &Pushed| {
        let state = if one.uploaded == 0 { "is there already" } else { "pushed" };
        format!("{}:{} {state}\ndigest {}\n", one.name, one.tag, one.manifest)
    };
    all.iter().map(line).collect()
}
