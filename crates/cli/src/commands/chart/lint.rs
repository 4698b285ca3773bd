//! `fitout chart lint`.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use fitout_helm_chart::Severity;
use fitout_helm_chart::values::Release;

use super::arguments::{Target, Values};
use super::{capabilities, environment, load_chart, template_error, user_values};
use crate::Answer;
use crate::failure::{Code, Failure};
use crate::output::{Format, Paint};

#[derive(Args)]
pub(crate) struct Lint {
    /// The chart: a directory or an archive
    chart: PathBuf,
    #[command(flatten)]
    values: Values,
    #[command(flatten)]
    target: Target,
    /// Fail on warnings too
    #[arg(long)]
    strict: bool,
}

pub(super) fn run(lint: &Lint, output: Format, paint: Paint) -> Result<Answer, Failure> {
    let chart = load_chart(&lint.chart, paint)?;
    let release = Release {
        name: "test-release".to_owned(),
        namespace: lint.target.namespace.clone(),
        revision: 1,
        is_upgrade: false,
    };
    let sources = template_error::Sources::of(&chart);
    let findings = fitout_helm_chart::lint(
        &chart,
        &*user_values(&lint.values)?,
        &release,
        &capabilities(&lint.target)?,
        &environment(),
    );
    let worst = if lint.strict { Severity::Warning } else { Severity::Error };
    let failed = findings.iter().filter(|finding| finding.severity <= worst).count();
    let code = if failed > 0 { Code::Failed } else { Code::Done };
    let word = |severity| match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Advice => "advice",
    };
    if !output.is_table() {
        let items: Vec<_> = findings
            .iter()
            .map(|one| serde_json::json!({ "severity": word(one.severity), "path": one.path, "message": one.message }))
            .collect();
        return Ok(Answer { text: output.value(&serde_json::json!(items)), code });
    }
    let mut text = String::new();
    for finding in &findings {
        let word = format!("{:8}", word(finding.severity));
        let word = match finding.severity {
            Severity::Error => paint.red(&word),
            Severity::Warning => paint.yellow(&word),
            Severity::Advice => paint.cyan(&word),
        };
        match &finding.error {
            Some(error) => {
                let _ = writeln!(text, "{word} {}", sources.explain(error, paint).sentence);
            }
            None => {
                let _ = writeln!(text, "{word} {}: {}", finding.path, finding.message);
            }
        }
    }
    let name = format!("{} {}", chart.name(), chart.metadata.version);
    let _ = match failed {
        0 => writeln!(text, "{name} {}", paint.green("has no problems")),
        1 => writeln!(text, "{name} {}", paint.red("has 1 problem")),
        _ => writeln!(text, "{name} {}", paint.red(&format!("has {failed} problems"))),
    };
    Ok(Answer { text, code })
}
