//! A definition to start from.

use std::collections::BTreeMap;
use std::rc::Rc;

use fitout_engines::Environment;
use fitout_model::{Definition, Digest, Helm, Manifests, Problem, Requirements};
use semver::Version;
use serde_json::{Value, json};

use crate::derive::{DEFINITION, valid_text};
use crate::footprint::Footprint;
use crate::kubernetes::supported;
use crate::range::kubernetes_range;
use crate::rendering::{Source, render};

/// The packaging of a new extension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Packaging {
    /// Plain manifests: a Deployment with its Service.
    Manifests {
        /// The image of the Deployment.
        image: String,
    },
    /// A chart in a repository.
    Chart {
        /// The name of the chart.
        name: String,
        /// The version of the chart.
        version: String,
        /// The repository: an `https://` or `oci://` URL.
        repository: String,
    },
}

/// The files of a new extension, by path: `definition.yaml`, and for manifests also a schema and a manifest. The linter finds
/// no error in them.
pub fn scaffold(
    name: &str,
    version: Version,
    summary: Option<&str>,
    packaging: &Packaging,
    environment: &Rc<dyn Environment>,
) -> Result<BTreeMap<String, Vec<u8>>, Problem> {
    let mut definition = crate::blank(name.to_owned(), version);
    definition.display_name = Some(name.to_owned());
    definition.summary = summary.map(str::to_owned);
    let newest: Vec<_> = supported().iter().collect();
    definition.kubernetes = Some(kubernetes_range(&newest, ""));
    let mut files = BTreeMap::new();
    match packaging {
        Packaging::Manifests { image } => {
            definition.manifests = Some(Manifests { path: "manifests".to_owned() });
            definition.parameters = Some("values.schema.json".to_owned());
            files.insert("values.schema.json".to_owned(), format!("{:#}\n", parameters()).into_bytes());
            files.insert(format!("manifests/{name}.yaml"), manifest(name, image).into_bytes());
            definition.requirements = Some(requirements(&definition, &files, environment)?);
        }
        Packaging::Chart { name: chart, version, repository } => {
            definition.helm = Some(Helm {
                chart: chart.clone(),
                version: Some(version.clone()),
                repository: Some(repository.clone()),
                digest: None,
                values: None,
            });
            definition.requirements =
                Some(Requirements { namespaces: vec![name.to_owned()], ..Requirements::default() });
        }
    }
    let comment = "Every field is described in docs/extensions.md; check the file with `fitout extension lint`.";
    let text = valid_text(&definition, comment)?;
    files.insert(DEFINITION.to_owned(), text.into_bytes());
    Ok(files)
}

fn requirements(
    definition: &Definition,
    files: &BTreeMap<String, Vec<u8>>,
    environment: &Rc<dyn Environment>,
) -> Result<Requirements, Problem> {
    let (values, digest) = (json!({}), Digest::of(""));
    let source = Source { definition, files, archive: None, values: &values, world: environment, digest: &digest };
    let mut footprint = Footprint::default();
    if let Some(kubernetes) = supported().last() {
        let objects = render(&source, kubernetes, &kubernetes.version, &definition.extension)?;
        footprint = Footprint::of(&objects, kubernetes, &definition.extension);
    }
    Ok(footprint.into_requirements())
}

fn parameters() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "replicas": { "type": "integer", "minimum": 0, "default": 1, "description": "Number of replicas" },
        },
    })
}

fn manifest(name: &str, image: &str) -> String {
    format!(
        "apiVersion: v1
kind: Service
metadata: {{ name: {name} }}
spec:
  selector: {{ app: {name} }}
  ports: [{{ name: http, port: 80, targetPort: 8080 }}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {{ name: {name} }}
spec:
  replicas: ${{replicas}}
  selector: {{ matchLabels: {{ app: {name} }} }}
  template:
    metadata: {{ labels: {{ app: {name} }} }}
    spec:
      securityContext: {{ runAsNonRoot: true, seccompProfile: {{ type: RuntimeDefault }} }}
      containers:
        - name: {name}
          image: {image}
          ports: [{{ name: http, containerPort: 8080 }}]
          securityContext: {{ allowPrivilegeEscalation: false, capabilities: {{ drop: [ALL] }} }}
"
    )
}
