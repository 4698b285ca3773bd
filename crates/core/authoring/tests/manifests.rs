//! Charts that are made of the manifests of addons: they render what the manifests rendered.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::rc::Rc;

use fitout_authoring::{Environment, Folder, ManifestChart, chart_from_manifests};
use fitout_environment::HostEnvironment;
use fitout_go_template::{MissingKey, Set, Value as TemplateValue};
use fitout_helm_chart::render::{Capabilities, KubeVersion, Options, functions};
use fitout_helm_chart::values::{Release, load};
use fitout_helm_chart::{Chart, File, Rendered};
use fitout_model::Problem;
use serde_json::{Value, json};

type Files = BTreeMap<String, Vec<u8>>;

fn environment() -> Rc<dyn Environment> {
    Rc::new(HostEnvironment)
}

/// The files of an addon beside this test.
fn addon(name: &str) -> Files {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/addons").join(name);
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(path).unwrap())).collect()
}

fn files(entries: &[(&str, &str)]) -> Files {
    entries.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect()
}

fn converted(files: &Files, parameters: &Value, config_map: Option<&str>) -> Result<ManifestChart, Problem> {
    let folder = Folder { files, name: "addon", version: None, parameters, config_map };
    chart_from_manifests(&folder, &environment())
}

/// The objects of some texts, in a fixed order.
fn objects<'t>(texts: impl IntoIterator<Item = &'t str>) -> Vec<String> {
    let documents = texts.into_iter().flat_map(|text| fitout_go_yaml::documents(text).unwrap());
    let mut objects: Vec<String> = documents.map(|document| document.value.to_string()).collect();
    objects.sort();
    objects
}

/// The objects of a chart, rendered with these values over its own.
fn rendered(chart: &ManifestChart, values: &Value) -> Vec<String> {
    let files = chart.files.iter().map(|(path, content)| File::new(path.as_str(), content.as_slice())).collect();
    let chart = Chart::from_files(files, &mut vec![]).unwrap();
    let release = Release { name: "r".to_owned(), namespace: "n".to_owned(), revision: 1, is_upgrade: false };
    let capabilities = Capabilities::assumed(KubeVersion::parse("1.36").unwrap());
    let (values, options) = (load(values.to_string().as_bytes()).unwrap(), Options::default());
    let rendered: Rendered =
        fitout_helm_chart::template(chart, &values, &release, &capabilities, &environment(), &options, &mut vec![])
            .unwrap();
    objects(rendered.objects.iter().map(|object| object.text.as_str()))
}

/// The objects that Go's templates make of the manifests themselves, with these parameters as their data.
fn originals(files: &Files, parameters: &Value) -> Vec<String> {
    let data = TemplateValue::Map(load(parameters.to_string().as_bytes()).unwrap());
    let set = Set::new("addon", Rc::new(functions(&environment(), false, None)), MissingKey::Zero);
    let texts: Vec<(&str, &str)> =
        files.iter().map(|(path, content)| (path.as_str(), std::str::from_utf8(content).unwrap())).collect();
    let templates = texts.iter().filter(|(path, _)| *path != "addon.yaml");
    templates.clone().for_each(|(path, text)| drop(set.parse(*path, *text).unwrap()));
    let manifests = templates.filter(|(path, _)| Path::new(path).extension().is_some_and(|end| end == "yaml"));
    let outputs: Vec<String> =
        manifests.map(|(path, _)| set.execute(path.as_bytes(), &data).unwrap().to_str().into_owned()).collect();
    objects(outputs.iter().map(String::as_str))
}

#[test]
fn an_addon_with_parameters_renders_the_same_objects() {
    let files = addon("cloud-controller");
    let defaults = fitout_go_yaml::from_yaml(std::str::from_utf8(&files["addon.yaml"]).unwrap()).unwrap();
    let chart = converted(&files, &json!({}), None).unwrap();
    assert_eq!(chart.notes, Vec::<String>::new());
    let metadata = std::str::from_utf8(&chart.files["Chart.yaml"]).unwrap();
    assert!(metadata.contains("version: 1.4.0") && metadata.contains("description: Load balancers"), "{metadata}");
    let changes = [
        json!({}),
        json!({ "Replicas": 1, "Routes": false, "Labels": { "x": "y" } }),
        json!({ "Cluster": { "Name": "green", "Network": { "PodCIDRs": [] } }, "Zones": ["c"], "Registry": "" }),
    ];
    for change in changes {
        let mut parameters = defaults["parameters"].clone();
        fitout_model::coalesce(&mut parameters, &change);
        let expected = originals(&files, &parameters);
        assert!(expected.len() > 5);
        assert_eq!(rendered(&chart, &change), expected, "{change}");
    }
}

#[test]
fn an_addon_with_a_file_renders_its_manifests_and_a_config_map() {
    let files = addon("node-dns");
    let chart = converted(&files, &json!({}), Some("node-dns")).unwrap();
    let manifests = ["alerts.yaml", "daemonset.yaml"].map(|path| std::str::from_utf8(&files[path]).unwrap());
    let mut expected = objects(manifests);
    let config = std::str::from_utf8(&files["Corefile.conf"]).unwrap();
    let map = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "node-dns" }, "data": { "Corefile.conf": config } });
    expected.push(map.to_string());
    expected.sort();
    assert_eq!(rendered(&chart, &json!({})), expected);
    assert_eq!(chart.files["files/Corefile.conf"], files["Corefile.conf"]);
    let without = converted(&files, &json!({}), None).unwrap();
    assert_eq!(without.notes, ["no manifest refers to Corefile.conf: make a ConfigMap of it with --config-map NAME"]);
}

#[test]
fn manifests_may_read_the_files_beside_them() {
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\ndata:\n  x: |\n{{ .Files.Get \"app.conf\" | indent 4 }}\n";
    let chart = converted(&files(&[("map.yaml", map), ("app.conf", "a = 1\n")]), &json!({}), None).unwrap();
    assert_eq!(chart.notes, Vec::<String>::new());
    assert!(rendered(&chart, &json!({}))[0].contains(r#""x":"a = 1\n"#));
}

#[test]
fn given_parameters_become_defaults() {
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: '{{ .Name }}', labels: { x: '{{ .Other }}' } }\n";
    let folder = files(&[("map.yaml", map), ("README.md", "# Read me\n"), ("kustomization.yaml", "resources: []\n")]);
    let chart = converted(&folder, &json!({ "Name": "a" }), None).unwrap();
    assert_eq!(std::str::from_utf8(&chart.files["values.yaml"]).unwrap(), "Name: a\n");
    assert_eq!(
        chart.notes,
        [
            "kustomization.yaml is left out, because it is not an object of Kubernetes",
            "map.yaml uses the parameter Other, which has no default: give one with --set",
        ]
    );
    assert_eq!(chart.files["README.md"], b"# Read me\n");
    assert!(rendered(&chart, &json!({ "Other": "b" }))[0].contains(r#""labels":{"x":"b"},"name":"a""#));
}

#[test]
fn folders_that_cannot_become_charts_are_explained() {
    let problem =
        |entries: &[(&str, &str)]| converted(&files(entries), &json!({ "A": 1 }), None).unwrap_err().to_string();
    assert_eq!(
        problem(&[("a.txt", "")]),
        "the folder: it contains no manifest; add a file that ends in .yaml, .yml or .json"
    );
    assert_eq!(problem(&[("Chart.yaml", "")]), "Chart.yaml: the folder is a chart already; use it as it is");
    assert_eq!(
        problem(&[("a.yaml", "a: '{{ Registry .A }}'\n")]),
        "a.yaml: template: a.yaml:1: function \"Registry\" not defined; use the functions that charts have, those of sprig \
         and of Helm, or write the value as a parameter"
    );
    let map = files(&[("a.yaml", "a: 1\n")]);
    let wrong = converted(&map, &json!({}), Some("a: b")).unwrap_err().to_string();
    assert_eq!(wrong, "the ConfigMap: `a: b` is not a name of an object; use lowercase letters, digits, '-' and '.'");
    let failed = problem(&[("a.yaml", "kind: {{ .A.B }}\n")]);
    assert!(failed.starts_with("chart addon: ") && failed.contains("with --set"), "{failed}");
}

#[test]
fn numbers_that_helm_prints_with_an_exponent_are_noted() {
    let folder = files(&[("a.yaml", "kind: A\na: {{ .Large }}\nb: {{ .Small }}\nc: {{ .Fixed | int64 }}\n")]);
    let chart = converted(&folder, &json!({ "Large": 1_500_000, "Small": 15, "Fixed": 2_000_000 }), None).unwrap();
    assert_eq!(
        chart.notes,
        ["a.yaml prints the number Large, which Helm prints with an exponent: write `Large | int64` in the template"]
    );
}
