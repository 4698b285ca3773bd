//! `fitout extension new`.

use std::io::{BufRead, IsTerminal, Write, stderr, stdin};
use std::path::PathBuf;

use clap::Args;
use fitout_authoring::{Packaging, scaffold};
use semver::Version;

use crate::Answer;
use crate::commands::chart::environment;
use crate::failure::{Failure, problem};
use crate::file_tree;
use crate::questions::{any_text, ask};

#[derive(Args)]
pub(crate) struct New {
    /// The name of the extension; on a terminal, all is asked for without it
    name: Option<String>,
    /// Its first version
    #[arg(long, default_value = "0.1.0")]
    version: String,
    /// Its purpose in one line
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
    /// The image of its manifests
    #[arg(long, value_name = "IMAGE", default_value = "ghcr.io/example/app:1.0.0")]
    image: String,
    /// The chart that it installs instead of manifests
    #[arg(long, requires_all = ["chart_version", "repository"])]
    chart: Option<String>,
    /// The version of the chart
    #[arg(long, value_name = "VERSION", requires = "chart")]
    chart_version: Option<String>,
    /// The repository of the chart: an `https://` or `oci://` URL
    #[arg(long, value_name = "URL", requires = "chart")]
    repository: Option<String>,
    /// Write to `NAME/VERSION` in this directory
    #[arg(long, value_name = "DIRECTORY", default_value = ".")]
    output_dir: PathBuf,
    /// Replace existing files
    #[arg(long)]
    force: bool,
}

/// The facts of a new extension.
#[derive(Debug, PartialEq)]
struct Facts {
    name: String,
    version: Version,
    summary: Option<String>,
    packaging: Packaging,
}

pub(super) fn run(arguments: &New) -> Result<Answer, Failure> {
    let facts = match &arguments.name {
        Some(name) => given(arguments, name)?,
        None if stdin().is_terminal() => asked(arguments, &mut stdin().lock(), &mut stderr())?,
        None => return Err(Failure::new("the extension needs a name").hint("run `fitout extension new NAME`")),
    };
    let Facts { name, version, summary, packaging } = &facts;
    let files = scaffold(name, version.clone(), summary.as_deref(), packaging, &environment()).map_err(problem)?;
    let directory = arguments.output_dir.join(name).join(version.to_string());
    file_tree::ensure_empty(&directory, arguments.force)?;
    let written = file_tree::write(&directory, &files)?;
    Ok(file_tree::report(&written).into())
}

/// The facts on the command line.
fn given(arguments: &New, name: &str) -> Result<Facts, Failure> {
    let version =
        parse(&arguments.version).map_err(|reason| Failure::new(reason).hint("give three numbers, such as 1.2.3"));
    let packaging = match (&arguments.chart, &arguments.chart_version, &arguments.repository) {
        (Some(chart), Some(version), Some(repository)) => {
            Packaging::Chart { name: chart.clone(), version: version.clone(), repository: repository.clone() }
        }
        _ => Packaging::Manifests { image: arguments.image.clone() },
    };
    Ok(Facts { name: name.to_owned(), version: version?, summary: arguments.summary.clone(), packaging })
}

/// Asks for the facts. Those of the command line are the defaults.
fn asked(arguments: &New, input: &mut impl BufRead, output: &mut impl Write) -> Result<Facts, Failure> {
    let name = ask(input, output, "Name of the extension", "", label)?;
    let version = ask(input, output, "Version", &arguments.version, parse)?;
    let summary = arguments.summary.as_deref().unwrap_or_default();
    let summary = ask(input, output, "Purpose in one line", summary, |text| Ok(text.to_owned()))?;
    let packagings = "Packaging: manifests or chart";
    let is_chart = ask(
        input,
        output,
        packagings,
        if arguments.chart.is_some() { "chart" } else { "manifests" },
        |text| match text {
            "manifests" => Ok(false),
            "chart" => Ok(true),
            _ => Err("answer manifests or chart".to_owned()),
        },
    )?;
    let packaging = if is_chart {
        let or_empty = |text: &Option<String>| text.clone().unwrap_or_default();
        let chart = ask(input, output, "Name of the chart", arguments.chart.as_deref().unwrap_or(&name), any_text)?;
        let of_chart = ask(input, output, "Version of the chart", &or_empty(&arguments.chart_version), any_text)?;
        let repository = or_empty(&arguments.repository);
        let repository =
            ask(input, output, "Repository of the chart, an https:// or oci:// URL", &repository, any_text)?;
        Packaging::Chart { name: chart, version: of_chart, repository }
    } else {
        Packaging::Manifests { image: ask(input, output, "Image", &arguments.image, any_text)? }
    };
    Ok(Facts { name, version, summary: Some(summary).filter(|text| !text.is_empty()), packaging })
}

fn parse(version: &str) -> Result<Version, String> {
    version.parse().map_err(|_| format!("`{version}` is not a version"))
}

/// Accepts names of extensions.
fn label(text: &str) -> Result<String, String> {
    let is_valid = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_label =
        (1..=63).contains(&text.len()) && text.bytes().all(is_valid) && !text.starts_with('-') && !text.ends_with('-');
    if is_label { Ok(text.to_owned()) } else { Err("a name has lower-case letters, digits and `-`".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_facts_can_be_asked_for() {
        let arguments = New {
            name: None,
            version: "0.1.0".to_owned(),
            summary: None,
            image: "ghcr.io/example/app:1.0.0".to_owned(),
            chart: None,
            chart_version: None,
            repository: None,
            output_dir: PathBuf::from("."),
            force: false,
        };
        let facts = |text: &str| asked(&arguments, &mut text.as_bytes(), &mut Vec::new());
        let manifests = facts("Web\nweb\n\nA shop\n\n\n").unwrap();
        assert_eq!(
            (manifests.name.as_str(), manifests.version, manifests.summary.as_deref()),
            ("web", Version::new(0, 1, 0), Some("A shop"))
        );
        assert_eq!(manifests.packaging, Packaging::Manifests { image: arguments.image.clone() });
        let chart = facts("web\n1.0.0\n\nchart\n\n2.0.0\noci://x.example/charts\n").unwrap();
        let repository = "oci://x.example/charts".to_owned();
        assert_eq!(
            chart.packaging,
            Packaging::Chart { name: "web".to_owned(), version: "2.0.0".to_owned(), repository }
        );
        assert!(facts("web\n").is_err(), "the input ends");
    }
}
