//! `fitout extension show`.

use std::fmt::Write;

use clap::Args;
use fitout_api::Extension;
use kube::ResourceExt;

use crate::Answer;
use crate::commands::shared_and_own;
use crate::connection::Session;
use crate::failure::{Failure, unknown};
use crate::tables::{self, Layout};

#[derive(Args)]
pub(crate) struct Show {
    /// The name of the extension
    name: String,
}

pub(crate) async fn run(session: &Session, show: &Show) -> Result<Answer, Failure> {
    let Show { name } = show;
    let extensions = shared_and_own::<Extension>(session).await?;
    let found: Vec<_> = extensions.iter().filter(|extension| extension.spec.extension == *name).collect();
    match found.as_slice() {
        [] => {
            let names = extensions.iter().map(|extension| extension.spec.extension.as_str());
            Err(unknown("extension", name, "any catalog", names, "fitout extension list"))
        }
        [one] => Ok(session.output.object(one, || describe(one, session.layout))?.into()),
        many => {
            let text = || many.iter().map(|one| describe(one, session.layout)).collect::<Vec<_>>().join("\n");
            Ok(session.output.list(many, text)?.into())
        }
    }
}

fn describe(extension: &Extension, layout: Layout) -> String {
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
    text + "\n" + &tables::versions(extension, layout)
}
