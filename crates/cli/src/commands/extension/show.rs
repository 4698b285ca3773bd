//! `fitout extension show`.

use std::fmt::Write;

use clap::Args;
use fitout_api::{BUILTIN, Cluster, Extension};
use kube::ResourceExt;
use kube::api::ListParams;

use super::details::{self, Request};
use super::list::in_order;
use super::{fit, versions};
use crate::Answer;
use crate::connection::Session;
use crate::failure::{Failure, unknown};
use crate::output::Paint;
use crate::tables::{self, Layout};

#[derive(Args)]
pub(crate) struct Show {
    /// The name of the extension
    name: String,
    /// The catalog, where several have the extension
    #[arg(long, value_name = "NAME")]
    catalog: Option<String>,
    /// Show the requirements and the changelog of this version, instead of the list of versions
    #[arg(long)]
    version: Option<String>,
    /// Show all changes since this version [default: those of the version itself]
    #[arg(long, value_name = "VERSION")]
    since: Option<String>,
}

pub(crate) async fn run(session: &Session, show: &Show) -> Result<Answer, Failure> {
    let Show { name, catalog, version, since } = show;
    let extensions = in_order(session).await?;
    let is_found = |extension: &&Extension| {
        extension.spec.extension == *name && catalog.as_ref().is_none_or(|catalog| extension.spec.catalog == *catalog)
    };
    let found: Vec<_> = extensions.iter().filter(is_found).collect();
    let clusters = session.all(session.own::<Cluster>(), &ListParams::default()).await?;
    let describe = |one: &Extension| describe(one, &clusters, session.paint, session.layout);
    match found.as_slice() {
        [] => {
            let names = extensions.iter().map(|extension| extension.spec.extension.as_str());
            Err(unknown("extension", name, "any catalog", names, "fitout extension list"))
        }
        [one] if version.is_some() || since.is_some() => {
            let request = Request { version: version.as_deref(), since: since.as_deref() };
            let details = details::ask(session, one, &request).await?;
            Ok(session.output.object(&details, || details::describe(&details, session.paint))?.into())
        }
        [_, _, ..] if version.is_some() || since.is_some() => {
            let catalogs: Vec<&str> = found.iter().map(|one| one.spec.catalog.as_str()).collect();
            let sentence = format!("several catalogs offer {name}: {}", catalogs.join(", "));
            Err(Failure::new(sentence).hint("choose one with --catalog"))
        }
        [one] => Ok(session.output.object(one, || describe(one))?.into()),
        many => {
            let text = || many.iter().map(|one| describe(one)).collect::<Vec<_>>().join("\n");
            Ok(session.output.list(many, text)?.into())
        }
    }
}

fn describe(extension: &Extension, clusters: &[Cluster], paint: Paint, layout: Layout) -> String {
    let spec = &extension.spec;
    let mut text = spec.display_name.clone().unwrap_or_else(|| spec.extension.clone());
    if let Some(summary) = &spec.summary {
        let _ = write!(text, ": {summary}");
    }
    let scope = tables::scope(extension.namespace().as_deref());
    let _ = write!(text, "\n  Catalog    {} ({scope})\n", spec.catalog);
    if let Some(publisher) = &spec.publisher {
        let _ = writeln!(text, "  Publisher  {publisher}");
    }
    if !spec.categories.is_empty() {
        let _ = writeln!(text, "  Categories {}", spec.categories.join(", "));
    }
    if !spec.keywords.is_empty() {
        let _ = writeln!(text, "  Keywords   {}", spec.keywords.join(", "));
    }
    if extension.labels().contains_key(BUILTIN) {
        let _ = writeln!(text, "  Built in   yes");
    }
    // A security problem is seen first.
    text += &versions::states(&spec.versions, paint);
    text += "\n";
    text += &versions::table(extension, layout, paint);
    for table in [fit::table(extension, clusters, layout), fit::verdicts(extension, clusters, layout, paint)] {
        if !clusters.is_empty() && !table.is_empty() {
            text += "\n";
            text += &table;
        }
    }
    text
}
