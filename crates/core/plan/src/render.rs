//! From what is wanted, and what there is, to the very thing that is applied.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use fitout_engines::{
    Environment, Files, Input, Lookup, Release, RenderOutcome, Rendered, given, recorded_made,
    render as render_definition,
};
use fitout_helm_release::Release as Recorded;
use fitout_model::{Apis, Digest, ObjectId, Package, Packages, Problem, defined_kinds};
use fitout_resolve::{Candidate, Question, choose};
use serde_json::{Value, json};

use crate::content::{Content, KeptHook};
use crate::transform::{place, transform};
use crate::{Artifact, Ignore, Ignored, Owner};

/// What is asked for, and for what cluster.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The extension.
    pub extension: &'a str,
    /// The range of versions that will do.
    pub version: Option<&'a str>,
    /// Whether a newer version that fits is taken, or only one that has to be.
    pub latest: bool,
    /// The version that is installed.
    pub installed: Option<&'a str>,
    /// The values of all layers above the definition's own. A null deletes what is below it.
    pub values: &'a Value,
    /// The release it becomes.
    pub owner: Owner<'a>,
    /// The number of the revision that would be made.
    pub revision: u32,
    /// The cluster's Kubernetes version, as the cluster says it.
    pub kubernetes: &'a str,
    /// The kinds that the cluster serves.
    pub apis: &'a Apis,
}

/// A version that was chosen, with all that it is rendered from.
#[derive(Clone, Debug)]
pub struct ResolvedPackage {
    /// The definition with its files.
    pub package: Arc<Package>,
    /// The packaged chart, where it comes from a repository.
    pub archive: Option<Archive>,
    /// Why it is this version.
    pub why: String,
}

/// A packaged chart. A clone shares its content.
#[derive(Clone, Debug)]
pub struct Archive {
    /// What it holds.
    pub content: Arc<[u8]>,
    /// Of that.
    pub digest: Digest,
}

impl Archive {
    /// The archive of this content.
    pub fn new(content: Vec<u8>) -> Self {
        Self { digest: Digest::of(&content), content: content.into() }
    }
}

/// What is to be installed, and where it came from.
#[derive(Clone, Debug)]
pub struct RenderedRelease {
    /// What the state machine works from.
    pub artifact: Artifact,
    /// All of it.
    pub content: Content,
    /// Where each object is in it.
    places: BTreeMap<ObjectId, usize>,
    /// What it was rendered from; none where it is an earlier revision's.
    pub chosen: Option<ResolvedPackage>,
    /// Of all that goes into it, but for the number of its revision.
    pub inputs: Option<Digest>,
    /// The version that was chosen.
    pub version: String,
    /// The version of what is inside, as the definition says it.
    pub app_version: String,
    /// Of the definition with its files.
    pub definition: Digest,
    /// The values it was made with.
    pub values: Value,
    /// Why it is this version.
    pub why: String,
    /// May be installed before the cluster has a Ready node.
    pub bootstrap: bool,
    /// Fields that a person leaves to others.
    pub ignore: Vec<Ignore>,
}

/// Why there is nothing to install.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RenderError {
    /// No version was found.
    Unresolved(String),
    /// The version that was found cannot be rendered.
    Invalid(String),
    /// What it is rendered from cannot be had just now.
    Unavailable(String),
}

/// What a rendering comes to.
#[derive(Clone, Debug)]
pub enum RenderProgress {
    /// These have to be looked up on the cluster first.
    Need(Vec<Lookup>),
    /// What is to be installed.
    Ready(Box<RenderedRelease>),
}

/// Chooses a version.
pub fn resolve(request: &Request, packages: &Packages) -> Result<ResolvedPackage, RenderError> {
    let offered: Vec<&Arc<Package>> =
        packages.packages.iter().filter(|package| package.definition.extension == request.extension).collect();
    // Where nothing could be read, why is what a person has to know.
    let unread = || {
        let place = format!("{}/", request.extension);
        packages.problems.iter().find(|(at, _)| at.starts_with(&place)).map(|(_, problem)| problem.to_string())
    };
    if let Some(problem) = unread().filter(|_| offered.is_empty()) {
        return Err(RenderError::Unresolved(problem));
    }
    let versions: Vec<String> = offered.iter().map(|package| package.definition.version.to_string()).collect();
    let candidates: Vec<Candidate> = offered
        .iter()
        .zip(&versions)
        .map(|(package, version)| Candidate {
            version,
            kubernetes: package.definition.kubernetes.as_deref(),
            replaces: package.definition.upgrade_from.as_deref(),
        })
        .collect();
    let question = Question {
        extension: request.extension,
        versions: &candidates,
        wanted: request.version,
        kubernetes: request.kubernetes,
        installed: request.installed,
        latest: request.latest,
    };
    let choice = choose(&question).map_err(RenderError::Unresolved)?;
    Ok(ResolvedPackage { package: Arc::clone(offered[choice.index]), archive: None, why: choice.why })
}

impl ResolvedPackage {
    /// How many bytes there are to render from.
    pub fn size(&self) -> usize {
        let archive = self.archive.as_ref().map_or(0, |archive| archive.content.len());
        archive + self.package.files.values().map(Vec::len).sum::<usize>()
    }

    /// Of all that goes into a rendering, but for the number of its revision and what a cluster answers. As long as it is
    /// the same, what was rendered once is what is wanted: nothing that was made by chance is made again.
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

    /// Renders it and puts every object in its place.
    pub fn render(
        &self,
        request: &Request,
        answers: &BTreeMap<Lookup, Value>,
        world: &Rc<dyn Environment>,
    ) -> Result<RenderProgress, RenderError> {
        let wrong = |problem: Problem| RenderError::Invalid(problem.to_string());
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
        let made = match render_definition(&input).map_err(wrong)? {
            RenderOutcome::NeedLookups(lookups) => return Ok(RenderProgress::Need(lookups)),
            RenderOutcome::Rendered(made) => made,
        };
        let content = placed(made, request.owner, request.apis).map_err(wrong)?;
        let digest = Digest::of(content.text());
        Ok(RenderProgress::Ready(Box::new(self.prepared(content, digest, request))))
    }

    /// What was rendered from it before, as it was kept.
    pub fn again(&self, kept: &str, request: &Request) -> Result<RenderedRelease, RenderError> {
        Ok(self.prepared(Content::read(kept)?, Digest::of(kept), request))
    }

    fn prepared(&self, content: Content, digest: Digest, request: &Request) -> RenderedRelease {
        let definition = &self.package.definition;
        RenderedRelease {
            inputs: Some(self.inputs(request)),
            version: definition.version.to_string(),
            app_version: definition.app_version.clone().unwrap_or_default(),
            definition: self.package.digest.clone(),
            values: given(definition, request.values),
            why: self.why.clone(),
            bootstrap: definition.bootstrap,
            chosen: Some(self.clone()),
            ..from_content(content, digest, None)
        }
    }

    /// What came with the definition.
    pub fn files(&self) -> Files<'_> {
        let archive = self.archive.as_ref();
        Files {
            beside: &self.package.files,
            archive: archive.map(|archive| &*archive.content),
            digest: Some(archive.map_or(&self.package.digest, |archive| &archive.digest)),
        }
    }
}

/// What a release is made of that another hand made, as its record has it.
pub fn adopted(release: &Recorded, owner: Owner, apis: &Apis) -> Result<RenderedRelease, RenderError> {
    let wrong = |problem: Problem| RenderError::Invalid(format!("record of revision {}: {problem}", release.revision));
    let mut made = recorded_made(release).map_err(wrong)?;
    // What the cluster no longer serves in that version is the same object in another, or is no more.
    made.objects.retain_mut(|object| serve(object, apis));
    made.hooks.retain_mut(|(_, object)| serve(object, apis));
    let content = placed(made, owner, apis).map_err(wrong)?;
    let digest = Digest::of(content.text());
    let metadata = release.chart.as_ref().and_then(|chart| chart.metadata.as_ref());
    Ok(RenderedRelease {
        version: metadata.map(|metadata| metadata.version.clone()).unwrap_or_default(),
        app_version: metadata.map(|metadata| metadata.app_version.clone()).unwrap_or_default(),
        values: Value::Object(release.config.clone()),
        why: format!("another hand made revision {}", release.revision),
        ..from_content(content, digest, None)
    })
}

/// Speaks of an object in a version that the cluster serves, where there is one.
fn serve(object: &mut Value, apis: &Apis) -> bool {
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

fn placed(made: Rendered, owner: Owner, apis: &Apis) -> Result<Content, Problem> {
    let brought: Apis = made.crds.iter().chain(&made.objects).flat_map(defined_kinds).collect();
    let mut hooks = Vec::with_capacity(made.hooks.len());
    for (hook, object) in made.hooks {
        hooks.push(KeptHook { hook, object: place(object, &brought, owner, apis)? });
    }
    let crds = made.crds.into_iter().map(|crd| place(crd, &brought, owner, apis)).collect::<Result<_, _>>()?;
    let objects = transform(made.objects, &brought, owner, apis)?;
    Ok(Content { objects, crds, hooks, notes: made.notes, manifest: made.manifest })
}

/// As much as is certain to fit into a record, which is packed but encoded twice.
const RECORDED: usize = 512 << 10;

impl RenderedRelease {
    /// Whether a release's record holds all of it, so that [`adopted`] makes the very same of it again.
    pub fn fits_a_record(&self) -> bool {
        let Content { crds, hooks, notes, manifest, .. } = &self.content;
        let hooks: usize = hooks.iter().map(|kept| kept.hook.manifest.len()).sum();
        match (&self.chosen, manifest) {
            (Some(chosen), Some(manifest)) if crds.is_empty() => {
                chosen.size() + manifest.len() + hooks + notes.len() <= RECORDED
            }
            _ => false,
        }
    }

    /// What is applied as this object.
    pub fn object(&self, id: &ObjectId) -> Option<&Value> {
        let crd = || self.content.crds.iter().find(|crd| ObjectId::of(crd).as_ref() == Some(id));
        self.places.get(id).map(|place| &self.content.objects[*place]).or_else(crd)
    }

    /// The fields that others may take from this object.
    pub fn ignored(&self, id: &ObjectId) -> Ignored {
        self.object(id).map(|object| Ignored::of(object, &self.content.objects, &self.ignore)).unwrap_or_default()
    }

    /// What is applied as the object of this hook.
    pub fn hook(&self, id: &ObjectId) -> Option<&Value> {
        self.content.hooks.iter().map(|kept| &kept.object).find(|object| ObjectId::of(object).as_ref() == Some(id))
    }
}

/// What was kept of an earlier revision, to be applied again.
pub fn kept(kept: &str, rolls_back_to: Option<u32>) -> Result<RenderedRelease, RenderError> {
    Ok(from_content(Content::read(kept)?, Digest::of(kept), rolls_back_to))
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
        values: json!({}),
        why: String::new(),
        bootstrap: true,
        ignore: vec![],
    }
}

#[cfg(test)]
mod tests {
    use fitout_model::{Gvk, Scope, read_packages};

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

    fn asked(packages: &Packages, version: Option<&str>) -> Result<RenderedRelease, RenderError> {
        let apis = [(Gvk::new("v1", "ConfigMap"), Scope::Namespaced)].into_iter().collect();
        let request = Request {
            extension: "web",
            version,
            latest: false,
            installed: None,
            values: &json!({}),
            owner: Owner { name: "shop", namespace: "shop" },
            revision: 1,
            kubernetes: "v1.36.3",
            apis: &apis,
        };
        let world: Rc<dyn Environment> = Rc::new(fitout_environment::HostEnvironment);
        match resolve(&request, packages)?.render(&request, &BTreeMap::new(), &world)? {
            RenderProgress::Ready(prepared) => Ok(*prepared),
            RenderProgress::Need(lookups) => panic!("{lookups:?}"),
        }
    }

    #[test]
    fn the_newest_version_that_fits_is_rendered_and_placed() {
        let offered = packages(&[("1.0.0", ""), ("1.1.0", ", appVersion: v9"), ("1.2.0", ", kubernetes: '>=1.40'")]);
        let prepared = asked(&offered, None).unwrap();
        assert_eq!((prepared.version.as_str(), prepared.app_version.as_str()), ("1.1.0", "v9"));
        let ids: Vec<String> = prepared.artifact.objects.iter().map(|planned| planned.id.to_string()).collect();
        assert_eq!(ids, ["ConfigMap/shop/web"]);
        assert_eq!(prepared.artifact.digest, Digest::of(prepared.content.text()));
    }

    #[test]
    fn what_was_kept_is_the_same_artifact() {
        let prepared = asked(&packages(&[("1.0.0", "")]), None).unwrap();
        let again = kept(&prepared.content.text(), Some(1)).unwrap();
        assert_eq!(again.artifact.digest, prepared.artifact.digest);
        assert_eq!(again.artifact.objects, prepared.artifact.objects);
    }

    #[test]
    fn where_no_version_can_be_read_the_reason_is_said() {
        let offered = packages(&[("1.0.0", ", kubernets: '>=1.33'")]);
        let sentence = "web/1.0.0/definition.yaml: spec.kubernets: there is no such field; did you mean `kubernetes`?";
        assert_eq!(asked(&offered, None).unwrap_err(), RenderError::Unresolved(sentence.to_owned()));
    }

    #[test]
    fn a_version_that_nobody_offers_is_not_resolved() {
        let offered = packages(&[("1.0.0", "")]);
        assert!(matches!(asked(&offered, Some("2.x")), Err(RenderError::Unresolved(_))));
    }
}
