//! The command line: global options, and groups of options that several commands share.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, ValueEnum};
use fitout_api::FailurePolicy;

use crate::commands::Command;
use crate::durations;
use crate::output::Format;
use crate::settings::Setting;

const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  failed
  2  wrong usage
  3  needs approval
  4  no version can be resolved";

/// The help heading of the options that every command has.
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
    /// The organization [default: the only one of the hub]
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
    /// Output format
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
    /// Print without colours, as with `NO_COLOR` in the environment
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub(crate) no_color: bool,
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
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = durations::parse)]
    pub(crate) timeout: Duration,
}

impl Waiting {
    /// Whether to wait; without a flag, commands wait on a terminal.
    pub(crate) fn is_on(&self, terminal: bool) -> bool {
        self.wait || (terminal && !self.no_wait)
    }
}

/// The values of an instance.
#[derive(Args)]
pub(crate) struct ValuesArgs {
    /// A value, such as `--set image.tag=v2`; may be given more than once
    #[arg(long, value_name = "KEY=VALUE", value_parser = Setting::typed)]
    pub(crate) set: Vec<Setting>,
    /// A string value, even if it looks like a number
    #[arg(long, value_name = "KEY=VALUE", value_parser = Setting::text)]
    pub(crate) set_string: Vec<Setting>,
    /// A JSON value, or a whole JSON object
    #[arg(long, value_name = "KEY=JSON", value_parser = Setting::json)]
    pub(crate) set_json: Vec<Setting>,
    /// A value read from a file
    #[arg(long, value_name = "KEY=FILE", value_parser = Setting::files)]
    pub(crate) set_file: Vec<Setting>,
    /// A file with values; may be given more than once, later files win, `--set` wins over files
    #[arg(long = "values", short = 'f', value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
}

/// The failure policy of a change, and the objects that it may delete.
#[derive(Args)]
pub(crate) struct SafetyArgs {
    /// Policy for a failed change [default: retry]
    #[arg(long, value_enum, value_name = "POLICY")]
    pub(crate) on_failure: Option<OnFailure>,
    /// With `--on-failure rollback` or `stop`: the time in which a new revision has to become healthy [default: 5m]
    #[arg(long, value_name = "TIME", value_parser = durations::parse)]
    pub(crate) healthy_within: Option<Duration>,
    /// An object that may be deleted and recreated when an immutable field changes; may be given more than once
    #[arg(long, value_name = "KIND/NAME")]
    pub(crate) recreate: Vec<String>,
    /// A CRD that may change even if stored objects lose data; may be given more than once
    #[arg(long, value_name = "NAME")]
    pub(crate) allow_data_loss: Vec<String>,
}

/// The failure policy of a change.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum OnFailure {
    /// Retry with backoff
    Retry,
    /// Roll back to the previous revision
    Rollback,
    /// Wait until the instance is changed
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

/// A `--label` that is not `KEY=VALUE`.
#[derive(Debug, thiserror::Error)]
#[error("expected KEY=VALUE, not '{0}'")]
pub(crate) struct LabelError(String);

/// Parses a label; the API server validates its key and value.
pub(crate) fn parse_label(text: &str) -> Result<(String, String), LabelError> {
    let (name, value) = text.split_once('=').ok_or_else(|| LabelError(text.to_owned()))?;
    Ok((name.to_owned(), value.to_owned()))
}

#[derive(Args)]
pub(crate) struct Plan {
    /// The name of the instance to plan for, as it is on the hub
    #[arg(required_unless_present = "file")]
    pub(crate) instance: Option<String>,
    /// Plan for the `ExtensionInstance` in this file, as if it were applied with `kubectl apply`
    #[arg(long, short, value_name = "FILE", conflicts_with = "instance")]
    pub(crate) file: Option<PathBuf>,
    /// Plan for uninstalling the instance
    #[arg(long, conflicts_with = "file")]
    pub(crate) uninstall: bool,
}

#[derive(Args)]
pub(crate) struct ShowValues {
    /// The name of the instance
    pub(crate) instance: String,
    /// Show which layer sets each value: the chart, the definition, a secret or the instance
    #[arg(long)]
    pub(crate) explain: bool,
    /// Leave out values that only a default sets
    #[arg(long)]
    pub(crate) no_defaults: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use insta::assert_snapshot;

    /// Every command, with the words that call it.
    fn commands() -> Vec<(String, clap::Command)> {
        fn collect(words: &str, command: &clap::Command, found: &mut Vec<(String, clap::Command)>) {
            found.push((words.to_owned(), command.clone().term_width(100)));
            for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
                collect(&format!("{words} {}", inner.get_name()), inner, found);
            }
        }
        let mut root = Arguments::command();
        root.build();
        let mut found = vec![];
        collect("fitout", &root, &mut found);
        found
    }

    #[test]
    fn command_line_definition_is_valid() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn help() {
        let text = commands().into_iter().map(|(words, mut command)| {
            let help = command.render_help().to_string();
            // The global options are the same everywhere.
            let help = match help.split_once("\n\nGlobal options:") {
                Some((own, _)) if words != "fitout" => own,
                _ => &help,
            };
            format!("$ {words} --help\n{}\n", help.trim_end())
        });
        assert_snapshot!("help", text.collect::<Vec<_>>().join("\n"));
    }

    #[test]
    fn help_uses_plain_words() {
        const IDIOMS: [&str; 45] = [
            "another hand",
            "other hand",
            "other hands",
            "somebody else",
            "word of",
            "is had",
            "was had",
            "told",
            "tells",
            "made anew",
            "anew",
            "whoever",
            "nobody",
            "anybody",
            "somebody",
            "comes to lead",
            "takes its leave",
            "goes",
            "is going",
            "are going",
            "let go",
            "lets go",
            "let them go",
            "let it go",
            "is there",
            "are there",
            "there is",
            "there are",
            "what is wanted",
            "by chance",
            "on record",
            "a crowd",
            "calm",
            "hush",
            "page",
            "journal",
            "chronicle",
            "sightings",
            "bed",
            "session",
            "the index",
            "the world",
            "the way in",
            "ever more",
            "will do",
        ];
        const OPENINGS: [&str; 4] = ["what is", "what was", "those", "who"];
        for (words, mut command) in commands() {
            for help in [command.render_help(), command.render_long_help()] {
                let help = help.to_string();
                // Sentences are compared word by word, so that line breaks and punctuation do not matter.
                let normal: Vec<String> = help
                    .split(|letter: char| !letter.is_alphanumeric() && letter != '\'')
                    .filter(|word| !word.is_empty())
                    .map(str::to_lowercase)
                    .collect();
                let normal = format!(" {} ", normal.join(" "));
                for idiom in IDIOMS {
                    assert!(!normal.contains(&format!(" {idiom} ")), "`{words} --help` has \"{idiom}\"");
                }
                let about = help.lines().next().unwrap_or_default().to_lowercase();
                for opening in OPENINGS {
                    assert!(!about.starts_with(&format!("{opening} ")), "`{words} --help` opens with \"{opening}\"");
                }
            }
        }
    }

    #[test]
    fn help_has_no_old_flags() {
        let help: String =
            commands().into_iter().map(|(_, mut command)| command.render_long_help().to_string()).collect();
        for flag in ["--observe", "--sweep-after", "--revisit", "--serve"] {
            assert!(!help.contains(flag), "{flag}");
        }
    }

    #[test]
    fn waiting_is_the_default_on_terminals() {
        let waits = |words: &str, terminal| {
            let words = ["fitout", "uninstall", "x"].into_iter().chain(words.split_whitespace());
            let Command::Uninstall(uninstall) = Arguments::try_parse_from(words).unwrap().command else {
                unreachable!()
            };
            uninstall.waiting.is_on(terminal)
        };
        assert!(waits("", true) && !waits("", false));
        assert!(waits("--wait", false) && !waits("--no-wait", true));
        assert!(!waits("--wait --no-wait", true), "the last flag wins");
    }

    #[test]
    fn a_catalog_has_one_source_and_options_of_that_source() {
        let parsed = |words: &str| {
            Arguments::try_parse_from(["fitout", "catalog", "add", "x"].into_iter().chain(words.split(' ')))
        };
        for accepted in
            ["--helm oci://x/y --chart a --chart b", "--git https://x --path p --branch b", "--archive https://x"]
        {
            assert!(parsed(accepted).is_ok(), "{accepted}: {:?}", parsed(accepted).err());
        }
        for refused in
            ["--helm https://x --git https://y", "--chart a", "--git https://x --tag a --commit b", "--interval 9"]
        {
            assert!(parsed(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn wrong_usage_names_the_expected_form() {
        let wrong = |words: &str| {
            let words = ["fitout"].into_iter().chain(words.split(' '));
            let Err(error) = Arguments::try_parse_from(words) else { panic!("it was accepted") };
            assert_eq!(error.exit_code(), 2);
            error.to_string()
        };
        assert_snapshot!(wrong("install podinfo"));
        assert_snapshot!(wrong("install podinfo -c foo --set a"));
        assert_snapshot!(wrong("install podinfo -c foo --label a"));
        assert_snapshot!(wrong("uninstall x --timeout 10"));
        assert_snapshot!(wrong("rollback x zero"));
    }
}
