//! Renders a definition for a supported Kubernetes version, as the hub would under the extension's own name.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use fitout_engines::{Environment, Files, Input, Release, RenderOutcome};
use fitout_model::{Apis, Definition, Digest, Gvk, ObjectId, Problem, Scope, defined_kinds};
use serde_json::Value;

use crate::kubernetes::Kubernetes;

/// Another release, by which fixed names are recognized.
pub(crate) const OTHER_RELEASE: &str = "fitout-other-release";

/// A definition with all that its rendering depends on, except the cluster.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) definition: &'a Definition,
    /// The files beside the definition, by path.
    pub(crate) files: &'a BTreeMap<String, Vec<u8>>,
    /// The archive of a chart that is not beside the definition.
    pub(crate) archive: Option<&'a [u8]>,
    /// Values for what has no default.
    pub(crate) values: &'a Value,
    pub(crate) world: &'a Rc<dyn Environment>,
    /// The key under which a parsed chart is kept.
    pub(crate) digest: &'a Digest,
}

/// An object with its place.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub(crate) object: Value,
    pub(crate) id: ObjectId,
    pub(crate) scope: Scope,
}

/// The rendered objects, CRDs and hooks. Tests are not among them, because an install does not create them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Objects {
    pub(crate) placed: Vec<Placed>,
    /// The kinds that its CRDs define.
    pub(crate) defined: Apis,
}

/// Renders a definition as a release of this name in the namespace of the same name. Lookups find nothing.
pub(crate) fn render(
    source: &Source,
    kubernetes: &Kubernetes,
    version: &str,
    release: &str,
) -> Result<Objects, Problem> {
    let version = format!("v{version}");
    let mut answers = BTreeMap::new();
    let rendered = loop {
        let input = Input {
            definition: source.definition,
            files: Files { beside: source.files, archive: source.archive, digest: Some(source.digest) },
            values: source.values,
            release: Release { name: release, namespace: release, revision: 1 },
            kubernetes: &version,
            apis: &kubernetes.apis,
            answers: &answers,
            world: source.world,
        };
        match fitout_engines::render(&input)? {
            RenderOutcome::Rendered(rendered) => break rendered,
            RenderOutcome::NeedLookups(lookups) => {
                answers.extend(lookups.into_iter().map(|lookup| (lookup, Value::Null)));
            }
        }
    };
    let hooks = rendered.hooks.into_iter().map(|(_, object)| object).filter(|object| !is_test(object));
    let objects: Vec<Value> = rendered.crds.into_iter().chain(rendered.objects).chain(hooks).collect();
    let defined: Apis = objects.iter().flat_map(defined_kinds).collect();
    let placed = objects.into_iter().filter_map(|object| place(object, kubernetes, &defined, release)).collect();
    Ok(Objects { placed, defined })
}

fn is_test(object: &Value) -> bool {
    let hook = object["metadata"]["annotations"]["helm.sh/hook"].as_str().unwrap_or_default();
    hook.split(',').all(|event| event.trim().starts_with("test"))
}

/// Sets the namespace of an object as the hub does.
fn place(mut object: Value, kubernetes: &Kubernetes, defined: &Apis, namespace: &str) -> Option<Placed> {
    let id = ObjectId::of(&object)?;
    let known = kubernetes.apis.scope(&id.gvk).or_else(|| defined.scope(&id.gvk));
    let scope = known.unwrap_or_else(|| assumed_scope(&id));
    let metadata = object["metadata"].as_object_mut()?;
    match scope {
        Scope::Cluster => drop(metadata.remove("namespace")),
        Scope::Namespaced if id.namespace.is_empty() => {
            metadata.insert("namespace".to_owned(), namespace.into());
        }
        Scope::Namespaced => {}
    }
    Some(Placed { id: ObjectId::of(&object)?, object, scope })
}

/// The scope of a kind that another extension defines. Kinds of CRDs whose name begins with `Cluster` are cluster-scoped by
/// convention.
fn assumed_scope(id: &ObjectId) -> Scope {
    if id.namespace.is_empty() && id.gvk.kind.starts_with("Cluster") { Scope::Cluster } else { Scope::Namespaced }
}

impl Objects {
    /// The kinds of Kubernetes itself that this version does not serve.
    pub(crate) fn missing<'a>(&'a self, kubernetes: &'a Kubernetes) -> impl Iterator<Item = &'a Placed> {
        let lacks = |gvk: &Gvk| kubernetes.lacks(gvk) && self.defined.scope(gvk).is_none();
        self.placed.iter().filter(move |placed| lacks(&placed.id.gvk))
    }

    /// An object that a release with another name has too, so that the two cannot exist side by side.
    pub(crate) fn shared_with(&self, other: &Self) -> Option<&ObjectId> {
        let ids: BTreeSet<&ObjectId> = other.placed.iter().map(|placed| &placed.id).collect();
        self.placed.iter().map(|placed| &placed.id).find(|id| ids.contains(id))
    }
}
