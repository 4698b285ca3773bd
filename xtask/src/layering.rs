//! The layers of the workspace: which crates may depend on which.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// The folders of crates, from the lowest layer to the highest. A crate depends only on crates of its own folder or a lower
/// one, so there are no cycles between folders, and no product crate depends on `testkit`.
const LAYERS: [&str; 7] = ["go", "helm", "core", "edge", "cli", "testkit", "xtask"];

/// The folders whose crates are pure.
const PURE: [&str; 3] = ["go", "helm", "core"];

/// The crates that pure crates must not depend on.
const IMPURE: [&str; 6] = ["tokio", "kube", "reqwest", "hyper", "rustls", "axum"];

/// The crate with the API types, and the one crate of the workspace that it may depend on.
const API: (&str, &str) = ("fitout-api", "fitout-model");

/// A crate of the workspace.
#[derive(Debug)]
struct Crate {
    name: String,
    folder: String,
    /// The names of its normal and build dependencies.
    dependencies: Vec<String>,
}

/// The dependencies that break a rule, each with the rule.
fn violations(crates: &[Crate]) -> Vec<String> {
    let mut found = Vec::new();
    for Crate { name, folder, dependencies } in crates {
        let Some(layer) = layer(folder) else {
            found.push(format!("{name}: folder {folder} is in no layer"));
            continue;
        };
        for dependency in dependencies {
            let member = crates.iter().find(|other| other.name == *dependency);
            if let Some(member) = member
                && layer_of(member).is_some_and(|other| other > layer)
            {
                found.push(format!("{name} in {folder} depends on {dependency} in {}, a higher layer", member.folder));
            }
            if name == API.0 && member.is_some() && dependency != API.1 {
                found.push(format!("{name} depends on {dependency}, and may depend on {} alone", API.1));
            }
            if PURE.contains(&folder.as_str()) && IMPURE.contains(&dependency.as_str()) {
                found.push(format!("{name} in {folder} is pure and depends on {dependency}"));
            }
        }
    }
    found
}

fn layer(folder: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| *layer == folder)
}

fn layer_of(member: &Crate) -> Option<usize> {
    layer(&member.folder)
}

/// The crates of the workspace, from the output of `cargo metadata --no-deps`.
fn workspace(metadata: &Value) -> Vec<Crate> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let root = text(&metadata["workspace_root"]);
    let packages = metadata["packages"].as_array().unwrap().iter();
    packages
        .map(|package| {
            let manifest = text(&package["manifest_path"]);
            let path = Path::new(&manifest).strip_prefix(&root).unwrap();
            let path = path.strip_prefix("crates").unwrap_or(path);
            let dependencies = package["dependencies"].as_array().unwrap().iter();
            Crate {
                name: text(&package["name"]),
                folder: path.iter().next().unwrap().to_str().unwrap().to_owned(),
                dependencies: dependencies.filter(|one| one["kind"] != "dev").map(|one| text(&one["name"])).collect(),
            }
        })
        .collect()
}

#[test]
fn dependencies_follow_the_layers() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version=1", "--offline"])
        .current_dir(fitout_testkit::paths::checkout())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let crates = workspace(&serde_json::from_slice(&output.stdout).unwrap());
    let empty: Vec<&&str> =
        LAYERS.iter().filter(|layer| !crates.iter().any(|member| member.folder == **layer)).collect();
    assert!(empty.is_empty(), "no crates in {empty:?}");
    assert!([API.0, API.1].iter().all(|name| crates.iter().any(|member| member.name == *name)), "{crates:?}");
    let violations = violations(&crates);
    assert!(violations.is_empty(), "{}", violations.join("\n"));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The violations of a graph with rows of name, folder and dependencies.
    fn check(rows: &[(&str, &str, &[&str])]) -> Vec<String> {
        let crates = rows.iter().map(|(name, folder, dependencies)| Crate {
            name: (*name).to_owned(),
            folder: (*folder).to_owned(),
            dependencies: dependencies.iter().map(|&name| name.to_owned()).collect(),
        });
        violations(&crates.collect::<Vec<_>>())
    }

    #[test]
    fn lower_layers_and_the_own_one_are_allowed() {
        let rows: [(&str, &str, &[&str]); 9] = [
            ("yaml", "go", &["serde"]),
            ("template", "go", &["yaml"]),
            ("chart", "helm", &["template", "yaml"]),
            ("fitout-model", "core", &["yaml"]),
            ("fitout-api", "edge", &["fitout-model", "kube"]),
            ("hub", "edge", &["fitout-api", "chart", "tokio"]),
            ("cli", "cli", &["hub", "fitout-api"]),
            ("testkit", "testkit", &["fitout-model", "tokio"]),
            ("xtask", "xtask", &["testkit", "fitout-api"]),
        ];
        assert_eq!(check(&rows), Vec::<String>::new());
    }

    #[test]
    fn higher_layers_are_refused() {
        for (low, high) in LAYERS.iter().zip(&LAYERS[1..]) {
            let found = check(&[("low", low, &["high"]), ("high", high, &[])]);
            assert_eq!(found, [format!("low in {low} depends on high in {high}, a higher layer")]);
        }
    }

    #[test]
    fn cycles_between_folders_are_refused() {
        let found = check(&[("a", "helm", &["b"]), ("b", "core", &["c"]), ("c", "helm", &[])]);
        assert_eq!(found, ["a in helm depends on b in core, a higher layer"]);
    }

    #[test]
    fn testkit_is_refused_as_a_dependency_of_every_product_crate() {
        for folder in ["go", "helm", "core", "edge", "cli"] {
            let found = check(&[("product", folder, &["testkit"]), ("testkit", "testkit", &[])]);
            assert_eq!(found, [format!("product in {folder} depends on testkit in testkit, a higher layer")]);
        }
    }

    #[test]
    fn api_depends_on_model_alone() {
        let found = check(&[
            ("fitout-api", "edge", &["fitout-model", "plan"]),
            ("fitout-model", "core", &[]),
            ("plan", "core", &[]),
        ]);
        assert_eq!(found, ["fitout-api depends on plan, and may depend on fitout-model alone"]);
    }

    #[test]
    fn pure_crates_refuse_effects() {
        for (folder, effect) in PURE.iter().flat_map(|folder| IMPURE.map(|effect| (folder, effect))) {
            assert_eq!(
                check(&[("pure", folder, &[effect])]),
                [format!("pure in {folder} is pure and depends on {effect}")]
            );
        }
    }

    #[test]
    fn unknown_folders_are_refused() {
        assert_eq!(check(&[("new", "shared", &[])]), ["new: folder shared is in no layer"]);
    }

    #[test]
    fn workspace_reads_folders_and_leaves_out_dev_dependencies() {
        let dependency = |name: &str, kind: Value| json!({ "name": name, "kind": kind });
        let metadata = json!({ "workspace_root": "/w", "packages": [
            { "name": "plan", "manifest_path": "/w/crates/core/plan/Cargo.toml", "dependencies": [
                dependency("serde", Value::Null), dependency("testkit", json!("dev")), dependency("cc", json!("build")),
            ] },
            { "name": "xtask", "manifest_path": "/w/xtask/Cargo.toml", "dependencies": [] },
        ] });
        let crates = workspace(&metadata);
        let found: Vec<_> =
            crates.iter().map(|one| (one.name.as_str(), one.folder.as_str(), one.dependencies.as_slice())).collect();
        let dependencies: &[String] = &["serde".to_owned(), "cc".to_owned()];
        assert_eq!(found, [("plan", "core", dependencies), ("xtask", "xtask", &[])]);
    }
}
