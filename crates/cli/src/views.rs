//! List, status, history, catalogs and extensions: what only looks.

use std::fmt::Write;

use fitout_api::{Catalog, Cluster, Extension, ExtensionInstance, ExtensionRevision};
use kube::ResourceExt;
use kube::api::ListParams;
use serde_json::json;

use crate::arguments::{self, List, Status};
use crate::connection::{OrganizationResource, Session};
use crate::display::Display;
use crate::failure::{Failure, unknown};
use crate::output::Format;
use crate::wait::{Until, follow};
use crate::wait_outcome::code;
use crate::{Answer, progress, revisions, tables};

pub(crate) async fn list(session: &Session, list: &List) -> Result<Answer, Failure> {
    let mut params = ListParams::default();
    if let Some(cluster) = &list.cluster {
        session.named::<Cluster>("cluster", cluster, "fitout cluster list").await?;
        params = params.fields(&format!("spec.cluster={cluster}"));
    }
    let instances = session.all(session.own::<ExtensionInstance>(), &params).await?;
    let none = format!("nothing is installed for organization {}", session.organization);
    let words = || tables::instances(&instances, session.output == Format::Wide, session.now);
    listed(session, &instances, &none, words)
}

/// A list, or a word on the standard error that it is empty.
pub(crate) fn listed<K: serde::Serialize>(
    session: &Session,
    objects: &[K],
    none: &str,
    words: impl FnOnce() -> String,
) -> Result<Answer, Failure> {
    if objects.is_empty() && session.output.is_table() {
        eprintln!("{none}");
        return Ok(String::new().into());
    }
    Ok(session.output.list(objects, words)?.into())
}

pub(crate) async fn status(session: &Session, status: &Status) -> Result<Answer, Failure> {
    let mut instance: ExtensionInstance = session.named("instance", &status.instance, "fitout list").await?;
    if status.watch && !session.output.is_table() {
        // Its last state is among those that were printed.
        follow(session, instance, Until::Ready, status.timeout, &Display::for_programs(session.output)).await?;
        return Ok(String::new().into());
    }
    if status.watch {
        let display = Display::for_people(&status.instance);
        let seen = follow(session, instance.clone(), Until::Ready, status.timeout, &display).await?;
        instance = seen.unwrap_or(instance);
    }
    let text = session.output.object(&instance, || progress::view(&instance, session.now, session.paint))?;
    Ok(Answer { text, code: code(&instance) })
}

pub(crate) async fn history(session: &Session, name: &str) -> Result<Answer, Failure> {
    let instance: ExtensionInstance = session.named("instance", name, "fitout list").await?;
    let installed = instance.status.and_then(|status| status.revision);
    let params = ListParams::default().fields(&format!("spec.instance={name}"));
    let kept = revisions::told(session.all(session.own::<ExtensionRevision>(), &params).await?, installed);
    let words = || tables::history(&kept, session.output == Format::Wide, session.now);
    listed(session, &kept, &format!("instance {name} has no revision yet"), words)
}

pub(crate) async fn catalog(session: &Session, command: &arguments::Catalog) -> Result<Answer, Failure> {
    match command {
        arguments::Catalog::List => {
            let catalogs = usable::<Catalog>(session).await?;
            let words = || tables::catalogs(&catalogs, session.output == Format::Wide, session.now);
            listed(session, &catalogs, "the hub has no catalog yet", words)
        }
    }
}

pub(crate) async fn extension(session: &Session, command: &arguments::Extension) -> Result<Answer, Failure> {
    let extensions = usable::<Extension>(session).await?;
    let wide = session.output == Format::Wide;
    match command {
        arguments::Extension::List => {
            let words = || tables::extensions(&extensions, wide, session.now);
            listed(session, &extensions, "no catalog catalog_lookup an extension yet", words)
        }
        arguments::Extension::Show { name } => {
            let found: Vec<_> = extensions.iter().filter(|extension| extension.spec.extension == *name).collect();
            match found.as_slice() {
                [] => {
                    let names = extensions.iter().map(|extension| extension.spec.extension.as_str());
                    Err(unknown("extension", name, "any catalog", names, "fitout extension list"))
                }
                [one] => Ok(session.output.object(one, || described(one, wide))?.into()),
                many => {
                    let words = || many.iter().map(|one| described(one, wide)).collect::<Vec<_>>().join("\n");
                    Ok(session.output.list(many, words)?.into())
                }
            }
        }
    }
}

/// What every organization may use, and then what is the organization's own.
async fn usable<K: OrganizationResource>(session: &Session) -> Result<Vec<K>, Failure> {
    let mut all = session.all(session.shared::<K>(), &ListParams::default()).await?;
    all.extend(session.all(session.own::<K>(), &ListParams::default()).await?);
    Ok(all)
}

fn described(extension: &Extension, wide: bool) -> String {
    let spec = &extension.spec;
    let mut text = spec.display_name.clone().unwrap_or_else(|| spec.extension.clone());
    if let Some(summary) = &spec.summary {
        let _ = write!(text, ": {summary}");
    }
    let whose = tables::whose(extension.namespace().as_deref());
    let _ = write!(text, "\n  Catalog    {} ({whose})\n", spec.catalog);
    if let Some(publisher) = &spec.publisher {
        let _ = writeln!(text, "  Publisher  {publisher}");
    }
    if !spec.categories.is_empty() {
        let _ = writeln!(text, "  Categories {}", spec.categories.join(", "));
    }
    text + "\n" + &tables::versions(extension, wide)
}

/// The version of this program.
pub(crate) fn version(output: Format) -> String {
    let version = env!("CARGO_PKG_VERSION");
    if output.is_table() { format!("fitout {version}\n") } else { output.value(&json!({ "fitout": version })) }
}
