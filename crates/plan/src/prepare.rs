//! From what is wanted, and what there is, to the very thing that is applied.

use std::collections::BTreeMap;

use fitout_engines::{Input, Step, step};
use fitout_model::{Apis, Digest, ObjectId, Package, Packages, Problem};
use fitout_resolve::{Candidate, Question, choose};
use serde_json::{Value, json};

use crate::{Artifact, Owner, Planned, phase, transform};

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
    /// The values of all layers above the definition's own.
    pub values: &'a Value,
    /// The release it becomes.
    pub owner: Owner<'a>,
    /// The cluster's Kubernetes version, as the cluster says it.
    pub kubernetes: &'a str,
    /// The kinds that the cluster serves.
    pub apis: &'a Apis,
}

/// What is to be installed, and where it came from.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// What the state machine works from.
    pub artifact: Artifact,
    /// What is applied, by object.
    pub objects: BTreeMap<ObjectId, Value>,
    /// All of it, as it is kept: its digest is the artifact's.
    pub content: String,
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
}

/// Why there is nothing to install.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unprepared {
    /// No version was found.
    Unresolved(String),
    /// The version that was found cannot be rendered.
    Wrong(String),
}

/// Chooses a version, renders it and puts every object in its place.
pub fn prepare(request: &Request, packages: &Packages) -> Result<Prepared, Unprepared> {
    let (package, why) = resolve(request, packages)?;
    let definition = &package.definition;
    let wrong = |problem: Problem| Unprepared::Wrong(problem.to_string());
    let input = Input { definition, files: &package.files, values: request.values };
    let Step::Objects(objects) = step(&input).map_err(wrong)?;
    let objects = transform(objects, request.owner, request.apis).map_err(wrong)?;
    Ok(Prepared {
        version: definition.version.to_string(),
        app_version: definition.app_version.clone().unwrap_or_default(),
        definition: package.digest.clone(),
        values: request.values.clone(),
        why,
        bootstrap: definition.bootstrap,
        ..kept(Value::Array(objects).to_string(), None)
    })
}

fn resolve<'a>(request: &Request, packages: &'a Packages) -> Result<(&'a Package, String), Unprepared> {
    let offered: Vec<&Package> =
        packages.packages.iter().filter(|package| package.definition.extension == request.extension).collect();
    // Where nothing could be read, why is what a person has to know.
    let unread = || {
        let place = format!("{}/", request.extension);
        packages.problems.iter().find(|(at, _)| at.starts_with(&place)).map(|(_, problem)| problem.to_string())
    };
    if let Some(problem) = unread().filter(|_| offered.is_empty()) {
        return Err(Unprepared::Unresolved(problem));
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
    let choice = choose(&question).map_err(Unprepared::Unresolved)?;
    Ok((offered[choice.index], choice.why))
}

/// What was kept of an earlier revision, to be applied again.
pub fn kept(content: String, rolls_back_to: Option<u32>) -> Prepared {
    let objects: Vec<Value> = serde_json::from_str(&content).unwrap_or_default();
    let objects: BTreeMap<ObjectId, Value> =
        objects.into_iter().filter_map(|object| Some((ObjectId::of(&object)?, object))).collect();
    let planned = |(id, object): (&ObjectId, &Value)| Planned {
        id: id.clone(),
        phase: phase(&id.gvk),
        digest: Digest::of_value(object),
    };
    let digest = Digest::of(&content);
    Prepared {
        artifact: Artifact { digest, rolls_back_to, objects: objects.iter().map(planned).collect() },
        objects,
        content,
        version: String::new(),
        app_version: String::new(),
        definition: Digest::of(""),
        values: json!({}),
        why: String::new(),
        bootstrap: true,
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

    fn asked(packages: &Packages, version: Option<&str>) -> Result<Prepared, Unprepared> {
        let apis = [(Gvk::new("v1", "ConfigMap"), Scope::Namespaced)].into_iter().collect();
        let request = Request {
            extension: "web",
            version,
            latest: false,
            installed: None,
            values: &json!({}),
            owner: Owner { name: "shop", namespace: "shop" },
            kubernetes: "v1.36.3",
            apis: &apis,
        };
        prepare(&request, packages)
    }

    #[test]
    fn the_newest_version_that_fits_is_rendered_and_placed() {
        let offered = packages(&[("1.0.0", ""), ("1.1.0", ", appVersion: v9"), ("1.2.0", ", kubernetes: '>=1.40'")]);
        let prepared = asked(&offered, None).unwrap();
        assert_eq!((prepared.version.as_str(), prepared.app_version.as_str()), ("1.1.0", "v9"));
        let ids: Vec<String> = prepared.objects.keys().map(ToString::to_string).collect();
        assert_eq!(ids, ["ConfigMap/shop/web"]);
        assert_eq!(prepared.artifact.digest, Digest::of(&prepared.content));
    }

    #[test]
    fn what_was_kept_is_the_same_artifact() {
        let prepared = asked(&packages(&[("1.0.0", "")]), None).unwrap();
        let again = kept(prepared.content.clone(), Some(1));
        assert_eq!(again.artifact.digest, prepared.artifact.digest);
        assert_eq!(again.artifact.objects, prepared.artifact.objects);
    }

    #[test]
    fn where_no_version_can_be_read_the_reason_is_said() {
        let offered = packages(&[("1.0.0", ", kubernets: '>=1.33'")]);
        let sentence = "web/1.0.0/definition.yaml: spec.kubernets: there is no such field; did you mean `kubernetes`?";
        assert_eq!(asked(&offered, None).unwrap_err(), Unprepared::Unresolved(sentence.to_owned()));
    }

    #[test]
    fn a_version_that_nobody_offers_is_not_resolved() {
        let offered = packages(&[("1.0.0", "")]);
        assert!(matches!(asked(&offered, Some("2.x")), Err(Unprepared::Unresolved(_))));
    }
}
