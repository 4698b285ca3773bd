//! What the helm engine makes of a chart, and what it says of one that cannot be rendered: whose fault it is, and what to do.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeMap;
use std::rc::Rc;

use fitout_engines::{Environment, Files, Input, Release, RenderOutcome, render};
use fitout_model::{Apis, Problem, parse_definition};
use serde_json::json;

const METADATA: &str = "apiVersion: v2\nname: web\nversion: 1.0.0\n";

/// What is made of a chart with these files.
fn made(files: &[(&str, &str)]) -> Result<RenderOutcome, Problem> {
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

/// The sentence about a chart with these files.
fn refused(files: &[(&str, &str)]) -> String {
    made(files).unwrap_err().to_string()
}

#[test]
fn blocks_of_text_end_as_helm_has_them_end() {
    let config = |last: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: a }}\ndata:\n{last}");
    let hook = |last: &str| {
        let annotations = "annotations: { helm.sh/hook: pre-install }";
        config(last).replace("name: a", &format!("name: a, {annotations}"))
    };
    // What Helm's manifest has after each object is a line more; a hook is as it was rendered.
    let rows = [
        ("  x: |+\n    one\n", "one\n\n", "one\n"),
        ("  x: |+\n    one\n\n", "one\n\n\n", "one\n\n"),
        ("  x: |\n    one\n\n", "one\n", "one\n"),
        ("  x: |\n    one", "one\n", "one\n"),
        ("  x: |-\n    one\n", "one", "one"),
    ];
    for (last, object, of_hook) in rows {
        let (plain, hooked) = (config(last), hook(last));
        let Ok(RenderOutcome::Rendered(made)) = made(&[("templates/a.yaml", &plain), ("templates/b.yaml", &hooked)])
        else {
            panic!("{last:?} was not rendered");
        };
        assert_eq!(made.objects[0]["data"]["x"], object, "{last:?}");
        assert_eq!(made.hooks[0].1["data"]["x"], of_hook, "{last:?}");
    }
}

#[test]
fn the_remedy_is_for_whoever_can_mend_it() {
    let schema = r#"{ "properties": { "port": { "type": "integer" } } }"#;
    let rows = [
        (
            ("Chart.yaml", "name: [web\n"),
            "chart web: cannot load Chart.yaml: error converting YAML to JSON: yaml: line 1: did not find expected ',' or \
             ']'; take another version, or mend the chart",
        ),
        (
            ("templates/a.yaml", "kind: {{ .Values.port | quoted }}\n"),
            "chart web 1.0.0: parse error at (web/templates/a.yaml:1): function \"quoted\" not defined; take another version, \
             or mend the chart",
        ),
        (
            ("values.schema.json", schema),
            "chart web 1.0.0: values don't meet the specifications of the schema(s) in the following chart(s): web: - at \
             '/port': got string, want integer; correct the values of the instance, or take another version",
        ),
        (
            ("Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\nkubeVersion: '>=1.99'\n"),
            "chart web 1.0.0: chart requires kubeVersion: >=1.99 which is incompatible with Kubernetes v1.36.3; take \
             another version, or upgrade the cluster's Kubernetes",
        ),
        (
            ("templates/a.yaml", "kind: {{ required \"name it\" .Values.name }}\n"),
            "chart web 1.0.0: execution error at (web/templates/a.yaml:1:9): name it; correct the values of the instance, \
             or mend the template",
        ),
        (
            ("templates/a.yaml", "kind: {{ .Values.port }}: {\n"),
            "chart web 1.0.0: YAML parse error on web/templates/a.yaml: yaml: mapping values are \
             not allowed in this context; correct the values of the instance, or mend the template",
        ),
    ];
    for (file, sentence) in rows {
        assert_eq!(refused(&[file]), sentence);
    }
}
