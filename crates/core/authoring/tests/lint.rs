//! Every finding of the linter, by the smallest definition that has it.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeMap;
use std::rc::Rc;

use fitout_authoring::{Directory, Environment, Finding, LintContext, Severity, lint, lint_catalog, lint_states};
use fitout_environment::HostEnvironment;
use serde_json::json;

/// A manifest that needs no declaration but its namespace and the rights to write it.
const PLAIN: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n";

const REQUIREMENTS: &str = "    namespaces: [web]
    installer: [{ apiGroups: [\"\"], resources: [configmaps], verbs: [get, list, watch, create, update, patch, delete], namespaces: [web] }]
";

/// The directory of a definition with these fields, and with these requirements.
fn directory(extension: &str, version: &str, fields: &str, requirements: &str, files: &[(&str, &str)]) -> Directory {
    let definition = format!(
        "apiVersion: fitout.dev/v1alpha1\nkind: ExtensionDefinition\nmetadata: {{ name: x }}\nspec:\n  extension: {extension}\n  \
         version: {version}\n  manifests: {{ path: m }}\n{fields}  requirements:\n{}",
        requirements.replace("web", extension)
    );
    let mut all: BTreeMap<String, Vec<u8>> = [("m/a.yaml".to_owned(), PLAIN.into())].into();
    all.extend(files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())));
    all.insert("definition.yaml".to_owned(), definition.into_bytes());
    let place = format!("{extension}/{version}");
    Directory { path: place.clone(), place: Some(place), files: all }
}

fn shown(findings: Vec<Finding>) -> Vec<String> {
    let show = |finding: Finding| {
        let word = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Advice => "advice",
        };
        let line = finding.line.map(|line| format!(":{line}")).unwrap_or_default();
        let field = finding.field.map(|field| format!(" {field}:")).unwrap_or_default();
        format!("{word} {}{line}:{field} {}; {}", finding.path, finding.message, finding.remedy)
    };
    findings.into_iter().map(show).collect()
}

fn checked(directories: &[Directory], is_catalog: bool) -> Vec<String> {
    let environment: Rc<dyn Environment> = Rc::new(HostEnvironment);
    let values = json!({});
    let context = LintContext { charts: &[], offered: &[], values: &values, environment: &environment };
    shown(if is_catalog { lint_catalog(directories, context) } else { lint(directories, context) })
}

/// The findings in one definition.
fn one(fields: &str, requirements: &str, files: &[(&str, &str)]) -> Vec<String> {
    checked(&[directory("web", "1.0.0", fields, requirements, files)], false)
}

fn catalog(versions: &[(&str, &str, &str)]) -> Vec<String> {
    let directories: Vec<Directory> = versions
        .iter()
        .map(|(extension, version, fields)| directory(extension, version, fields, REQUIREMENTS, &[]))
        .collect();
    checked(&directories, true)
}

#[test]
fn a_complete_definition_has_no_findings() {
    assert_eq!(one("  kubernetes: \">=1.33 <1.37\"\n", REQUIREMENTS, &[]), Vec::<String>::new());
}

#[test]
fn documents_that_cannot_be_read_name_the_line() {
    assert_eq!(
        one("  kubernets: \">=1.33\"\n", REQUIREMENTS, &[]),
        ["error web/1.0.0/definition.yaml:8: spec.kubernets: unknown field; did you mean `kubernetes`?"]
    );
    assert_eq!(
        one("  kubernetes: newest\n", REQUIREMENTS, &[]),
        [
            "error web/1.0.0/definition.yaml:8: spec.kubernetes: a range of versions is expected, such as '>=1.33 <1.37', \
          '1.x', '^1.2' or '~1.2.3'; alternatives are joined by '||'; correct it"
        ]
    );
    let mut moved = directory("web", "1.0.0", "", REQUIREMENTS, &[]);
    moved.place = Some("web/1.0.1".to_owned());
    assert_eq!(
        checked(&[moved], false),
        [
            "error web/1.0.0/definition.yaml:6: spec.version: it defines web/1.0.0; move it to that directory, or correct its extension and version"
        ]
    );
    let mut broken = directory("web", "1.0.0", "", REQUIREMENTS, &[]);
    broken.files.insert("definition.yaml".to_owned(), b"a: 1\nb: [\n".to_vec());
    assert!(checked(&[broken], false)[0].starts_with("error web/1.0.0/definition.yaml:"));
}

#[test]
fn ranges_admit_only_versions_that_serve_what_is_rendered() {
    let class = "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: { name: a }\nspec: {}\n";
    let requirements = "    namespaces: [web]\n    installer: [{ apiGroups: [resource.k8s.io], resources: [deviceclasses], \
                        verbs: [get, list, watch, create, update, patch, delete] }]\n";
    assert_eq!(one("  kubernetes: \">=1.34\"\n", requirements, &[("m/a.yaml", class)]), Vec::<String>::new());
    assert_eq!(
        one("  kubernetes: \">=1.32\"\n", requirements, &[("m/a.yaml", class)]),
        [
            "error web/1.0.0/definition.yaml:8: spec.kubernetes: it admits Kubernetes 1.33 (>=1.32), but Kubernetes 1.33 does \
          not serve resource.k8s.io/v1 DeviceClass; narrow it to \">=1.34 <1.37\", or change what is rendered for \
          Kubernetes 1.33"
        ]
    );
    assert_eq!(
        one("  kubernetes: \"<1.30\"\n", REQUIREMENTS, &[]),
        [
            "warning web/1.0.0/definition.yaml:8: spec.kubernetes: <1.30 admits none of the supported Kubernetes versions 1.33 \
          to 1.36; publish a version that supports one of them"
        ]
    );
}

#[test]
fn extensions_with_fixed_names_are_singletons() {
    let fixed = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a, namespace: other }\n";
    let requirements = REQUIREMENTS.replace("[web]", "[web, other]");
    let found = one("  singleton: false\n", &requirements, &[("m/b.yaml", fixed)]);
    assert_eq!(
        found,
        [
            "error web/1.0.0/definition.yaml:8: spec.singleton: two instances of it cannot exist on one cluster, because both \
          have ConfigMap/other/a; set it to true, or name the object after the release"
        ]
    );
    assert_eq!(one("  singleton: false\n", REQUIREMENTS, &[]), Vec::<String>::new());
}

#[test]
fn a_definition_that_cannot_be_rendered_has_one_finding() {
    assert_eq!(
        one("", REQUIREMENTS, &[("m/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: \"${name}\" }\n")]),
        [
            "error web/1.0.0/definition.yaml:4: spec: it cannot be rendered: m/a.yaml:1: no parameter `name` is declared; \
          declare it in the parameters, or write `$${` for a literal `${`"
        ]
    );
}

#[test]
fn workloads_and_images_are_declared() {
    let workload = "apiVersion: apps/v1
kind: DaemonSet
metadata: { name: a, namespace: kube-system }
spec:
  template:
    spec: { hostNetwork: true, containers: [{ name: a, image: \"quay.io/one/a:1\" }] }
";
    let found = one("", "    namespaces: [web, other]\n    registries: [quay.io/two]\n", &[("m/a.yaml", workload)]);
    let place = "web/1.0.0/definition.yaml";
    let expected = [
        format!(
            "error {place}:9: spec.requirements.namespaces: it writes to namespace kube-system, which is not declared; add it"
        ),
        format!("warning {place}:9: spec.requirements.namespaces: it does not write to namespace other; remove it"),
        format!(
            "error {place}:8: spec.requirements.privileged: it has privileged pods, which is not declared: DaemonSet/kube-system/a: hostNetwork; set it to true"
        ),
        format!(
            "error {place}:8: spec.requirements.kubeSystemDeployment: it has workloads in kube-system, which is not declared: DaemonSet/kube-system/a; set it to true"
        ),
        format!(
            "warning {place}:8: spec.requirements.installer: it does not declare the permissions that are needed to install it; add the rules: `fitout extension derive` writes them for a chart"
        ),
        format!(
            "error {place}:10: spec.requirements.registries: registry quay.io/one of image quay.io/one/a:1 is not declared; add it"
        ),
        format!("warning {place}:10: spec.requirements.registries: none of its images is from quay.io/two; remove it"),
    ];
    assert_eq!(found, expected);
}

#[test]
fn pinned_images_are_listed_exactly() {
    let [used, other] = ["1", "2"].map(|digit| format!("quay.io/a/b@sha256:{}", digit.repeat(64)));
    let pod = format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{ name: a }}\nspec: {{ containers: [{{ name: a, image: \"{used}\" }}] }}\n"
    );
    let requirements = "    namespaces: [web]\n    registries: [quay.io]\n    installer: [{ apiGroups: [\"\"], resources: \
                        [pods], verbs: [\"*\"], namespaces: [web] }]\n";
    let found = one(&format!("  images: [\"{other}\"]\n"), requirements, &[("m/a.yaml", &pod)]);
    let place = "web/1.0.0/definition.yaml:8: spec.images:";
    assert_eq!(
        found.into_iter().filter(|finding| finding.contains("spec.images")).collect::<Vec<_>>(),
        [
            format!("error {place} image {used} is not declared; add it"),
            format!("warning {place} it does not use image {other}; remove it"),
        ]
    );
}

#[test]
fn permissions_are_declared_exactly() {
    let roles = "apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: a }
rules: [{ apiGroups: [\"\"], resources: [secrets], verbs: [get, list] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: a }
roleRef: { kind: ClusterRole, name: a }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: b }
roleRef: { kind: Role, name: unknown }
";
    let requirements = "    namespaces: [web]
    installer:
      - { apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [get, list, watch, create, update, patch, delete, bind] }
      - { apiGroups: [rbac.authorization.k8s.io], resources: [rolebindings], verbs: [get, list, watch, create, update, patch], namespaces: [web] }
    grants:
      - { apiGroups: [\"\"], resources: [secrets], verbs: [get], namespaces: [web] }
";
    let place = "web/1.0.0/definition.yaml";
    let group = "rbac.authorization.k8s.io";
    let expected = [
        format!(
            "error {place}:10: spec.requirements.installer: installing it needs an undeclared permission: rolebindings.{group}: delete in namespace web; add it"
        ),
        format!(
            "warning {place}:10: spec.requirements.installer: installing it does not need clusterroles.{group}: bind cluster-wide; remove it"
        ),
        format!(
            "error {place}:13: spec.requirements.grants: its roles grant an undeclared permission: secrets: list in namespace web; add it"
        ),
        format!(
            "warning {place}:13: spec.requirements.grants: it binds Role/web/unknown, whose rules are unknown because it is not part of it; make sure that the rules of that role are declared"
        ),
    ];
    assert_eq!(one("", requirements, &[("m/a.yaml", roles)]), expected);
}

#[test]
fn webhooks_are_declared_with_their_rules() {
    let webhook = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: { name: a }
webhooks: [{ name: a.web.io, rules: [{ apiGroups: [\"\"], resources: [pods], operations: [CREATE] }] }]
";
    let requirements = "    namespaces: [web]
    installer: [{ apiGroups: [\"*\"], resources: [\"*\"], verbs: [\"*\"] }]
    webhooks: [{ name: a.web.io, kind: Mutating, rules: [] }]
";
    let found = one("", requirements, &[("m/a.yaml", webhook)]);
    let found: Vec<&String> = found.iter().filter(|finding| finding.contains("webhook a.web.io")).collect();
    let place = "web/1.0.0/definition.yaml:11: spec.requirements.webhooks:";
    let expected = [
        format!(
            "error {place} the validating webhook a.web.io with its rules is not declared; declare it with the API groups, resources and operations of its rules"
        ),
        format!(
            "warning {place} it has no mutating webhook a.web.io with these rules; remove it, or correct its rules"
        ),
    ];
    assert_eq!(found, expected.iter().collect::<Vec<_>>());
}

#[test]
fn roles_and_menus_name_existing_crds() {
    let crd = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: gadgets.web.io }
spec: { group: web.io, scope: Namespaced, names: { kind: Gadget, plural: gadgets }, versions: [{ name: v1 }] }
";
    let fields = "  roles: [{ name: viewer, rules: [{ apiGroups: [web.io, \"\"], resources: [gadget, gadgets/status], verbs: [get] }] }]
  menu: { cluster: [{ crd: gadgets.web.io }], project: [{ crd: widgets.web.io }] }
";
    let requirements = "    namespaces: [web]\n    installer: [{ apiGroups: [apiextensions.k8s.io], resources: \
                        [customresourcedefinitions], verbs: [get, list, watch, create, update, patch, delete] }]\n";
    let place = "web/1.0.0/definition.yaml";
    let expected = [
        format!(
            "error {place}:8: spec.roles[0].rules[0].resources: role viewer names gadget.web.io, which the extension does not define; did you mean gadgets?"
        ),
        format!(
            "error {place}:9: spec.menu.cluster[0].crd: objects of gadgets.web.io are in namespaces; move it to menu.project"
        ),
        format!(
            "error {place}:9: spec.menu.project[0].crd: the menu names widgets.web.io, which the extension does not define; did you mean gadgets.web.io?"
        ),
    ];
    assert_eq!(one(fields, requirements, &[("m/a.yaml", crd)]), expected);
}

#[test]
fn schemas_are_valid_documented_and_accept_their_defaults() {
    let with = |schema: &str| one("  parameters: s.json\n", REQUIREMENTS, &[("s.json", schema)]);
    let place = "web/1.0.0";
    assert_eq!(
        with(
            r#"{ "properties": { "a": { "type": "integer", "default": "x", "description": "A" }, "b": { "type": "string" } } }"#
        )[..2],
        [
            format!(
                "warning {place}/s.json: 1 of 2 parameters have no description: b; describe them, because the console shows them in a form"
            ),
            format!(
                "error {place}/definition.yaml:8: spec.parameters: s.json refuses the defaults of the schema: a: \"x\" is not of type \"integer\"; correct the value, or the schema"
            ),
        ]
    );
    assert!(with("{").iter().any(|finding| finding.starts_with("error web/1.0.0/s.json:1: it is not JSON")));
    assert!(with(r#"{ "type": 1 }"#)[0].starts_with("error web/1.0.0/s.json: it is not a valid JSON Schema"));
    let missing = one("  parameters: none.json\n", REQUIREMENTS, &[]);
    assert!(missing[0].starts_with("error web/1.0.0/definition.yaml:8: spec.parameters: file none.json not found"));
}

#[test]
fn values_of_the_definition_match_the_schema() {
    let mut chart = directory("web", "1.0.0", "  parameters: s.json\n", REQUIREMENTS, &[]);
    let text = String::from_utf8(chart.files["definition.yaml"].clone()).unwrap();
    let text = text.replace("manifests: { path: m }", "helm: { chart: c, values: { port: http } }");
    chart.files = [
        ("definition.yaml", text.as_str()),
        (
            "s.json",
            r#"{ "properties": { "port": { "type": "integer", "description": "Port" } }, "required": ["host"] }"#,
        ),
        ("c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n"),
        ("c/values.yaml", "port: 80\n"),
        ("c/templates/a.yaml", PLAIN),
    ]
    .map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()))
    .into();
    assert_eq!(
        checked(&[chart], false),
        [
            "error web/1.0.0/definition.yaml:7: spec.helm.values: s.json refuses the values of the chart with those of the \
          definition: port: \"http\" is not of type \"integer\"; correct the value, or the schema"
        ]
    );
}

#[test]
fn files_exist_and_logos_are_small() {
    let large = "x".repeat(600 << 10);
    assert_eq!(
        one("  logo: logo.svg\n  changelog: none.md\n", REQUIREMENTS, &[("logo.svg", &large)]),
        [
            "error web/1.0.0/definition.yaml:8: spec.logo: logo.svg has 600 KB, and 512 KB is the limit; use a smaller picture, such as an SVG",
            "error web/1.0.0/definition.yaml:9: spec.changelog: file none.md not found; add it beside the definition",
        ]
    );
}

#[test]
fn charts_in_repositories_are_not_rendered() {
    let mut remote = directory("web", "1.0.0", "", REQUIREMENTS, &[]);
    let text = String::from_utf8(remote.files["definition.yaml"].clone()).unwrap();
    let text =
        text.replace("manifests: { path: m }", "helm: { chart: c, version: 1.0.0, repository: \"https://x.example\" }");
    remote.files = [("definition.yaml".to_owned(), text.into_bytes())].into();
    assert_eq!(
        checked(&[remote], false),
        [
            "advice web/1.0.0/definition.yaml:7: spec.helm: what chart c 1.0.0 writes and grants is not checked, because it is \
          in a repository; download the chart, and give it with --chart"
        ]
    );
}

#[test]
fn every_version_leads_to_the_newest_of_its_line() {
    assert_eq!(
        catalog(&[
            ("web", "1.0.0", ""),
            ("web", "1.1.0", "  upgradeFrom: \">=1.0 <1.2\"\n"),
            ("web", "1.2.0", "  upgradeFrom: \">=1.1 <1.3\"\n"),
            ("web", "2.0.0", ""),
        ]),
        Vec::<String>::new()
    );
    assert_eq!(
        catalog(&[
            ("web", "1.0.0", ""),
            ("web", "1.1.0", "  upgradeFrom: \">=1.1\"\n"),
            ("web", "1.2.0", "  upgradeFrom: \"~1.1\"\n"),
        ]),
        [
            "error web/1.0.0/definition.yaml:6: spec.version: no upgrade leads from web 1.0.0 to 1.2.0, the newest of its major \
          version; widen spec.upgradeFrom of 1.2.0, or add a version between them"
        ]
    );
}

#[test]
fn build_metadata_does_not_distinguish_versions() {
    assert_eq!(
        catalog(&[("web", "1.0.0+a", ""), ("web", "1.0.0+b", "")]),
        [
            "error web/1.0.0+b/definition.yaml:6: spec.version: 1.0.0+a and 1.0.0+b are the same version: build metadata does \
          not distinguish versions; give one of them another version"
        ]
    );
}

#[test]
fn dependencies_are_offered() {
    let fields = "  dependencies: [{ name: sorage }, { name: storage, version: \">=2\" }, { name: volumes }, { name: gone, optional: true }]\n";
    let place = "web/1.0.0/definition.yaml:8:";
    assert_eq!(
        catalog(&[("storage", "1.0.0", "  provides: [volumes]\n"), ("web", "1.0.0", fields)]),
        [
            format!("error {place} spec.dependencies[0]: no catalog offers sorage; did you mean storage?"),
            format!(
                "error {place} spec.dependencies[1]: no catalog offers storage >=2; its newest version is 1.0.0; correct the range, or add such a version"
            ),
            format!(
                "warning {place} spec.dependencies[3]: no catalog offers gone; add it to the catalog, or give the catalog that offers it with --catalog"
            ),
        ]
    );
}

#[test]
fn cycles_of_dependencies_are_named() {
    let needs = |name: &str| format!("  dependencies: [{{ name: {name} }}]\n");
    assert_eq!(
        catalog(&[
            ("b", "1.0.0", &needs("c")),
            ("a", "1.0.0", &needs("b")),
            ("c", "1.0.0", &needs("a")),
            ("d", "1.0.0", &needs("a"))
        ]),
        [
            "error a/1.0.0/definition.yaml:8: spec.dependencies[0]: a cycle of dependencies: a → b → c → a; remove one of these \
          dependencies, or name it in spec.suggests"
        ]
    );
    assert_eq!(
        catalog(&[("a", "1.0.0", &needs("a"))]),
        ["error a/1.0.0/definition.yaml:8: spec.dependencies[0]: a cycle of dependencies: a → a; remove one of these \
          dependencies, or name it in spec.suggests"]
    );
}

#[test]
fn states_are_those_of_extensions_of_the_catalog() {
    let web = directory("web", "1.0.0", "", REQUIREMENTS, &[]);
    let found = |text: &str| shown(lint_states("shop/states.yaml", text.as_bytes(), std::slice::from_ref(&web)));
    assert_eq!(found("states:\n- { extension: web, state: Yanked }\n"), Vec::<String>::new());
    assert_eq!(
        found("states:\n- { extension: old, state: Withdrawn }\n- { extension: wep, state: Yanked }\n"),
        [
            "error shop/states.yaml:3: states[1].extension: there is no extension wep; did you mean web?",
            "warning shop/states.yaml:2: states[0].extension: there is no extension old; correct the name, unless the \
          extension was removed",
        ]
    );
    assert_eq!(
        found("states:\n  web: Yanked\n"),
        ["error shop/states.yaml:1: states: invalid type: map, expected a sequence; correct it"]
    );
}

#[test]
fn large_catalogs_are_checked_between_versions() {
    let versions: Vec<String> = (0..2_000).map(|number| format!("1.{number}.0")).collect();
    let rows: Vec<(&str, &str, &str)> =
        versions.iter().map(|version| ("web", version.as_str(), "  kubernetes: \"<1.30\"\n")).collect();
    assert_eq!(catalog(&rows).len(), 2_000, "one warning each");
}
