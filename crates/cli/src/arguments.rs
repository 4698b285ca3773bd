//! What can be typed.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use fitout_api::{FailurePolicy, Scope};

use crate::ages;
use crate::charts;
use crate::logging::{LogFormat, LogLevel};
use crate::output::Format;
use crate::settings::Setting;

const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  failed
  2  wrong usage
  3  needs approval
  4  cannot be resolved";

/// What stands over the options that every command has.
const GLOBAL: &str = "Global options";

/// Keeps extensions installed on Kubernetes clusters
#[derive(Parser)]
#[command(
    name = "fitout",
    version,
    after_help = EXIT_CODES,
    max_term_width = 100
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// The organization; by default the only one there is
    #[arg(
        long,
        short = 'O',
        global = true,
        help_heading = GLOBAL,
        value_name = "NAME",
        env = "FITOUT_ORGANIZATION",
        hide_env_values = true
    )]
    pub(crate) organization: Option<String>,
    /// How to print what is found
    #[arg(
        long,
        short,
        global = true,
        help_heading = GLOBAL,
        value_enum,
        default_value_t,
        hide_possible_values = true,
        value_name = "table|wide|json|yaml"
    )]
    pub(crate) output: Format,
    /// Print without colour, as with `NO_COLOR` in the environment
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub(crate) no_color: bool,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Install an extension on a cluster
    Install(Install),
    /// Change the version or the values of an instance
    Upgrade(Upgrade),
    /// Bring an instance back to an earlier revision
    Rollback(Rollback),
    /// Remove an instance from its cluster
    Uninstall(Uninstall),
    /// Keep what another hand made of an instance's release, such as `helm upgrade`
    Adopt(Takeover),
    /// Install again what is wanted, over what another hand made of an instance's release
    Reassert(Takeover),
    /// Run the tests that come with what is installed, as `helm test` does
    Test(Test),
    /// Show what the hub would do for an instance, object by object, and why
    Plan(Plan),
    /// Show the values an instance is made with, and which layer set each of them
    Values(ShowValues),
    /// List the instances
    List(List),
    /// Show how an instance is doing
    Status(Status),
    /// List the revisions of an instance
    History {
        /// The instance
        instance: String,
    },
    /// Look at catalogs
    Catalog {
        #[command(subcommand)]
        command: Catalog,
    },
    /// Look at extensions
    Extension {
        #[command(subcommand)]
        command: Extension,
    },
    /// `ReleaseWatch` clusters, look at them, let them go
    Cluster {
        #[command(subcommand)]
        command: Cluster,
    },
    /// Render charts and look at them, without a hub
    Chart {
        #[command(subcommand)]
        command: charts::Command,
    },
    /// Run the hub
    Hub(Hub),
    /// Print what makes a shell complete commands of fitout
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the version
    Version,
}

/// How the hub runs.
#[derive(Args)]
pub(crate) struct Hub {
    /// Number of revisions to keep per instance, beside the deployed one
    #[arg(long, value_name = "COUNT", default_value_t = 9)]
    pub(crate) history: usize,
    /// How long content stays in the store after the last revision that names it is gone
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = ages::duration, alias = "sweep-after")]
    pub(crate) content_gc_grace: Duration,
    /// Lease duration: another replica takes over when the leader has not renewed for this long
    #[arg(long, value_name = "TIME", default_value = "15s", value_parser = ages::duration)]
    pub(crate) lease: Duration,
    /// Retry interval after a permanent fetch failure (wrong digest, 401, invalid chart)
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = ages::duration, alias = "revisit")]
    pub(crate) fetch_retry_interval: Duration,
    /// Address that serves /healthz, /readyz and /metrics, such as 0.0.0.0:8080 [default: none]
    #[arg(long, value_name = "ADDRESS", alias = "observe")]
    pub(crate) metrics_address: Option<SocketAddr>,
    /// Format of log lines
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    pub(crate) log_format: LogFormat,
    /// Least severe level that is logged
    #[arg(long, value_enum, value_name = "LEVEL", default_value = "info")]
    pub(crate) log_level: LogLevel,
    /// Address that serves compute.fitout.dev (plans and values) to the API server, such as 0.0.0.0:8443 [default: none]
    #[arg(long, value_name = "ADDRESS", alias = "serve")]
    pub(crate) api_address: Option<SocketAddr>,
}

/// Whether to wait until a change has been carried out.
#[derive(Args)]
pub(crate) struct Waiting {
    /// Wait until the hub is done; the default on a terminal
    #[arg(long, overrides_with = "no_wait")]
    pub(crate) wait: bool,
    /// Do not wait
    #[arg(long, overrides_with = "wait")]
    pub(crate) no_wait: bool,
    /// How long to wait
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = ages::duration)]
    pub(crate) timeout: Duration,
}

impl Waiting {
    /// Whether to wait, given whether there is somebody to watch.
    pub(crate) fn wanted(&self, terminal: bool) -> bool {
        self.wait || (terminal && !self.no_wait)
    }
}

#[derive(Args)]
pub(crate) struct Values {
    /// A value, as in `--set image.tag=v2`; may be given more than once
    #[arg(long, value_name = "KEY=VALUE", value_parser = Setting::typed)]
    pub(crate) set: Vec<Setting>,
    /// A value that is text, even if it looks like a number
    #[arg(long, value_name = "KEY=VALUE", value_parser = Setting::text)]
    pub(crate) set_string: Vec<Setting>,
    /// A value in JSON, or a whole JSON object
    #[arg(long, value_name = "KEY=JSON", value_parser = Setting::json)]
    pub(crate) set_json: Vec<Setting>,
    /// A value that is the content of a file
    #[arg(long, value_name = "KEY=FILE", value_parser = Setting::files)]
    pub(crate) set_file: Vec<Setting>,
    /// A file with values; may be given more than once, later files win, `--set` wins over files
    #[arg(long = "values", short = 'f', value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
}

/// What may happen when something goes wrong, or has to be lost.
#[derive(Args)]
pub(crate) struct SafetyArgs {
    /// What is done where a change fails [default: retry]
    #[arg(long, value_enum, value_name = "POLICY")]
    pub(crate) on_failure: Option<OnFailure>,
    /// How long a new revision may take to become healthy before it has failed, unless that is tried again [default: 5m]
    #[arg(long, value_name = "TIME", value_parser = ages::duration)]
    pub(crate) healthy_within: Option<Duration>,
    /// An object that may be deleted and made anew where a field changes that cannot; may be given more than once
    #[arg(long, value_name = "KIND/NAME")]
    pub(crate) recreate: Vec<String>,
    /// A definition of custom resources that may change although what is stored would be lost; may be given more than once
    #[arg(long, value_name = "NAME")]
    pub(crate) allow_data_loss: Vec<String>,
}

/// What is done where a change fails.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum OnFailure {
    /// Try again, ever more slowly
    Retry,
    /// Bring back what was installed before
    Rollback,
    /// Wait until something else is wanted
    Stop,
}

impl From<OnFailure> for FailurePolicy {
    fn from(policy: OnFailure) -> Self {
        match policy {
            OnFailure::Retry => Self::Retry,
            OnFailure::Rollback => Self::Rollback,
            OnFailure::Stop => Self::Stop,
        }
    }
}

/// Reads a label; the API server knows which there may be.
fn label(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or_else(|| format!("a label is KEY=VALUE, not '{text}'"))?;
    Ok((name.to_owned(), value.to_owned()))
}

#[derive(Args)]
pub(crate) struct Install {
    /// The extension
    pub(crate) extension: String,
    /// The cluster to install it on
    #[arg(long, short)]
    pub(crate) cluster: String,
    /// The catalog that `catalog_lookup` the extension
    #[arg(long, default_value = "community")]
    pub(crate) catalog: String,
    /// Whose catalog it is, where both have one of that name
    #[arg(long, value_enum)]
    pub(crate) scope: Option<Whose>,
    /// The namespace on the cluster [default: the extension's name]
    #[arg(long, short)]
    pub(crate) namespace: Option<String>,
    /// The name of the instance [default: CLUSTER-EXTENSION]
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// The name of the Helm release [default: the extension's name]
    #[arg(long)]
    pub(crate) release_name: Option<String>,
    /// The range of versions that will do, such as 1.x [default: whatever fits the cluster]
    #[arg(long, value_name = "RANGE")]
    pub(crate) version: Option<String>,
    #[command(flatten)]
    pub(crate) values: Values,
    #[command(flatten)]
    pub(crate) cautions: SafetyArgs,
    /// A label of the Helm release; may be given more than once
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = label)]
    pub(crate) labels: Vec<(String, String)>,
    /// Take over the release that is there already, as it is: one that Helm made
    #[arg(long)]
    pub(crate) adopt: bool,
    /// Show what would be written, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) waiting: Waiting,
}

/// Whose a catalog is.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Whose {
    Shared,
    Organization,
}

impl From<Whose> for Scope {
    fn from(whose: Whose) -> Self {
        match whose {
            Whose::Shared => Self::Shared,
            Whose::Organization => Self::Organization,
        }
    }
}

#[derive(Args)]
pub(crate) struct Upgrade {
    /// The instance
    pub(crate) instance: String,
    /// The range of versions that will do from now on
    #[arg(long, value_name = "RANGE")]
    pub(crate) version: Option<String>,
    #[command(flatten)]
    pub(crate) values: Values,
    #[command(flatten)]
    pub(crate) cautions: SafetyArgs,
    /// A label of the Helm release; may be given more than once
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = label)]
    pub(crate) labels: Vec<(String, String)>,
    /// Forget the values the instance has, and begin with those that are given
    #[arg(long)]
    pub(crate) reset_values: bool,
    /// Show what would be written, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) waiting: Waiting,
}

#[derive(Args)]
pub(crate) struct Rollback {
    /// The instance
    pub(crate) instance: String,
    /// The number of the revision [default: the one before]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) revision: Option<u32>,
    /// Show what would be written, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) waiting: Waiting,
}

#[derive(Args)]
pub(crate) struct Takeover {
    /// The instance
    pub(crate) instance: String,
    /// Show what would be written, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) waiting: Waiting,
}

#[derive(Args)]
pub(crate) struct Test {
    /// The instance
    pub(crate) instance: String,
    /// Do not wait for the end of the tests
    #[arg(long)]
    pub(crate) no_wait: bool,
    /// How long to wait
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = ages::duration)]
    pub(crate) timeout: Duration,
}

#[derive(Args)]
pub(crate) struct Uninstall {
    /// The instance
    pub(crate) instance: String,
    /// Leave out the hooks that come with it, as where one cannot succeed any more
    #[arg(long)]
    pub(crate) no_hooks: bool,
    /// Show what would be deleted, and delete nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) waiting: Waiting,
}

#[derive(Args)]
pub(crate) struct Plan {
    /// The instance: what is to be done for it as it is
    #[arg(required_unless_present = "file")]
    pub(crate) instance: Option<String>,
    /// A file with an instance, as `kubectl apply` takes it: what would be done if it were applied
    #[arg(long, short, value_name = "FILE", conflicts_with = "instance")]
    pub(crate) file: Option<PathBuf>,
    /// What would be done if the instance were removed
    #[arg(long, conflicts_with = "file")]
    pub(crate) uninstall: bool,
}

#[derive(Args)]
pub(crate) struct ShowValues {
    /// The instance
    pub(crate) instance: String,
    /// Show which layer set each value: the chart, the definition, a secret or the instance
    #[arg(long)]
    pub(crate) explain: bool,
    /// Leave out what is only a default
    #[arg(long)]
    pub(crate) no_defaults: bool,
}

#[derive(Args)]
pub(crate) struct List {
    /// Only those on this cluster
    #[arg(long, short)]
    pub(crate) cluster: Option<String>,
}

#[derive(Args)]
pub(crate) struct Status {
    /// The instance
    pub(crate) instance: String,
    /// Follow it until it is ready or cannot go on
    #[arg(long, short)]
    pub(crate) watch: bool,
    /// How long to follow it
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = ages::duration, requires = "watch")]
    pub(crate) timeout: Duration,
}

#[derive(Subcommand)]
pub(crate) enum Catalog {
    /// List the catalogs that the organization can install from
    List,
}

#[derive(Subcommand)]
pub(crate) enum Extension {
    /// List the extensions that the organization can install
    List,
    /// Show an extension and its versions
    Show {
        /// The extension
        name: String,
    },
}

#[derive(Subcommand)]
pub(crate) enum Cluster {
    /// `ReleaseWatch` a cluster with the hub
    Add(AddCluster),
    /// List the clusters
    List,
    /// Show a cluster
    Show {
        /// The cluster
        name: String,
    },
    /// Let a cluster go: it stays as it is, and the hub forgets it
    Remove {
        /// The cluster
        name: String,
        /// Forget it with all its instances, because it will not come back; takes its name once more
        #[arg(long, value_name = "NAME")]
        forget: Option<String>,
        /// Show what would be deleted, and delete nothing
        #[arg(long)]
        dry_run: bool,
    },
}

#[derive(Args)]
pub(crate) struct AddCluster {
    /// What to call the cluster
    pub(crate) name: String,
    /// The file with the way in
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: PathBuf,
    /// The context in that file [default: its current context]
    #[arg(long, value_name = "CONTEXT")]
    pub(crate) context: Option<String>,
    /// Show what would be written, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) waiting: Waiting,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use insta::assert_snapshot;

    /// What `--help` prints for a command.
    fn help(words: &[&str]) -> String {
        let mut command = Arguments::command();
        command.build();
        let mut at = &mut command;
        for word in words {
            at = at.find_subcommand_mut(word).unwrap();
        }
        at.clone().term_width(100).render_help().to_string()
    }

    #[test]
    fn the_definition_holds_together() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn help_of_everything() {
        assert_snapshot!("help", help(&[]));
        for words in [
            &["install"][..],
            &["upgrade"],
            &["rollback"],
            &["uninstall"],
            &["plan"],
            &["values"],
            &["list"],
            &["status"],
            &["history"],
            &["catalog"],
            &["extension"],
            &["cluster"],
            &["cluster", "add"],
            &["cluster", "remove"],
            &["chart"],
            &["chart", "template"],
            &["chart", "show"],
            &["chart", "lint"],
            &["hub"],
        ] {
            assert_snapshot!(format!("help-{}", words.join("-")), help(words));
        }
    }

    #[test]
    fn waiting_is_for_terminals_unless_said_otherwise() {
        let waits = |words: &str, terminal| {
            let words = ["fitout", "uninstall", "x"].into_iter().chain(words.split_whitespace());
            let Command::Uninstall(uninstall) = Arguments::try_parse_from(words).unwrap().command else {
                unreachable!()
            };
            uninstall.waiting.wanted(terminal)
        };
        assert!(waits("", true) && !waits("", false));
        assert!(waits("--wait", false) && !waits("--no-wait", true));
        assert!(!waits("--wait --no-wait", true), "the last word counts");
    }

    #[test]
    fn wrong_usage_is_told_with_what_was_expected() {
        let wrong = |words: &str| {
            let words = ["fitout"].into_iter().chain(words.split(' '));
            let Err(error) = Arguments::try_parse_from(words) else { panic!("it was accepted") };
            assert_eq!(error.exit_code(), 2);
            error.to_string()
        };
        assert_snapshot!(wrong("install podinfo"));
        assert_snapshot!(wrong("install podinfo -c foo --set a"));
        assert_snapshot!(wrong("uninstall x --timeout 10"));
        assert_snapshot!(wrong("rollback x zero"));
    }
}
