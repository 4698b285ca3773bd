//! From a request and a catalog to a rendered release: resolves a version, renders it and builds the artifact.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use fitout_engines::{
    Environment, Files, Input, Lookup, Release, RenderOutcome, Rendered, given, render as render_definition,
    rendered_from_record,
};
use fitout_helm_release::Release as Recorded;
use fitout_model::{Apis, Digest, ObjectId, Package, Problem, defined_kinds};
use fitout_resolve::{Candidate, Question, choose};
use fitout_snapshot::VersionEntry;
use serde_json::{Value, json};

use crate::content::{Content, KeptHook};
use crate::transform::{place, transform};
use crate::{Artifact, Ignore, Ignored, Owner};

/// The extension to render, and the cluster it is for.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The extension's name.
    pub extension: &'a str,
    /// The requested version range.
    pub version: Option<&'a str>,
    /// Whether to upgrade to the newest version that fits. Otherwise the installed version stays as long as it fits.
    pub latest: bool,
    /// Whether an installed version that is withdrawn stays until a user moves it.
    pub stays_on_withdrawn: bool,
    /// The installed version.
    pub installed: Option<&'a str>,
    /// The merged values of all layers above the definition's own. A null deletes the value below it.
    pub values: &'a Value,
    /// The release of the instance.
    pub owner: Owner<'a>,
    /// The number of the new revision.
    pub revision: u32,
    /// The cluster's Kubernetes version, as the cluster reports it.
    pub kubernetes: &'a str,
    /// The kinds that the cluster serves.
    pub apis: &'a Apis,
}

/// The chosen version, with all inputs of its rendering.
#[derive(Clone, Debug)]
pub struct ResolvedPackage {
    /// The definition with its files.
    pub package: Arc<Package>,
    /// The chart archive, where the chart comes from a repository.
    pub archive: Option<Archive>,
    /// The stored content that has the package, if known.
    pub pack: Option<Digest>,
    /// Why this version was chosen.
    pub why: String,
}

/// A chart archive. Clones share the bytes.
#[derive(Clone, Debug)]
pub struct Archive {
    /// The bytes.
    pub content: Arc<[u8]>,
    /// The digest of the bytes.
    pub digest: Digest,
}

impl Archive {
    /// An archive of these bytes.
    pub fn new(content: Vec<u8>) -> Self {
        Self { digest: Digest::of(&content), content: content.into() }
    }
}

/// A rendered revision, with its inputs.
#[derive(Clone, Debug)]
pub struct RenderedRelease {
    /// The artifact.
    pub artifact: Artifact,
    /// Its content.
    pub content: Content,
    /// The index of each object in the content.
    places: BTreeMap<ObjectId, usize>,
    /// The package it was rendered from; none for the artifact of an earlier revision.
    pub chosen: Option<ResolvedPackage>,
    /// The digest of all inputs of the rendering, except the revision number.
    pub inputs: Option<Digest>,
    /// The chosen version.
    pub version: String,
    /// The application version of the definition.
    pub app_version: String,
    /// The digest of the definition and its files.
    pub definition: Digest,
    /// The stored content that has the definition and its files, if known.
    pub pack: Option<Digest>,
    /// The values of the rendering.
    pub values: Value,
    /// Why this version was chosen.
    pub why: String,
    /// Whether it can be installed before the cluster has a Ready node.
    pub bootstrap: bool,
    /// Fields that other managers may take over.
    pub ignore: Vec<Ignore>,
}

/// Why an extension cannot be rendered. The message is a sentence for the status of the instance.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RenderError {
    /// No version was chosen.
    #[error("{0}")]
    Unresolved(String),
    /// The chosen version cannot be rendered.
    #[error("{0}")]
    Invalid(String),
    /// An input of the rendering is temporarily unavailable.
    #[error("{0}")]
    Unavailable(String),
}

/// The progress of a rendering.
#[derive(Clone, Debug)]
pub enum RenderProgress {
    /// These objects have to be looked up on the cluster first.
    Need(Vec<Lookup>),
    /// The rendering is complete.
    Ready(Box<RenderedRelease>),
}

/// The versions to choose from.
#[derive(Clone, Copy, Debug, Default)]
pub struct Offer<'a> {
    /// The versions that the catalog offers for the cluster's Kubernetes version.
    pub versions: &'a [VersionEntry],
    /// The installed version, if the catalog no longer offers it.
    pub lost: Option<&'a VersionEntry>,
    /// Why the catalog offers no version, if it has read the extension and refused it.
    pub problem: Option<&'a str>,
}

/// The chosen version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolution {
    /// Its entry.
    pub version: VersionEntry,
    /// Why it was chosen, in a sentence.
    pub why: String,
}

/// Chooses a version.
pub fn resolve(request: &Request, offer: &Offer) -> Result<Resolution, RenderError> {
    let entries: Vec<(&VersionEntry, bool)> =
        offer.versions.iter().map(|entry| (entry, true)).chain(offer.lost.map(|entry| (entry, false))).collect();
    if let Some(problem) = offer.problem.filter(|_| entries.is_empty()) {
        return Err(RenderError::Unresolved(problem.to_owned()));
    }
    let texts: Vec<String> = entries.iter().map(|(entry, _)| entry.version.to_string()).collect();
    let candidates: Vec<Candidate> = entries
        .iter()
        .zip(&texts)
        .map(|((entry, offered), version)| Candidate {
            version,
            kubernetes: entry.kubernetes.as_deref(),
            replaces: entry.upgrade_from.as_deref(),
            state: entry.state,
            note: entry.note.as_deref(),
            offered: *offered,
        })
        .collect();
    let question = Question {
        extension: request.extension,
        versions: &candidates,
        wanted: request.version,
        kubernetes: request.kubernetes,
        installed: request.installed,
        latest: request.latest,
        stays_on_withdrawn: request.stays_on_withdrawn,
    };
    let choice = choose(&question).map_err(|error| RenderError::Unresolved(error.to_string()))?;
    Ok(Resolution { version: entries[choice.index].0.clone(), why: choice.why })
}

impl ResolvedPackage {
    /// The size of all inputs in bytes.
    pub fn size(&self) -> usize {
        let archive = self.archive.as_ref().map_or(0, |archive| archive.content.len());
        archive + self.package.files.values().map(Vec::len).sum::<usize>()
    }

    /// The digest of all inputs of a rendering, except the revision number and the results of lookups. As long as it is the
    /// same, the stored artifact is reused, so that random values of templates do not change.
    pub fn inputs(&self, request: &Request) -> Digest {
        Digest::of_value(&json!([
            self.package.digest,
            self.archive.as_ref().map(|archive| &archive.digest),
            request.values,
            request.owner.name,
            request.owner.namespace,
            request.kubernetes,
        ]))
    }

    /// Renders the package, and adds namespaces and ownership to every object.
    pub fn render(
        &self,
        request: &Request,
        answers: &BTreeMap<Lookup, Value>,
        world: &Rc<dyn Environment>,
    ) -> Result<RenderProgress, RenderError> {
        let invalid = |problem: Problem| RenderError::Invalid(problem.to_string());
        let Owner { name, namespace } = request.owner;
        let input = Input {
            definition: &self.package.definition,
            files: self.files(),
            values: request.values,
            release: Release { name, namespace, revision: request.revision },
            kubernetes: request.kubernetes,
            apis: request.apis,
            answers,
            world,
        };
        let rendered = match render_definition(&input).map_err(invalid)? {
            RenderOutcome::NeedLookups(lookups) => return Ok(RenderProgress::Need(lookups)),
            RenderOutcome::Rendered(rendered) => rendered,
        };
        let content = placed(rendered, request.owner, request.apis).map_err(invalid)?;
        let digest = Digest::of(content.text());
        Ok(RenderProgress::Ready(Box::new(self.release(content, digest, request))))
    }

    /// The release of an earlier rendering, from its stored content.
    pub fn reuse_stored(&self, stored: &str, request: &Request) -> Result<RenderedRelease, RenderError> {
        Ok(self.release(Content::read(stored)?, Digest::of(stored), request))
    }

    fn release(&self, content: Content, digest: Digest, request: &Request) -> RenderedRelease {
        let definition = &self.package.definition;
        RenderedRelease {
            inputs: Some(self.inputs(request)),
            version: definition.version.to_string(),
            app_version: definition.app_version.clone().unwrap_or_default(),
            definition: self.package.digest.clone(),
            pack: self.pack.clone(),
            values: given(definition, request.values),
            why: self.why.clone(),
            bootstrap: definition.bootstrap,
            chosen: Some(self.clone()),
            ..from_content(content, digest, None)
        }
    }

    /// The files to render from.
    pub fn files(&self) -> Files<'_> {
        let archive = self.archive.as_ref();
        Files {
            beside: &self.package.files,
            archive: archive.map(|archive| &*archive.content),
            digest: Some(archive.map_or(&self.package.digest, |archive| &archive.digest)),
        }
    }
}

/// The content of a release that another client created, from its release record.
pub fn adopted(release: &Recorded, owner: Owner, apis: &Apis) -> Result<RenderedRelease, RenderError> {
    let invalid =
        |problem: Problem| RenderError::Invalid(format!("record of revision {}: {problem}", release.revision));
    let mut rendered = rendered_from_record(release).map_err(invalid)?;
    // An object whose version is no longer served exists in another version, or no longer at all.
    rendered.objects.retain_mut(|object| use_served_version(object, apis));
    rendered.hooks.retain_mut(|(_, object)| use_served_version(object, apis));
    let content = placed(rendered, owner, apis).map_err(invalid)?;
    let digest = Digest::of(content.text());
    let metadata = release.chart.as_ref().and_then(|chart| chart.metadata.as_ref());
    Ok(RenderedRelease {
        version: metadata.map(|metadata| metadata.version.clone()).unwrap_or_default(),
        app_version: metadata.map(|metadata| metadata.app_version.clone()).unwrap_or_default(),
        values: Value::Object(release.config.clone()),
        why: format!("revision {} was created by another client", release.revision),
        ..from_content(content, digest, None)
    })
}

/// Sets the `apiVersion` of an object to one that the cluster serves. Returns false where the kind is not served.
fn use_served_version(object: &mut Value, apis: &Apis) -> bool {
    let Some(id) = ObjectId::of(object) else { return true };
    if apis.scope(&id.gvk).is_some() {
        return true;
    }
    let served = apis.kinds().find(|other| other.group == id.gvk.group && other.kind == id.gvk.kind);
    if let Some(served) = served {
        object["apiVersion"] = served.api_version().into();
    }
    served.is_some()
}

/// Adds namespaces and ownership to all that was rendered.
fn placed(rendered: Rendered, owner: Owner, apis: &Apis) -> Result<Content, Problem> {
    let defined: Apis = rendered.crds.iter().chain(&rendered.objects).flat_map(defined_kinds).collect();
    let mut hooks = Vec::with_capacity(rendered.hooks.len());
    for (hook, object) in rendered.hooks {
        hooks.push(KeptHook { hook, object: place(object, &defined, owner, apis)? });
    }
    let crds = rendered.crds.into_iter().map(|crd| place(crd, &defined, owner, apis)).collect::<Result<_, _>>()?;
    let objects = transform(rendered.objects, &defined, owner, apis)?;
    Ok(Content { objects, crds, hooks, notes: rendered.notes, manifest: rendered.manifest })
}

/// The size that certainly fits into a release record, which is compressed but base64-encoded twice.
const RECORD_LIMIT: usize = 512 << 10;

impl RenderedRelease {
    /// Whether the release record contains all content, so that [`adopted`] restores the same artifact from it.
    pub fn fits_a_record(&self) -> bool {
        let Content { crds, hooks, notes, manifest, .. } = &self.content;
        let hooks: usize = hooks.iter().map(|kept| kept.hook.manifest.len()).sum();
        match (&self.chosen, manifest) {
            (Some(chosen), Some(manifest)) if crds.is_empty() => {
                chosen.size() + manifest.len() + hooks + notes.len() <= RECORD_LIMIT
            }
            _ => false,
        }
    }

    /// The object to apply.
    pub fn object(&self, id: &ObjectId) -> Option<&Value> {
        let find_crd = || self.content.crds.iter().find(|crd| ObjectId::of(crd).as_ref() == Some(id));
        self.places.get(id).map(|place| &self.content.objects[*place]).or_else(find_crd)
    }

    /// The ignored fields of this object.
    pub fn ignored(&self, id: &ObjectId) -> Ignored {
        self.object(id).map(|object| Ignored::of(object, &self.content.objects, &self.ignore)).unwrap_or_default()
    }

    /// The object of this hook.
    pub fn hook(&self, id: &ObjectId) -> Option<&Value> {
        self.content.hooks.iter().map(|kept| &kept.object).find(|object| ObjectId::of(object).as_ref() == Some(id))
    }
}

/// The release of an earlier revision, from its stored content.
pub fn from_stored_content(stored: &str, rolls_back_to: Option<u32>) -> Result<RenderedRelease, RenderError> {
    Ok(from_content(Content::read(stored)?, Digest::of(stored), rolls_back_to))
}

fn from_content(content: Content, digest: Digest, rolls_back_to: Option<u32>) -> RenderedRelease {
    let places = content.objects.iter().enumerate();
    RenderedRelease {
        artifact: content.artifact(digest, rolls_back_to),
        places: places.filter_map(|(place, object)| Some((ObjectId::of(object)?, place))).collect(),
        content,
        chosen: None,
        inputs: None,
        version: String::new(),
        app_version: String::new(),
        definition: Digest::of(""),
        pack: None,
        values: json!({}),
        why: String::new(),
        bootstrap: true,
        ignore: vec![],
    }
}

#[cfg(test)]
mod tests {
    use fitout_model::{Gvk, Packages, Scope, read_packages};
    use fitout_snapshot::ExtensionEntry;

    use super::*;

    fn packages(definitions: &[(&str, &str)]) -> Packages {
        let files = definitions.iter().flat_map(|(version, more)| {
            let definition = format!(
                "apiVersion: fitout.dev/v1alpha1\nkind: ExtensionDefinition\nmetadata: {{ name: web }}\n\
                 spec: {{ extension: web, version: {version}, manifests: {{ path: m }}{more} }}\n"
            );
            let manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: web }\n";
            [
                (format!("web/{version}/definition.yaml"), definition.into_bytes()),
                (format!("web/{version}/m/a.yaml"), manifest.as_bytes().to_vec()),
            ]
        });
        read_packages(files.collect())
    }

    fn rendered(packages: &Packages, version: Option<&str>) -> Result<RenderedRelease, RenderError> {
        let apis = [(Gvk::new("v1", "ConfigMap"), Scope::Namespaced)].into_iter().collect();
        let request = Request {
            extension: "web",
            version,
            latest: false,
            stays_on_withdrawn: false,
            installed: None,
            values: &json!({}),
            owner: Owner { name: "shop", namespace: "shop" },
            revision: 1,
            kubernetes: "v1.36.3",
            apis: &apis,
        };
        let world: Rc<dyn Environment> = Rc::new(fitout_environment::HostEnvironment);
        let entry = ExtensionEntry::of(&packages.packages, Digest::of(""));
        let problem = packages.problems.first().map(|(_, problem)| problem.to_string());
        let versions = entry.as_ref().map_or(&[][..], |entry| &entry.versions);
        let resolution = resolve(&request, &Offer { versions, lost: None, problem: problem.as_deref() })?;
        let found = packages.packages.iter().find(|package| package.digest == resolution.version.digest);
        let package = Arc::clone(found.unwrap());
        let chosen = ResolvedPackage { package, archive: None, pack: None, why: resolution.why };
        match chosen.render(&request, &BTreeMap::new(), &world)? {
            RenderProgress::Ready(release) => Ok(*release),
            RenderProgress::Need(lookups) => panic!("{lookups:?}"),
        }
    }

    #[test]
    fn the_newest_version_that_fits_is_rendered_and_placed() {
        let offered = packages(&[("1.0.0", ""), ("1.1.0", ", appVersion: v9"), ("1.2.0", ", kubernetes: '>=1.40'")]);
        let release = rendered(&offered, None).unwrap();
        assert_eq!((release.version.as_str(), release.app_version.as_str()), ("1.1.0", "v9"));
        let ids: Vec<String> = release.artifact.objects.iter().map(|planned| planned.id.to_string()).collect();
        assert_eq!(ids, ["ConfigMap/shop/web"]);
        assert_eq!(release.artifact.digest, Digest::of(release.content.text()));
    }

    #[test]
    fn stored_content_restores_the_same_artifact() {
        let release = rendered(&packages(&[("1.0.0", "")]), None).unwrap();
        let again = from_stored_content(&release.content.text(), Some(1)).unwrap();
        assert_eq!(again.artifact.digest, release.artifact.digest);
        assert_eq!(again.artifact.objects, release.artifact.objects);
    }

    #[test]
    fn an_unreadable_catalog_is_the_reason() {
        let offered = packages(&[("1.0.0", ", kubernets: '>=1.33'")]);
        let sentence = "web/1.0.0/definition.yaml:4: spec.kubernets: unknown field; did you mean `kubernetes`?";
        assert_eq!(rendered(&offered, None).unwrap_err(), RenderError::Unresolved(sentence.to_owned()));
    }

    #[test]
    fn a_version_that_does_not_exist_is_not_resolved() {
        let offered = packages(&[("1.0.0", "")]);
        assert!(matches!(rendered(&offered, Some("2.x")), Err(RenderError::Unresolved(_))));
    }
}
