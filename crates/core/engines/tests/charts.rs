//! The helm engine: rendered charts, and the problems of charts that cannot be rendered.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeMap;
use std::rc::Rc;

use fitout_engines::{Environment, Files, Input, Release, RenderOutcome, render};
use fitout_model::{Apis, Problem, parse_definition};
use serde_json::json;

const METADATA: &str = "apiVersion: v2\nname: web\nversion: 1.0.0\n";

/// Renders a chart with these files.
fn rendered(files: &[(&str, &str)]) -> Result<RenderOutcome, Problem> {
    let definition = parse_definition(&json!({
        "apiVersion": "fitout.dev/v1alpha1", "kind": "ExtensionDefinition",
        "spec": { "extension": "web", "version": "1.0.0", "helm": { "chart": "web" } },
    }));
    let mut beside: BTreeMap<String, Vec<u8>> = [("web/Chart.yaml".to_owned(), METADATA.into())].into();
    beside.extend(files.iter().map(|(path, text)| (format!("web/{path}"), text.as_bytes().to_vec())));
    let world: Rc<dyn Environment> = Rc::new(fitout_environment::HostEnvironment);
    let input = Input {
        definition: &definition.unwrap(),
        files: Files { beside: &beside, archive: None, digest: None },
        values: &json!({ "port": "http" }),
        release: Release { name: "web", namespace: "shop", revision: 1 },
        kubernetes: "v1.36.3",
        apis: &Apis::default(),
        answers: &BTreeMap::new(),
        world: &world,
    };
    render(&input)
}

/// The problem of a chart with these files.
fn problem(files: &[(&str, &str)]) -> String {
    rendered(files).unwrap_err().to_string()
}

#[test]
fn block_scalars_end_as_with_helm() {
    let config = |last: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: a }}\ndata:\n{last}");
    let hook = |last: &str| {
        let annotations = "annotations: { helm.sh/hook: pre-install }";
        config(last).replace("name: a", &format!("name: a, {annotations}"))
    };
    // Helm's manifest has one more line break after each object; a hook is as rendered.
    let rows = [
        ("  x: |+\n    one\n", "one\n\n", "one\n"),
        ("  x: |+\n    one\n\n", "one\n\n\n", "one\n\n"),
        ("  x: |\n    one\n\n", "one\n", "one\n"),
        ("  x: |\n    one", "one\n", "one\n"),
        ("  x: |-\n    one\n", "one", "one"),
    ];
    for (last, object, of_hook) in rows {
        let (plain, hooked) = (config(last), hook(last));
        let Ok(RenderOutcome::Rendered(rendered)) =
            rendered(&[("templates/a.yaml", &plain), ("templates/b.yaml", &hooked)])
        else {
            panic!("{last:?} was not rendered");
        };
        assert_eq!(rendered.objects[0]["data"]["x"], object, "{last:?}");
        assert_eq!(rendered.hooks[0].1["data"]["x"], of_hook, "{last:?}");
    }
}

#[test]
fn problems_of_charts_name_the_remedy() {
    let schema = r#"{ "properties": { "port": { "type": "integer" } } }"#;
    let rows = [
        (
            ("Chart.yaml", "name: [web\n"),
            "chart web: cannot load Chart.yaml: error converting YAML to JSON: yaml: line 1: did not find expected ',' or \
             ']'; choose another version, or fix the chart",
        ),
        (
            ("templates/a.yaml", "kind: {{ .Values.port | quoted }}\n"),
            "chart web 1.0.0: parse error at (web/templates/a.yaml:1): function \"quoted\" not defined; choose another version, \
             or fix the chart",
        ),
        (
            ("values.schema.json", schema),
            "chart web 1.0.0: values don't meet the specifications of the schema(s) in the following chart(s): web: - at \
             '/port': got string, want integer; correct the values of the instance, or choose another version",
        ),
        (
            ("Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\nkubeVersion: '>=1.99'\n"),
            "chart web 1.0.0: chart requires kubeVersion: >=1.99 which is incompatible with Kubernetes v1.36.3; choose \
             another version, or upgrade the cluster's Kubernetes",
        ),
        (
            ("templates/a.yaml", "kind: {{ required \"name it\" .Values.name }}\n"),
            "chart web 1.0.0: execution error at (web/templates/a.yaml:1:9): name it; correct the values of the instance, \
             or fix the template",
        ),
        (
            ("templates/a.yaml", "kind: {{ .Values.port }}: {\n"),
            "chart web 1.0.0: YAML parse error on web/templates/a.yaml: yaml: mapping values are \
             not allowed in this context; correct the values of the instance, or fix the template",
        ),
    ];
    for (file, sentence) in rows {
        assert_eq!(problem(&[file]), sentence);
    }
}
