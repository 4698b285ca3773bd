//! The options that the chart commands share. They are Helm's, so that a `helm template` command line works unchanged.

use clap::Args;

/// The values of a chart. Files apply first, then `--set-json`, `--set`, `--set-string`, `--set-file`, `--set-literal`.
#[derive(Args, Default)]
pub(crate) struct Values {
    /// A file with values, or `-` for the standard input; may be given more than once, the last wins
    #[arg(long = "values", short = 'f', value_name = "FILE")]
    pub(crate) files: Vec<String>,
    /// Values, such as `a.b=1,c[0]=x`
    #[arg(long, value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
    /// String values, even if they look like numbers
    #[arg(long, value_name = "PATH=TEXT")]
    pub(crate) set_string: Vec<String>,
    /// Values read from files
    #[arg(long, value_name = "PATH=FILE")]
    pub(crate) set_file: Vec<String>,
    /// JSON values
    #[arg(long, value_name = "PATH=JSON")]
    pub(crate) set_json: Vec<String>,
    /// One literal string value; nothing in it is parsed
    #[arg(long, value_name = "PATH=TEXT")]
    pub(crate) set_literal: Vec<String>,
}

/// The release and the cluster that a chart is rendered for.
#[derive(Args)]
pub(crate) struct Target {
    /// The namespace of the release
    #[arg(long, short, value_name = "NAME", default_value = "default", env = "HELM_NAMESPACE", hide_env = true)]
    pub(crate) namespace: String,
    /// The Kubernetes version of the cluster
    #[arg(long, value_name = "VERSION", default_value = DEFAULT_KUBE_VERSION)]
    pub(crate) kube_version: String,
    /// API versions that the cluster serves in addition to the built-in ones, such as `monitoring.coreos.com/v1`
    #[arg(long, short, value_name = "VERSION", value_delimiter = ',')]
    pub(crate) api_versions: Vec<String>,
}

/// The version that Helm assumes by default.
const DEFAULT_KUBE_VERSION: &str = "v1.37.0";
