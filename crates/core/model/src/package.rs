//! Definitions with their files.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{Definition, Digest, Problem, parse_definition};

/// A definition with its files.
#[derive(Clone, Debug)]
pub struct Package {
    /// The definition.
    pub definition: Definition,
    /// The files in its directory, by path.
    pub files: BTreeMap<String, Vec<u8>>,
    /// The digest of the definition and all its files.
    pub digest: Digest,
}

/// The contents of a catalog.
#[derive(Clone, Debug, Default)]
pub struct Packages {
    /// The packages that could be read, ordered by extension and version.
    pub packages: Vec<Arc<Package>>,
    /// The problems of the others, each with its directory.
    pub problems: Vec<(String, Problem)>,
}

const DEFINITION: &str = "definition.yaml";

/// Reads a catalog from its files, by path: `EXTENSION/VERSION/definition.yaml` and the files beside it. A problem of one
/// version does not affect the others.
pub fn read_packages(files: BTreeMap<String, Vec<u8>>) -> Packages {
    let mut folders: BTreeMap<String, BTreeMap<String, Vec<u8>>> = BTreeMap::new();
    for (path, content) in files {
        let mut parts = path.splitn(3, '/');
        if let (Some(extension), Some(version), Some(rest)) = (parts.next(), parts.next(), parts.next()) {
            folders.entry(format!("{extension}/{version}")).or_default().insert(rest.to_owned(), content);
        }
    }
    let mut packages = Packages::default();
    for (place, files) in folders {
        match package(&place, files) {
            Ok(package) => packages.packages.push(Arc::new(package)),
            Err(problem) => packages.problems.push((place, problem)),
        }
    }
    packages.packages.sort_by(|a, b| {
        let key = |package: &Package| (package.definition.extension.clone(), package.definition.version.clone());
        key(a).cmp(&key(b))
    });
    packages
}

fn package(place: &str, files: BTreeMap<String, Vec<u8>>) -> Result<Package, Problem> {
    let problem = |message: &str, hint: &str| Problem {
        field: format!("{place}/{DEFINITION}"),
        message: message.to_owned(),
        hint: Some(hint.to_owned()),
    };
    let content = files.get(DEFINITION).ok_or_else(|| problem("file not found", "add it"))?;
    let text = std::str::from_utf8(content).map_err(|_| problem("it is not UTF-8", "save it as UTF-8"))?;
    let document =
        fitout_go_yaml::from_yaml_strict(text).map_err(|error| problem(&error.to_string(), "fix the YAML"))?;
    let definition = parse_definition(&document)
        .map_err(|problem| Problem { field: format!("{place}/{DEFINITION}: {}", problem.field), ..problem })?;
    let named = format!("{}/{}", definition.extension, definition.version);
    if named != place {
        return Err(problem(
            &format!("it defines {named}"),
            "move it to that directory, or correct its extension and version",
        ));
    }
    let lines: Vec<String> = files.iter().map(|(path, content)| format!("{path} {}\n", Digest::of(content))).collect();
    let digest = Digest::of(lines.concat());
    Ok(Package { definition, files, digest })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(extension: &str, version: &str) -> Vec<u8> {
        format!(
            "apiVersion: fitout.dev/v1alpha1\nkind: ExtensionDefinition\nmetadata: {{ name: x }}\n\
             spec: {{ extension: {extension}, version: {version}, manifests: {{ path: m }} }}\n"
        )
        .into_bytes()
    }

    fn files(entries: &[(&str, Vec<u8>)]) -> BTreeMap<String, Vec<u8>> {
        entries.iter().map(|(path, content)| ((*path).to_owned(), content.clone())).collect()
    }

    #[test]
    fn packages_are_in_version_order() {
        let packages = read_packages(files(&[
            ("web/1.10.0/definition.yaml", definition("web", "1.10.0")),
            ("web/1.9.0/definition.yaml", definition("web", "1.9.0")),
            ("web/1.9.0/m/a.yaml", b"x".to_vec()),
        ]));
        let versions: Vec<String> =
            packages.packages.iter().map(|package| package.definition.version.to_string()).collect();
        assert_eq!(versions, ["1.9.0", "1.10.0"]);
        assert!(packages.packages[0].files.contains_key("m/a.yaml"));
    }

    #[test]
    fn a_broken_version_does_not_hide_the_others() {
        let packages = read_packages(files(&[
            ("web/1.0.0/definition.yaml", definition("web", "1.0.0")),
            ("web/2.0.0/definition.yaml", definition("web", "2.0.1")),
            ("web/3.0.0/readme.md", vec![]),
        ]));
        assert_eq!(packages.packages.len(), 1);
        let problems: Vec<String> = packages.problems.iter().map(|(_, problem)| problem.to_string()).collect();
        assert_eq!(
            problems,
            [
                "web/2.0.0/definition.yaml: it defines web/2.0.1; move it to that directory, or correct its extension and version",
                "web/3.0.0/definition.yaml: file not found; add it",
            ]
        );
    }

    #[test]
    fn the_digest_changes_with_any_file() {
        let digest = |content: &[u8]| {
            let entries =
                [("web/1.0.0/definition.yaml", definition("web", "1.0.0")), ("web/1.0.0/m/a.yaml", content.to_vec())];
            read_packages(files(&entries)).packages[0].digest.clone()
        };
        assert_eq!(digest(b"a"), digest(b"a"));
        assert_ne!(digest(b"a"), digest(b"b"));
    }
}
