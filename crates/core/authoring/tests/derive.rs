//! Charts that no definition can be derived from, and what the notes say.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::rc::Rc;

use fitout_authoring::{ChartSource, Derived, Environment, derive, package_chart};
use fitout_environment::HostEnvironment;
use fitout_helm_chart::{Chart, File};
use fitout_model::Problem;
use serde_json::{Value, json};

/// Derives the definition of a chart with this `Chart.yaml` after the name, and this template.
fn derived(metadata: &str, template: &str, name: Option<&str>, values: &Value) -> Result<Derived, Problem> {
    let metadata = format!("apiVersion: v2\nname: web\nversion: 1.0.0\n{metadata}");
    let files = vec![File::new("Chart.yaml", metadata.as_str()), File::new("templates/a.yaml", template)];
    let chart = Chart::from_files(files, &mut vec![]).unwrap();
    let package = package_chart(&chart, None, None).unwrap();
    let source = ChartSource {
        chart: &chart,
        archive: &package.archive,
        file_name: &package.file_name,
        repository: Some("https://charts.example"),
        is_published: true,
    };
    let environment: Rc<dyn Environment> = Rc::new(HostEnvironment);
    derive(&source, name, values, &[], &environment)
}

fn problem(metadata: &str, template: &str, name: Option<&str>) -> String {
    derived(metadata, template, name, &json!({})).unwrap_err().to_string()
}

const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: {{ .Values.name | default .Release.Name }} }\n";

#[test]
fn charts_without_a_definition_are_explained() {
    assert_eq!(
        problem("kubeVersion: <1.22\n", MAP, None),
        "chart web 1.0.0: it fits none of the supported Kubernetes versions 1.33 to 1.36: its Kubernetes range is <1.22; choose \
         a newer version of the chart"
    );
    assert_eq!(
        problem("", "apiVersion: extensions/v1beta1\nkind: Ingress\nmetadata: { name: a }\n", None),
        "chart web 1.0.0: it fits none of the supported Kubernetes versions 1.33 to 1.36: on Kubernetes 1.33, 1.34, 1.35, \
         1.36, these kinds are not served: extensions/v1beta1 Ingress; choose a newer version of the chart"
    );
    assert_eq!(
        problem("", "a: {{ required \"name is needed\" .Values.name }}\n", None),
        "chart web 1.0.0: execution error at (web/templates/a.yaml:1:6): name is needed; give the values that the chart \
         needs with --set or --values, or correct the chart"
    );
    assert!(
        problem("", MAP, Some("Web")).starts_with("spec.extension: the name of an extension has lowercase letters")
    );
}

#[test]
fn versions_that_do_not_serve_a_kind_are_left_out_with_a_note() {
    let class = "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: { name: a }\nspec: {}\n";
    let derived = derived("kubeVersion: '>=1.30.0-0 <1.36.0-0'\n", class, None, &json!({})).unwrap();
    assert_eq!(derived.definition.kubernetes.as_deref(), Some(">=1.34 <1.36"));
    assert_eq!(derived.definition.singleton, Some(true));
    let note = "its Kubernetes range is smaller: on Kubernetes 1.33, these kinds are not served: resource.k8s.io/v1 DeviceClass";
    assert!(derived.notes.iter().any(|one| one == note), "{:?}", derived.notes);
}

#[test]
fn given_values_become_those_of_the_definition() {
    let derived = derived("", MAP, Some("shop"), &json!({ "name": "a" })).unwrap();
    let definition = &derived.definition;
    let helm = definition.helm.as_ref().unwrap();
    assert_eq!((definition.extension.as_str(), helm.chart.as_str()), ("shop", "web"));
    assert_eq!(serde_json::to_value(&helm.values).unwrap(), json!({ "name": "a" }));
    assert!(helm.digest.as_ref().is_some_and(|digest| digest.starts_with("sha256:")));
    assert_eq!(definition.requirements.as_ref().unwrap().namespaces, ["shop"]);
    // Its only object is named by a value and in its own namespace, so the release's namespace decides.
    assert_eq!(definition.singleton, None);
}
