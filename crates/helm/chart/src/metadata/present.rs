//! `.Chart`, as templates see it: a map with the names that the fields have in Go.

use std::rc::Rc;

use fitout_go_template::{Map, Type, Value};

use super::{Dependency, Import, Maintainer, Metadata};

const TEXTS: Type = Type::Map(&Type::String, &Type::String);

pub(crate) fn metadata(metadata: &Metadata) -> Value {
    Value::map([
        ("APIVersion", text(&metadata.api_version)),
        ("Annotations", annotations(metadata)),
        ("AppVersion", text(&metadata.app_version)),
        ("Condition", text(&metadata.condition)),
        ("Dependencies", Value::list(metadata.dependencies.iter().flatten().map(dependency))),
        ("Deprecated", Value::Bool(metadata.deprecated)),
        ("Description", text(&metadata.description)),
        ("Home", text(&metadata.home)),
        ("Icon", text(&metadata.icon)),
        ("Keywords", Value::list(metadata.keywords.iter().map(text))),
        ("KubeVersion", text(&metadata.kube_version)),
        ("Maintainers", Value::list(metadata.maintainers.iter().map(maintainer))),
        ("Name", text(&metadata.name)),
        ("Sources", Value::list(metadata.sources.iter().map(text))),
        ("Tags", text(&metadata.tags)),
        ("Type", text(&metadata.kind)),
        ("Version", text(&metadata.version)),
    ])
}

fn text(text: impl AsRef<str>) -> Value {
    Value::string(text.as_ref())
}

fn annotations(metadata: &Metadata) -> Value {
    let Some(annotations) = &metadata.annotations else { return Value::zero(TEXTS) };
    Value::Map(Rc::new(Map::of(TEXTS, annotations.iter().map(|(key, value)| (text(key), text(value))))))
}

fn maintainer(maintainer: &Maintainer) -> Value {
    Value::map([("Email", text(&maintainer.email)), ("Name", text(&maintainer.name)), ("URL", text(&maintainer.url))])
}

fn dependency(dependency: &Dependency) -> Value {
    Value::map([
        ("Alias", text(&dependency.alias)),
        ("Condition", text(&dependency.condition)),
        ("Enabled", Value::Bool(dependency.enabled)),
        ("ImportValues", Value::list(dependency.import_values.iter().map(import))),
        ("Name", text(&dependency.name)),
        ("Repository", text(&dependency.repository)),
        ("Tags", Value::list(dependency.tags.iter().map(text))),
        ("Version", text(&dependency.version)),
    ])
}

fn import(import: &Import) -> Value {
    match import {
        Import::Written(value) => value.clone(),
        Import::Processed { child, parent } => {
            let entries = [("child".into(), text(child)), ("parent".into(), text(parent))];
            Value::Map(Rc::new(Map::of(TEXTS, entries)))
        }
    }
}
