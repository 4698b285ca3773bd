//! `Chart.yaml` as it is written, before anybody has looked at what it says.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::json::{self, Place};
use super::target::{Field, Target, find, read};
use super::{Dependency, Import, Lock, Maintainer};
use crate::error::Error;
use crate::values::from_json;

/// `Chart.yaml` as it is written. `requirements.yaml` is read into the same one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Draft {
    pub(crate) name: String,
    pub(crate) home: String,
    pub(crate) sources: Option<Vec<String>>,
    pub(crate) version: String,
    pub(crate) description: String,
    pub(crate) keywords: Option<Vec<String>>,
    pub(crate) maintainers: Option<Vec<Option<Maintainer>>>,
    pub(crate) icon: String,
    pub(crate) api_version: String,
    pub(crate) condition: String,
    pub(crate) tags: String,
    pub(crate) app_version: String,
    pub(crate) deprecated: bool,
    pub(crate) annotations: Option<BTreeMap<String, String>>,
    pub(crate) kube_version: String,
    pub(crate) dependencies: Option<Vec<Option<Dependency>>>,
    pub(crate) kind: String,
}

const METADATA: &[Field] = &[
    ("name", Target::Text),
    ("home", Target::Text),
    ("sources", Target::List(&Target::Text)),
    ("version", Target::Text),
    ("description", Target::Text),
    ("keywords", Target::List(&Target::Text)),
    ("maintainers", Target::List(&Target::Struct(MAINTAINER))),
    ("icon", Target::Text),
    ("apiVersion", Target::Text),
    ("condition", Target::Text),
    ("tags", Target::Text),
    ("appVersion", Target::Text),
    ("deprecated", Target::Any),
    ("annotations", Target::Map(&Target::Text)),
    ("kubeVersion", Target::Text),
    ("dependencies", Target::List(&Target::Struct(DEPENDENCY))),
    ("type", Target::Text),
];

const MAINTAINER: &[Field] = &[("name", Target::Text), ("email", Target::Text), ("url", Target::Text)];

const DEPENDENCY: &[Field] = &[
    ("name", Target::Text),
    ("version", Target::Text),
    ("repository", Target::Text),
    ("condition", Target::Text),
    ("tags", Target::List(&Target::Text)),
    ("enabled", Target::Any),
    ("import-values", Target::List(&Target::Any)),
    ("alias", Target::Text),
];

const LOCK: &[Field] = &[
    ("generated", Target::Any),
    ("digest", Target::Text),
    ("dependencies", Target::List(&Target::Struct(DEPENDENCY))),
];

impl Draft {
    /// Reads a document into it: what the document does not say stays.
    pub(crate) fn read(&mut self, text: &[u8]) -> Result<(), Error> {
        deeply(text, || {
            let json = read(text, Target::Struct(METADATA))?;
            self.fill(&json).map_err(decoding)
        })
    }

    fn fill(&mut self, json: &Json) -> Result<(), Error> {
        let root = Place::root("Metadata");
        for (key, json) in json::fields(&root, json, "v2.Metadata")? {
            let Some(at) = find(METADATA, key) else { continue };
            let place = &root.field(METADATA[at].0);
            match METADATA[at].0 {
                "name" => json::text(place, json, &mut self.name),
                "home" => json::text(place, json, &mut self.home),
                "sources" => json::texts(place, json, &mut self.sources),
                "version" => json::text(place, json, &mut self.version),
                "description" => json::text(place, json, &mut self.description),
                "keywords" => json::texts(place, json, &mut self.keywords),
                "maintainers" => json::list(place, json, "[]*v2.Maintainer", &mut self.maintainers, |json, into| {
                    optional(json, into, |json, into| maintainer(place, json, into))
                }),
                "icon" => json::text(place, json, &mut self.icon),
                "apiVersion" => json::text(place, json, &mut self.api_version),
                "condition" => json::text(place, json, &mut self.condition),
                "tags" => json::text(place, json, &mut self.tags),
                "appVersion" => json::text(place, json, &mut self.app_version),
                "deprecated" => json::boolean(place, json, &mut self.deprecated),
                "annotations" => json::text_map(place, json, &mut self.annotations),
                "kubeVersion" => json::text(place, json, &mut self.kube_version),
                "dependencies" => dependencies(place, json, &mut self.dependencies),
                _ => json::text(place, json, &mut self.kind),
            }?;
        }
        Ok(())
    }
}

/// The `apiVersion` that a `Chart.yaml` names, which decides who reads it.
pub(crate) fn detect_api_version(text: &[u8]) -> Result<String, Error> {
    const BASE: &[Field] = &[("apiVersion", Target::Text)];
    deeply(text, || {
        let json = read(text, Target::Struct(BASE))?;
        let root = Place::root("chartBase");
        let mut version = String::new();
        for (key, json) in json::fields(&root, &json, "loader.chartBase").map_err(decoding)? {
            if find(BASE, key).is_some() {
                json::text(&root.field("apiVersion"), json, &mut version).map_err(decoding)?;
            }
        }
        Ok(version)
    })
}

/// What a lock file says; nothing, where it says nothing at all.
pub(crate) fn lock(text: &[u8]) -> Result<Option<Lock>, Error> {
    deeply(text, || {
        let json = read(text, Target::Struct(LOCK))?;
        if json.is_null() { Ok(None) } else { filled_lock(&json).map(Some).map_err(decoding) }
    })
}

/// JSON is dropped level by level, of which a text may have 10,000: at most one for each sign that can begin one.
fn deeply<R>(text: &[u8], task: impl FnOnce() -> R) -> R {
    const LEVEL: usize = 1700;
    const DEEPEST: usize = 10_000;
    const NEEDED: usize = 64 << 10;
    let levels = text.iter().filter(|byte| matches!(byte, b'[' | b'{' | b'-' | b'?' | b':')).count();
    let needed = NEEDED + levels.min(DEEPEST) * LEVEL;
    stacker::maybe_grow(needed, needed, task)
}

fn filled_lock(json: &Json) -> Result<Lock, Error> {
    let root = Place::root("Lock");
    let mut lock = Lock::default();
    let mut entries = None;
    for (key, json) in json::fields(&root, json, "v2.Lock")? {
        let Some(at) = find(LOCK, key) else { continue };
        let place = &root.field(LOCK[at].0);
        match LOCK[at].0 {
            "generated" => match json {
                Json::Null => Ok(()),
                Json::String(time) => super::check::time(time).map(|()| lock.generated.clone_from(time)),
                _ => Err(Error::new("Time.UnmarshalJSON: input is not a JSON string")),
            },
            "digest" => json::text(place, json, &mut lock.digest),
            _ => dependencies(place, json, &mut entries),
        }?;
    }
    lock.dependencies = entries.into_iter().flatten().flatten().collect();
    Ok(lock)
}

fn maintainer(around: &Place<'_>, json: &Json, into: &mut Maintainer) -> Result<(), Error> {
    let root = around.inside("Maintainer");
    for (key, json) in json::fields(&root, json, "v2.Maintainer")? {
        let Some(at) = find(MAINTAINER, key) else { continue };
        let place = &root.field(MAINTAINER[at].0);
        match MAINTAINER[at].0 {
            "name" => json::text(place, json, &mut into.name),
            "email" => json::text(place, json, &mut into.email),
            _ => json::text(place, json, &mut into.url),
        }?;
    }
    Ok(())
}

fn dependencies(place: &Place<'_>, json: &Json, into: &mut Option<Vec<Option<Dependency>>>) -> Result<(), Error> {
    json::list(place, json, "[]*v2.Dependency", into, |json, into| {
        optional(json, into, |json, into| dependency(place, json, into))
    })
}

fn dependency(around: &Place<'_>, json: &Json, into: &mut Dependency) -> Result<(), Error> {
    let root = around.inside("Dependency");
    for (key, json) in json::fields(&root, json, "v2.Dependency")? {
        let Some(at) = find(DEPENDENCY, key) else { continue };
        let place = &root.field(DEPENDENCY[at].0);
        match DEPENDENCY[at].0 {
            "name" => json::text(place, json, &mut into.name),
            "version" => json::text(place, json, &mut into.version),
            "repository" => json::text(place, json, &mut into.repository),
            "condition" => json::text(place, json, &mut into.condition),
            "tags" => {
                let mut tags = Some(std::mem::take(&mut into.tags));
                json::texts(place, json, &mut tags)?;
                into.tags = tags.unwrap_or_default();
                Ok(())
            }
            "enabled" => json::boolean(place, json, &mut into.enabled),
            "import-values" => imports(place, json, &mut into.import_values),
            _ => json::text(place, json, &mut into.alias),
        }?;
    }
    Ok(())
}

fn imports(place: &Place<'_>, json: &Json, into: &mut Vec<Import>) -> Result<(), Error> {
    match json {
        Json::Null => into.clear(),
        Json::Array(items) => *into = items.iter().map(|item| Import::Written(from_json(item))).collect(),
        other => return place.refuse(other, "[]interface {}"),
    }
    Ok(())
}

/// Behind a pointer, which nothing makes nil.
fn optional<T: Default>(
    json: &Json,
    into: &mut Option<T>,
    read: impl FnOnce(&Json, &mut T) -> Result<(), Error>,
) -> Result<(), Error> {
    if json.is_null() {
        *into = None;
        return Ok(());
    }
    read(json, into.get_or_insert_default())
}

fn decoding(error: Error) -> Error {
    error.while_doing("error unmarshaling JSON: while decoding JSON")
}
