#![allow(clippy::unwrap_used, reason = "tests")]

use serde_json::{Value, json};

use super::{ChartLocation, ChartVersion, chart_definitions, clashing_charts};

const LOCATION: ChartLocation<'_> = ChartLocation { repository: "https://charts.example.com", chart: "web" };

fn version(text: &str) -> ChartVersion {
    ChartVersion { name: "web".to_owned(), version: text.to_owned(), ..ChartVersion::default() }
}

fn annotated(annotations: &[(&str, &str)]) -> ChartVersion {
    let annotations = annotations.iter().map(|(key, text)| ((*key).to_owned(), (*text).to_owned()));
    ChartVersion { annotations: annotations.collect(), ..version("1.0.0") }
}

/// The specs and the problems.
fn read(versions: &[ChartVersion]) -> (Vec<Value>, Vec<String>) {
    let (definitions, problems) = chart_definitions(versions, &LOCATION);
    let specs = definitions.into_iter().map(|definition| definition.document["spec"].clone());
    (specs.collect(), problems.iter().map(ToString::to_string).collect())
}

/// The spec of a version without problems.
fn spec(version: ChartVersion) -> Value {
    let (mut specs, problems) = read(&[version]);
    assert_eq!(problems, Vec::<String>::new());
    specs.remove(0)
}

#[test]
fn fields_of_the_chart_become_fields_of_the_definition() {
    let digits = "0a".repeat(32);
    let image = format!("registry.example.com/web@sha256:{digits}");
    let images = format!("- name: web\n  image: {image}\n- image: {image}");
    let chart = ChartVersion {
        app_version: Some("v5".to_owned()),
        kube_version: Some(">=1.30.0-0".to_owned()),
        description: Some("Serves\n  pages".to_owned()),
        home: Some("https://example.com".to_owned()),
        icon: Some("https://example.com/icon.svg".to_owned()),
        keywords: vec!["http".to_owned()],
        maintainers: vec!["First".to_owned(), "Second".to_owned()],
        deprecated: true,
        digest: Some(digits.to_uppercase()),
        version: "v1.2".to_owned(),
        ..annotated(&[
            ("artifacthub.io/alternativeName", "Web server"),
            ("artifacthub.io/category", "networking"),
            ("artifacthub.io/license", "Apache-2.0"),
            ("artifacthub.io/links", "- name: docs\n  url: https://example.com/docs\n"),
            ("artifacthub.io/images", &images),
            ("artifacthub.io/changes", "- first\n- { kind: fixed, description: \"second\\n  line\" }\n"),
        ])
    };
    let (definitions, problems) = chart_definitions(&[chart], &LOCATION);
    assert_eq!(problems, []);
    assert!(definitions[0].deprecated);
    assert_eq!(definitions[0].changes.as_deref(), Some("- first\n- fixed: second line\n"));
    let expected = json!({
        "apiVersion": "fitout.dev/v1alpha1",
        "kind": "ExtensionDefinition",
        "metadata": { "name": "web-1.2.0" },
        "spec": {
            "extension": "web",
            "version": "1.2.0",
            "appVersion": "v5",
            "displayName": "Web server",
            "summary": "Serves pages",
            "publisher": "First",
            "license": "Apache-2.0",
            "links": [
                { "name": "Home page", "url": "https://example.com" },
                { "name": "docs", "url": "https://example.com/docs" },
            ],
            "categories": ["networking"],
            "changelog": "CHANGELOG.md",
            "kubernetes": ">=1.30.0-0",
            "images": [image, image],
            "helm": {
                "chart": "web",
                "version": "v1.2",
                "repository": "https://charts.example.com",
                "digest": format!("sha256:{digits}"),
            },
        },
    });
    assert_eq!(definitions[0].document, expected);
    assert_eq!(definitions[0].definition.summary.as_deref(), Some("Serves pages"));
}

#[test]
fn version_of_helm_becomes_one_of_semver() {
    let rows = [
        ("1.2.3", "1.2.3"),
        ("v1.2.3-rc.1+b", "1.2.3-rc.1+b"),
        ("1", "1.0.0"),
        ("1.2", "1.2.0"),
        ("01.02.03", "1.2.3"),
        ("1.2-rc", "1.2.0-rc"),
    ];
    for (text, expected) in rows {
        let spec = spec(version(text));
        assert_eq!((&spec["version"], &spec["helm"]["version"]), (&json!(expected), &json!(text)));
    }
    for text in ["latest", "1.2.3.4", "1.0.0+a..b"] {
        let (specs, problems) = read(&[version(text)]);
        assert!(specs.is_empty(), "{text}");
        let (start, end) =
            (format!("web {text}: version: "), "; publish it with a version as in Semantic Versioning, such as 1.2.3");
        assert!(problems[0].starts_with(&start) && problems[0].ends_with(end), "{problems:?}");
    }
}

#[test]
fn first_of_equal_versions_counts() {
    let (specs, problems) = read(&["1.0.0+a", "1.0.0+b", "0.9", "0.9.0", "v0.9.0", "0.1.0", "0.1.0"].map(version));
    let found: Vec<_> = specs.iter().map(|spec| spec["helm"]["version"].as_str().unwrap()).collect();
    assert_eq!(found, ["1.0.0+a", "0.9", "0.1.0"]);
    assert_eq!(
        problems,
        [
            "web 1.0.0+b: version: it differs from 1.0.0+a, which counts, in nothing but build metadata; publish it with \
             another version",
            "web 0.9.0 and 1 more: version: it is the same version as 0.9, which counts; publish it with another version",
            "web 0.1.0: version: it is listed twice, and the first one counts; publish it with another version",
        ]
    );
}

#[test]
fn version_that_cannot_be_installed_is_a_problem() {
    let rows = [
        (
            ChartVersion { name: "other".to_owned(), ..version("1.0.0") },
            "other 1.0.0: name: the repository lists it as web; publish it under its own name",
        ),
        (
            ChartVersion { kube_version: Some("new".to_owned()), ..version("1.0.0") },
            "web 1.0.0: kubeVersion: \"new\" is not a range of versions: ",
        ),
        (
            ChartVersion { digest: Some("beef".to_owned()), ..version("1.0.0") },
            "web 1.0.0: digest: \"beef\" is not a SHA-256; create the index again",
        ),
    ];
    for (chart, expected) in rows {
        let (specs, problems) = read(&[chart]);
        assert_eq!((specs.len(), problems.len()), (0, 1), "{problems:?}");
        assert!(problems[0].starts_with(expected), "{problems:?}");
    }
    let location = ChartLocation { chart: "charts/My_Chart", ..LOCATION };
    let chart = ChartVersion { name: "My_Chart".to_owned(), ..version("1.0.0") };
    let (definitions, problems) = chart_definitions(&[chart], &location);
    assert!(definitions.is_empty());
    let expected = "My_Chart 1.0.0: name: the name of an extension has lowercase letters, digits and '-'";
    assert!(problems[0].to_string().starts_with(expected), "{problems:?}");
    let library = ChartVersion { library: true, ..version("1.0.0") };
    assert_eq!(read(&[library]), (vec![], vec![]));
}

#[test]
fn invalid_description_is_left_out_with_a_problem() {
    let long = "a".repeat(129);
    let rows = [
        (
            "artifacthub.io/license",
            long.as_str(),
            "license",
            "it has 129 characters, and 128 is the limit; it is left out; shorten it",
        ),
        (
            "artifacthub.io/links",
            "text",
            "links",
            "it is not the list that Artifact Hub describes; it is left out; correct it",
        ),
        (
            "artifacthub.io/links",
            "- name: x\n  url: javascript:alert(1)",
            "links",
            "it is not the list that Artifact Hub describes; it is left out; correct it",
        ),
        (
            "artifacthub.io/images",
            "- x: [",
            "images",
            "it is not the list that Artifact Hub describes; it is left out; correct it",
        ),
    ];
    for (key, text, field, expected) in rows {
        let (specs, problems) = read(&[annotated(&[(key, text)])]);
        assert_eq!(specs[0].get(field), None, "{key}");
        assert_eq!(problems, [format!("web 1.0.0: annotations[{key}]: {expected}")]);
    }
    // Artifact Hub allows images that are not pinned, so that is no problem.
    let pinned = format!("a@sha256:{}", "0".repeat(64));
    let images = format!("- image: {pinned}\n- image: b:v1");
    assert_eq!(spec(annotated(&[("artifacthub.io/images", &images)])).get("images"), None);
    let described = |text: &str| spec(ChartVersion { description: Some(text.to_owned()), ..version("1.0.0") });
    let summary = described(&"words, ".repeat(100))["summary"].as_str().unwrap().to_owned();
    assert!(summary.chars().count() <= 512 && summary.ends_with("words…"), "{summary}");
    assert_eq!(described("  ").get("summary"), None);
}

#[test]
fn fitout_annotations_refine_the_definition() {
    let chart = ChartVersion {
        kube_version: Some(">=1.20".to_owned()),
        ..annotated(&[
            (
                "fitout.dev/definition",
                "summary: Better\nbootstrap: true\nrequirements: { privileged: true }\nhelm: { values: { a: 1 } }\n\
                 kubernetes: '>=1.25'\npublisher: null",
            ),
            ("fitout.dev/kubernetes", ">=1.30 <1.40"),
            ("fitout.dev/upgrade-from", ">=0.9"),
            ("fitout.dev/dependencies", "- storage\n- gateway >=1.4 <2\n- { name: dns, optional: true }"),
            ("fitout.dev/singleton", "false"),
            ("fitout.dev/provides", "http, web"),
            ("fitout.dev/display-name", "The Web"),
        ])
    };
    let spec = spec(ChartVersion { maintainers: vec!["Me".to_owned()], ..chart });
    let expected = json!({
        "extension": "web",
        "version": "1.0.0",
        "summary": "Better",
        "bootstrap": true,
        "requirements": { "privileged": true },
        "kubernetes": ">=1.30 <1.40",
        "upgradeFrom": ">=0.9",
        "dependencies": [
            { "name": "storage" },
            { "name": "gateway", "version": ">=1.4 <2" },
            { "name": "dns", "optional": true },
        ],
        "singleton": false,
        "provides": ["http", "web"],
        "displayName": "The Web",
        "helm": {
            "chart": "web",
            "version": "1.0.0",
            "repository": "https://charts.example.com",
            "values": { "a": 1 },
        },
    });
    assert_eq!(spec, expected);
}

#[test]
fn invalid_fitout_annotation_is_a_problem() {
    let rows = [
        ("fitout.dev/kubernets", "1", "unknown annotation; did you mean `fitout.dev/kubernetes`?"),
        ("fitout.dev/something-else", "1", "unknown annotation; remove it"),
        ("fitout.dev/singleton", "yes", "\"yes\" is neither true nor false; correct it"),
        ("fitout.dev/definition", "text", "it is not a mapping of fields; write fields of the definition's spec"),
        ("fitout.dev/definition", "version: 2.0.0", "the chart decides the field version; remove it"),
        ("fitout.dev/definition", "manifests: {}", "the chart decides the field manifests; remove it"),
        (
            "fitout.dev/definition",
            "helm: 1",
            "the chart decides the field helm; remove it; only helm.values can be set",
        ),
        (
            "fitout.dev/definition",
            "helm: { digest: x }",
            "the chart decides the field helm.digest; remove it; only helm.values can be set",
        ),
    ];
    for (key, text, expected) in rows {
        let (specs, problems) = read(&[annotated(&[(key, text)])]);
        assert_eq!((specs.len(), problems), (0, vec![format!("web 1.0.0: annotations[{key}]: {expected}")]));
    }
    let rows = [
        ("fitout.dev/kubernetes", "new", "web 1.0.0: spec.kubernetes: a range of versions is expected"),
        ("fitout.dev/definition", "sumary: x", "web 1.0.0: spec.sumary: unknown field; did you mean `summary`?"),
        ("fitout.dev/definition", "a: 1\na: 2", "web 1.0.0: annotations[fitout.dev/definition]: yaml: "),
        ("fitout.dev/dependencies", "- { nam: x }", "web 1.0.0: spec.dependencies[0].nam: unknown field"),
        ("fitout.dev/provides", "[1]", "web 1.0.0: spec.provides[0]: "),
    ];
    for (key, text, expected) in rows {
        let (specs, problems) = read(&[annotated(&[(key, text)])]);
        assert!(specs.is_empty() && problems[0].starts_with(expected), "{problems:?}");
    }
}

#[test]
fn a_version_is_published_anew_if_its_archive_is_another() {
    let digest = |text: &str| ChartVersion { digest: Some(text.to_owned()), ..version("1.0.0") };
    let (one, other) = ("0a".repeat(32), "0b".repeat(32));
    let published = |chart: ChartVersion| chart.published();
    let first = published(digest(&one));
    assert_eq!(published(digest(&format!("sha256:{}", one.to_uppercase()))), first);
    let described = ChartVersion { description: Some("Another".to_owned()), ..digest(&one) };
    assert_eq!(published(described.clone()), first, "the archive has the description");
    assert_ne!(published(digest(&other)), first);
    // Without a digest, the metadata is all that is known of it.
    let plain = published(version("1.0.0"));
    assert_ne!(published(ChartVersion { digest: None, ..described }), plain);
    assert_eq!(published(ChartVersion { deprecated: true, ..version("1.0.0") }), plain);
}

#[test]
fn the_first_chart_by_name_is_the_extension() {
    let clashing = clashing_charts(["team-b/web", "db", "team-a/web", "team-b/cache", "x/y/web"]);
    let problems: Vec<String> = clashing.values().map(ToString::to_string).collect();
    let rest = "it is the extension web, as team-a/web is, which counts; choose with charts: which of them to offer";
    assert_eq!(problems, [format!("team-b/web: {rest}"), format!("x/y/web: {rest}")]);
    assert!(clashing_charts(["web", "team-a/db"]).is_empty());
}
