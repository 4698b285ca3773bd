//! Charts rendered by Helm and by us, without chance.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

use anyhow::{Context, Result};
use fitout_helm_chart::render::{Capabilities, KubeVersion, Options};
use fitout_helm_chart::values::{self, Release};
use fitout_helm_chart::{Shown, template};
use fitout_helm_functions::{Environment, Replay};
use fitout_testkit::Programs;

/// The oldest and the newest Kubernetes that we support.
pub(crate) const KUBE_VERSIONS: [&str; 2] = ["1.33.0", "1.36.0"];

/// One way to render a chart.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) chart: PathBuf,
    /// A file with values, or none.
    pub(crate) values: Option<PathBuf>,
    pub(crate) kube_version: &'static str,
    pub(crate) crds: bool,
}

/// What was printed, or why nothing was.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Text(String),
    Refusal(String),
}

/// All ways to render a chart: with its own values and with each file that it is tried with, at two versions, with and
/// without its CRDs; or each once.
pub(crate) fn cases(chart: &Path, once: bool) -> Result<Vec<Case>> {
    let mut files = vec![None];
    if let Ok(entries) = fs::read_dir(chart.join("ci")) {
        let mut found: Vec<_> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
        found.retain(|path| path.to_string_lossy().ends_with("values.yaml"));
        found.sort();
        files.extend(found.into_iter().map(Some));
    }
    let mut cases = Vec::new();
    for values in files {
        let (versions, crds): (&[_], &[_]) =
            if once { (&KUBE_VERSIONS[1..], &[true]) } else { (&KUBE_VERSIONS, &[false, true]) };
        for kube_version in versions {
            for crds in crds.iter().copied() {
                cases.push(Case { chart: chart.to_owned(), values: values.clone(), kube_version, crds });
            }
        }
    }
    Ok(cases)
}

impl Case {
    /// What Helm makes of it.
    pub(crate) fn theirs(&self, programs: &Programs) -> Result<Answer> {
        let mut helm = Command::new(programs.oracle("oracle-helm")?);
        helm.args(["template", "release", "--namespace", "space", "--kube-version", self.kube_version]);
        helm.arg(&self.chart).env_remove("KUBECONFIG").env("TZ", "UTC");
        helm.args(self.values.iter().flat_map(|file| [Path::new("--values"), file]));
        helm.args(self.crds.then_some("--include-crds"));
        let output = helm.output().context("run Helm")?;
        if output.status.success() {
            return Ok(Answer::Text(String::from_utf8_lossy(&output.stdout).into_owned()));
        }
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let error = said.split_once("Error: ").map_or(said.as_str(), |(_, error)| error);
        let error = error.trim_end().trim_end_matches("Use --debug flag to render out invalid YAML");
        Ok(Answer::Refusal(sorted_if_schema(error.trim_end())))
    }

    /// What we make of it.
    pub(crate) fn ours(&self) -> Answer {
        match self.render() {
            Ok(text) => Answer::Text(text),
            Err(error) => Answer::Refusal(sorted_if_schema(error.trim_end())),
        }
    }

    fn render(&self) -> Result<String, String> {
        let mut warnings = Vec::new();
        let chart = fitout_environment::load(&self.chart, &mut warnings).map_err(|error| error.to_string())?;
        let given = match &self.values {
            Some(file) => {
                let text = fs::read(file).map_err(|error| error.to_string())?;
                values::load(&text).map_err(|error| format!("failed to parse {}: {error}", file.display()))?
            }
            None => values::load(b"").map_err(|error| error.to_string())?,
        };
        let release =
            Release { name: "release".to_owned(), namespace: "space".to_owned(), revision: 1, is_upgrade: false };
        let capabilities = Capabilities::assumed(KubeVersion::parse(self.kube_version)?);
        let world: Rc<dyn Environment> = Rc::new(Replay::default());
        let options = Options::default();
        let rendered = template(chart, &given, &release, &capabilities, &world, &options, &mut warnings)
            .map_err(|error| error.to_string())?;
        rendered.show(&Shown { crds: self.crds, ..Shown::default() })
    }
}

/// The lines of a schema's refusal have no order in Helm.
fn sorted_if_schema(error: &str) -> String {
    if !error.contains("values don't meet the specifications of the schema(s)") {
        return error.to_owned();
    }
    let mut lines: Vec<&str> = error.lines().collect();
    lines.sort_unstable();
    lines.join("\n")
}

/// The first line in which two texts differ, with some around it.
pub(crate) fn difference(theirs: &Answer, ours: &Answer) -> String {
    let (Answer::Text(theirs), Answer::Text(ours)) = (theirs, ours) else {
        return format!("  Helm: {}\n  ours: {}", shortened(theirs), shortened(ours));
    };
    let (one, other): (Vec<&str>, Vec<&str>) = (theirs.lines().collect(), ours.lines().collect());
    let at = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
    let around =
        |lines: &[&str]| lines[at.saturating_sub(4).min(lines.len())..(at + 3).min(lines.len())].join("\n    ");
    format!("  line {}\n  Helm:\n    {}\n  ours:\n    {}", at + 1, around(&one), around(&other))
}

fn shortened(answer: &Answer) -> String {
    match answer {
        Answer::Text(text) => format!("{} bytes", text.len()),
        Answer::Refusal(error) => format!("refused: {}", error.chars().take(2000).collect::<String>()),
    }
}
