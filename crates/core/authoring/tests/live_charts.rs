//! Definitions that are derived from real charts.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::rc::Rc;

use anyhow::{Result, anyhow, ensure};
use fitout_authoring::{
    ChartSource, Derived, Directory, Environment, Finding, LintContext, Severity, derive, lint, package_chart,
};
use fitout_environment::HostEnvironment;
use fitout_helm_chart::Chart;
use fitout_helm_chart::render::{Capabilities, KubeVersion, Options};
use fitout_helm_chart::values::{Release, load};
use fitout_model::{Definition, parse_definition};
use fitout_testkit::{Cluster, Controllers, Programs, Spec, paths, sample};
use serde_json::json;

/// The charts of a run that does not take all.
const SAMPLED: usize = 8;

fn environment() -> Rc<dyn Environment> {
    Rc::new(HostEnvironment)
}

/// Whether Helm renders a chart with its default values. `fitout-helm-chart` renders and refuses as Helm does.
fn is_rendered(chart: &Chart) -> bool {
    let release = Release { name: "web".to_owned(), namespace: "web".to_owned(), revision: 1, is_upgrade: false };
    let capabilities = Capabilities::assumed(KubeVersion::parse("1.36").unwrap());
    let (values, options) = (load(b"").unwrap(), Options::default());
    let environment = environment();
    fitout_helm_chart::template(chart.clone(), &values, &release, &capabilities, &environment, &options, &mut vec![])
        .is_ok()
}

fn derived(chart: &Chart, offered: &[Definition]) -> Result<Derived> {
    let package = package_chart(chart, None, None).map_err(|problem| anyhow!("{problem}"))?;
    let (archive, file_name) = (&package.archive, &package.file_name);
    let source = ChartSource { chart, archive, file_name, repository: None, is_published: false };
    derive(&source, None, &json!({}), offered, &environment()).map_err(|problem| anyhow!("{problem}"))
}

fn findings(derived: &Derived) -> Vec<Finding> {
    let definition = &derived.definition;
    let place = Some(format!("{}/{}", definition.extension, definition.version));
    let directory = Directory { path: definition.extension.clone(), place, files: derived.files.clone() };
    let (environment, values) = (environment(), json!({}));
    lint(&[directory], LintContext { charts: &[], offered: &[], values: &values, environment: &environment })
}

#[test]
fn definitions_of_real_charts_pass_the_linter() -> Result<()> {
    let charts: Vec<_> = Programs::get()?.charts()?.into_iter().collect();
    let (mut passed, mut refused, mut warned) = (0, 0, 0);
    for (name, path) in sample(charts, SAMPLED) {
        let chart = fitout_environment::load(&path, &mut vec![])?;
        if !is_rendered(&chart) {
            refused += 1;
            assert!(derived(&chart, &[]).is_err(), "{name}: Helm does not render it");
            continue;
        }
        let derived = derived(&chart, &[]).map_err(|error| anyhow!("{name}: {error}"))?;
        let text = std::str::from_utf8(&derived.files["definition.yaml"])?;
        let read =
            parse_definition(&fitout_go_yaml::from_yaml_strict(text)?).map_err(|problem| anyhow!("{problem}"))?;
        assert_eq!(read, derived.definition, "{name}: the document is the definition");
        let findings = findings(&derived);
        let errors: Vec<&Finding> = findings.iter().filter(|finding| finding.severity == Severity::Error).collect();
        assert!(errors.is_empty(), "{name}: {errors:#?}\n{text}");
        passed += 1;
        warned += usize::from(!findings.is_empty());
        for finding in &findings {
            println!("{name}: {}", finding.message);
        }
    }
    println!("{passed} charts pass, {warned} of them with warnings; Helm does not render {refused} others");
    ensure!(passed > refused, "only {passed} charts were derived");
    Ok(())
}

#[test]
fn extensions_that_define_used_kinds_become_dependencies() -> Result<()> {
    let charts = Programs::get()?.charts()?;
    let definition = "apiVersion: fitout.dev/v1alpha1\nkind: ExtensionDefinition\nspec:\n  extension: certificates\n  \
                      version: 1.0.0\n  manifests: { path: m }\n  menu: { project: [{ crd: issuers.cert-manager.io }] }\n";
    let document = fitout_go_yaml::from_yaml_strict(definition)?;
    let offered = parse_definition(&document).map_err(|problem| anyhow!("{problem}"))?;
    let chart = fitout_environment::load(&charts["trust-manager"], &mut vec![])?;
    let depends = |offered: &[Definition]| -> Result<Vec<String>> {
        let derived = derived(&chart, offered)?;
        let is_told = derived.notes.iter().any(|note| note.contains("cert-manager.io/v1 Issuer"));
        assert_eq!(is_told, offered.is_empty(), "{:?}", derived.notes);
        Ok(derived.definition.dependencies.into_iter().map(|dependency| dependency.name).collect())
    };
    assert_eq!(depends(&[])?, Vec::<String>::new());
    assert_eq!(depends(&[offered])?, ["certificates"]);
    Ok(())
}

#[test]
fn api_servers_accept_derived_definitions() -> Result<()> {
    let cluster = Cluster::start(Spec { controllers: Controllers::None, audit: false, ..Spec::default() })?;
    let kubectl = cluster.kubectl();
    let crds = paths::checkout().join("deploy/crds");
    kubectl.run(&["apply", "--server-side", "--filename", &crds.to_string_lossy()])?;
    kubectl.run(&["wait", "--for=condition=Established", "crd/extensiondefinitions.fitout.dev", "--timeout=30s"])?;
    let charts: Vec<_> = cluster.sandbox().programs().charts()?.into_iter().collect();
    let mut accepted = 0;
    for (name, path) in sample(charts, SAMPLED) {
        let chart = fitout_environment::load(&path, &mut vec![])?;
        let Ok(derived) = derived(&chart, &[]) else { continue };
        let text = std::str::from_utf8(&derived.files["definition.yaml"])?;
        let apply = ["apply", "--server-side", "--dry-run=server", "--validate=strict", "--filename=-"];
        kubectl.run_with_input(&apply, text).map_err(|error| anyhow!("{name}: {error}\n{text}"))?;
        accepted += 1;
    }
    println!("{accepted} derived definitions are accepted");
    ensure!(accepted > 0, "no definition was derived");
    Ok(())
}
