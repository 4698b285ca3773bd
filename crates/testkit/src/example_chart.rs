//! A chart with everything that matters in a release: values, a lookup, a random value, a hook, a CRD and a resource of it.

use std::fs;
use std::path::Path;

use anyhow::Result;

const CRD: &str = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: gadgets.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { kind: Gadget, plural: gadgets, singular: gadget, listKind: GadgetList }
  versions:
    - name: v1
      served: true
      storage: true
      schema: { openAPIV3Schema: { type: object, properties: { spec: { type: object, properties: { size: { type: integer } } } } } }
";

const SECRET: &str = r#"{{- $found := lookup "v1" "Secret" .Release.Namespace "password" }}
apiVersion: v1
kind: Secret
metadata:
  name: password
{{- if .Values.keep }}
  annotations: { "helm.sh/resource-policy": keep }
{{- end }}
data:
  password: {{ if $found }}{{ $found.data.password }}{{ else }}{{ randAlphaNum 20 | b64enc }}{{ end }}
"#;

const MAP: &str = r#"apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
  labels:
    color: {{ .Values.color }}
    color: {{ .Values.color }}
data:
  color: {{ .Values.color | quote }}
  upgrade: {{ .Release.IsUpgrade | quote }}
  gadgets: {{ .Capabilities.APIVersions.Has "example.com/v1/Gadget" | quote }}
  random: {{ randAlphaNum 20 }}
{{- if .Values.gone }}
  gone: {{ .Values.gone }}
{{- end }}
{{- if .Values.extra }}
  extra: "1"
{{- end }}
"#;

const GADGET: &str = "apiVersion: example.com/v1\nkind: Gadget\nmetadata: { name: g }\nspec: { size: 1 }\n";

const DEPLOYMENT: &str = r#"apiVersion: apps/v1
kind: Deployment
metadata: { name: thing }
spec:
  replicas: 0
  selector: { matchLabels: { app: thing } }
  template:
    metadata: { labels: { app: thing } }
    spec: { containers: [{ name: thing, image: "localhost/thing:1" }] }
"#;

const HOOK: &str = r#"apiVersion: v1
kind: ConfigMap
metadata:
  name: hook
  annotations: { "helm.sh/hook": "pre-install,post-upgrade", "helm.sh/hook-weight": "3" }
data: { revision: {{ .Release.Revision | quote }} }
"#;

/// Adds version 3.0.0 of the extension `thing` to a catalog: a chart with values, a lookup, a random value, a hook and a CRD.
pub fn write_example_chart(catalog: &Path) -> Result<()> {
    let folder = catalog.join("thing/3.0.0");
    for inner in ["chart/templates", "chart/crds"] {
        fs::create_dir_all(folder.join(inner))?;
    }
    let files = [
        (
            "definition.yaml",
            "apiVersion: fitout.dev/v1alpha1\nkind: ExtensionDefinition\nmetadata: { name: thing-3 }\n\
             spec: { extension: thing, version: 3.0.0, bootstrap: true, helm: { chart: chart, values: { color: green } } }\n",
        ),
        ("chart/Chart.yaml", "apiVersion: v2\nname: thing\nversion: 3.0.0\nappVersion: \"9\"\n"),
        ("chart/values.yaml", "color: red\ngone: soon\nextra: true\nkeep: \"\"\n"),
        ("chart/crds/gadgets.yaml", CRD),
        ("chart/templates/secret.yaml", SECRET),
        ("chart/templates/map.yaml", MAP),
        ("chart/templates/gadget.yaml", GADGET),
        ("chart/templates/deployment.yaml", DEPLOYMENT),
        ("chart/templates/hook.yaml", HOOK),
        ("chart/templates/NOTES.txt", "{{ .Release.Name }} is {{ .Values.color }}\n"),
    ];
    for (path, text) in files {
        fs::write(folder.join(path), text)?;
    }
    Ok(())
}
