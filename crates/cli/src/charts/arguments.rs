//! What can be typed about charts. The flags are those of Helm, so that a command line moves over as it is.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Subcommand)]
pub(crate) enum Chart {
    /// Render a chart as `helm template` does, to the byte
    Template(Template),
    /// Show what is in a chart
    Show(Show),
    /// Look for what is wrong with a chart
    Lint(Lint),
}

/// Where values come from. Files first, then `--set-json`, `--set`, `--set-string`, `--set-file`, `--set-literal`.
#[derive(Args, Default)]
pub(crate) struct Values {
    /// A file with values, or `-`; may be given many times, the last wins
    #[arg(long = "values", short = 'f', value_name = "FILE")]
    pub(crate) files: Vec<String>,
    /// Values as in `a.b=1,c[0]=x`
    #[arg(long, value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
    /// The same, but always text
    #[arg(long, value_name = "PATH=TEXT")]
    pub(crate) set_string: Vec<String>,
    /// The same, from the content of a file
    #[arg(long, value_name = "PATH=FILE")]
    pub(crate) set_file: Vec<String>,
    /// The same, as JSON
    #[arg(long, value_name = "PATH=JSON")]
    pub(crate) set_json: Vec<String>,
    /// One value, exactly as it is written
    #[arg(long, value_name = "PATH=TEXT")]
    pub(crate) set_literal: Vec<String>,
}

/// What a chart is rendered for.
#[derive(Args)]
pub(crate) struct Target {
    /// The namespace of the release
    #[arg(long, short, value_name = "NAME", default_value = "default", env = "HELM_NAMESPACE", hide_env = true)]
    pub(crate) namespace: String,
    /// The Kubernetes version of the cluster
    #[arg(long, value_name = "VERSION", default_value = DEFAULT_KUBE_VERSION)]
    pub(crate) kube_version: String,
    /// API versions that the cluster serves beside Kubernetes' own, such as `monitoring.coreos.com/v1`
    #[arg(long, short, value_name = "VERSION", value_delimiter = ',')]
    pub(crate) api_versions: Vec<String>,
}

/// What Helm assumes where nobody says it.
const DEFAULT_KUBE_VERSION: &str = "v1.37.0";

#[derive(Args)]
#[command(override_usage = "fitout chart template [OPTIONS] [NAME] <CHART>")]
#[allow(clippy::struct_excessive_bools, clippy::struct_field_names, reason = "these are Helm's flags")]
pub(crate) struct Template {
    /// The name of the release, then the chart: a directory or an archive. With one of them, it is the chart
    #[arg(required = true, num_args = 1..=2, value_names = ["NAME", "CHART"])]
    pub(crate) name_and_chart: Vec<String>,
    #[command(flatten)]
    pub(crate) values: Values,
    #[command(flatten)]
    pub(crate) target: Target,
    /// Show the CRDs in `crds/` too
    #[arg(long)]
    pub(crate) include_crds: bool,
    /// Do not show hooks that are tests
    #[arg(long)]
    pub(crate) skip_tests: bool,
    /// Do not show hooks
    #[arg(long)]
    pub(crate) no_hooks: bool,
    /// Show only what comes from this template, such as `templates/service.yaml`; may be given many times
    #[arg(long, short, value_name = "PATH")]
    pub(crate) show_only: Vec<String>,
    /// A template for the name of the release
    #[arg(long, value_name = "TEMPLATE")]
    pub(crate) name_template: Option<String>,
    /// Render for an upgrade and not for an install
    #[arg(long)]
    pub(crate) is_upgrade: bool,
    /// Do not check values against `values.schema.json`
    #[arg(long)]
    pub(crate) skip_schema_validation: bool,
    /// Write a file for each template into this directory
    #[arg(long, value_name = "DIRECTORY", conflicts_with = "show_only")]
    pub(crate) output_dir: Option<PathBuf>,
    /// Write these files into a directory with the name of the release
    #[arg(long, requires = "output_dir")]
    pub(crate) release_name: bool,
}

#[derive(Args)]
pub(crate) struct Show {
    /// What to show
    #[arg(value_enum)]
    pub(crate) part: Part,
    /// A directory or an archive
    pub(crate) chart: PathBuf,
    #[command(flatten)]
    pub(crate) values: Values,
    #[command(flatten)]
    pub(crate) target: Target,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Part {
    /// The values it has, with their comments
    Values,
    /// What it says about itself
    Chart,
    /// Its documentation
    Readme,
    /// The CRDs in `crds/`
    Crds,
    /// Every image that a render with these values can pull
    Images,
}

#[derive(Args)]
pub(crate) struct Lint {
    /// A directory or an archive
    pub(crate) chart: PathBuf,
    #[command(flatten)]
    pub(crate) values: Values,
    #[command(flatten)]
    pub(crate) target: Target,
    /// Fail where there are warnings too
    #[arg(long)]
    pub(crate) strict: bool,
}
