//! `fitout catalog show`.

use std::fmt::Write;

use clap::Args;
use fitout_api::{Catalog, CatalogSource, conditions};
use kube::ResourceExt;

use super::{counts, find};
use crate::Answer;
use crate::commands::instance::install::CatalogScope;
use crate::connection::Session;
use crate::durations::age;
use crate::failure::Failure;
use crate::tables;

#[derive(Args)]
pub(crate) struct Show {
    /// The name of the catalog
    name: String,
    /// The scope of the catalog, where a shared and an own one have the same name
    #[arg(long, value_enum)]
    scope: Option<CatalogScope>,
}

pub(crate) async fn run(session: &Session, show: &Show) -> Result<Answer, Failure> {
    let catalog = find(session, &show.name, show.scope).await?;
    Ok(session.output.object(&catalog, || view(&catalog, session))?.into())
}

fn view(catalog: &Catalog, session: &Session) -> String {
    let (spec, status) = (&catalog.spec, catalog.status.clone().unwrap_or_default());
    let paint = session.paint;
    let mut facts = vec![("Scope", tables::scope(catalog.namespace().as_deref()))];
    let sources = spec.source.iter().map(|source| (None, source));
    let keyed = spec.sources.iter().map(|(key, source)| (Some(key), source));
    for (key, source) in sources.chain(keyed) {
        let of = key.map_or_else(String::new, |key| format!(" (Kubernetes {key})"));
        facts.push(("Source", format!("{}{of}", described(source))));
    }
    facts.push(("Offers", status.extensions.map_or_else(|| "not known yet".to_owned(), |_| counts(&status))));
    if spec.priority != 0 {
        facts.push(("Priority", spec.priority.to_string()));
    }
    facts.extend(status.synced_at.as_ref().map(|at| ("Changed", format!("{} ago", age(Some(at), session.now)))));
    if spec.suspend {
        facts.push(("Suspended", "yes".to_owned()));
    }
    let mut text = format!("{}\n", paint.bold(&catalog.name_any()));
    for (label, content) in facts {
        let _ = writeln!(text, "  {label:<10} {content}");
    }
    for source in &status.sources {
        let of = source.key.as_deref().map_or_else(|| "source".to_owned(), |key| format!("source {key}"));
        let (mark, state) = match (&source.error, &source.revision) {
            (Some(error), _) => (paint.red("✗"), error.clone()),
            (None, Some(revision)) => (paint.green("✓"), format!("read at revision {revision}")),
            (None, None) => (paint.yellow("…"), "not read yet".to_owned()),
        };
        let _ = write!(text, "\n  {mark} {of:<12} {state}");
    }
    if let Some(ready) = conditions::find(&status.conditions, conditions::READY) {
        let mark = if ready.status == "True" { paint.green("✓") } else { paint.red("✗") };
        let _ = write!(text, "\n  {mark} {:<12} {}", ready.type_, ready.message);
    }
    for problem in &status.problems {
        let _ = write!(text, "\n  {} {problem}", paint.yellow("!"));
    }
    if status.conditions.is_empty() { text + "\nThe hub has not reported a status yet.\n" } else { text + "\n" }
}

/// A source in a few words.
pub(super) fn described(source: &CatalogSource) -> String {
    let CatalogSource { directory, archive, helm_repository, git } = source;
    let directory = directory.as_ref().map(|directory| match (&directory.embedded, &directory.path) {
        (Some(name), _) => format!("built-in catalog {name}"),
        (None, path) => format!("directory {}", path.as_deref().unwrap_or_default()),
    });
    let archive = archive.as_ref().map(|archive| format!("archive {}", archive.url));
    let helm = helm_repository.as_ref().map(|helm| match helm.charts.as_slice() {
        [] => format!("Helm repository {}", helm.url),
        charts => format!("Helm repository {}: {}", helm.url, charts.join(", ")),
    });
    let git = git.as_ref().map(|git| {
        let reference = git.branch.as_ref().or(git.tag.as_ref()).or(git.commit.as_ref());
        let at = reference.map_or_else(String::new, |reference| format!(" at {reference}"));
        let path = git.path.as_ref().map_or_else(String::new, |path| format!(", folder {path}"));
        format!("git repository {}{at}{path}", git.url)
    });
    directory.or(archive).or(helm).or(git).unwrap_or_default()
}
