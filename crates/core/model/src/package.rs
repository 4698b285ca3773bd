//! Definitions with their files.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::archive::{ArchiveError, ArchiveLimits, FileMap, bytes, pack_files, unpack_files};
use crate::{Definition, Digest, Problem, parse_definition};

/// A definition with its files.
#[derive(Clone, Debug)]
pub struct Package {
    /// The definition.
    pub definition: Definition,
    /// The files in its directory, by path.
    pub files: FileMap,
    /// The digest of [`Package::archive`].
    pub digest: Digest,
}

/// The limits of one package. Charts in it count with all their files.
pub const PACKAGE_LIMITS: ArchiveLimits = ArchiveLimits { files: 10_000, file: 32 << 20, total: 64 << 20 };

/// The largest logo in bytes. Catalogs and consoles show many at once.
const LOGO: usize = 512 << 10;

impl Package {
    /// Reads a package from its files, the definition among them. Problems name the file with this prefix.
    pub fn read(prefix: &str, files: FileMap) -> Result<Self, Problem> {
        let definition = definition(prefix, &files)?;
        check_package_size(prefix, &files)?;
        Ok(Self::of(definition, files))
    }

    /// The package of a definition that was parsed from these files.
    pub fn of(definition: Definition, files: FileMap) -> Self {
        let digest = Digest::of(pack(&files));
        Self { definition, files, digest }
    }

    /// The package of a definition, from its document and the files beside it.
    pub fn of_document(definition: Definition, document: &serde_json::Value, mut files: FileMap) -> Self {
        files.insert(DEFINITION.to_owned(), format!("{document:#}\n").into_bytes());
        Self::of(definition, files)
    }

    /// Reads a package from its archive.
    pub fn from_archive(archive: &[u8]) -> Result<Self, Problem> {
        let files = unpack_files(archive, &PACKAGE_LIMITS).map_err(|error| Problem {
            field: "archive of a definition".to_owned(),
            message: error.to_string(),
            hint: None,
        })?;
        Self::read("", files)
    }

    /// All files as one archive. The same files make the same bytes.
    pub fn archive(&self) -> Vec<u8> {
        pack(&self.files)
    }
}

/// Checks the files of a package against its limits, within which the hub stores it. Problems name the file with this prefix.
pub fn check_package_size(prefix: &str, files: &FileMap) -> Result<(), Problem> {
    let Err(error) = PACKAGE_LIMITS.check(files) else { return Ok(()) };
    let (field, message, hint) = match error {
        ArchiveError::FileTooLarge { path, limit } => (
            format!("{prefix}{path}"),
            format!("the file is larger than {}", bytes(limit)),
            "make it smaller, or leave it out",
        ),
        ArchiveError::TooManyFiles(limit) => (
            format!("{prefix}{DEFINITION}"),
            format!("there are more than {limit} files beside it"),
            "leave out what is not needed",
        ),
        _ => (
            format!("{prefix}{DEFINITION}"),
            format!("it and the files beside it have more than {}", bytes(PACKAGE_LIMITS.total)),
            "leave out what is not needed",
        ),
    };
    Err(Problem { field, message, hint: Some(hint.to_owned()) })
}

fn pack(files: &FileMap) -> Vec<u8> {
    pack_files(files.iter().map(|(path, content)| (path.as_str(), content.as_slice())))
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
pub fn read_packages(files: FileMap) -> Packages {
    let mut folders: BTreeMap<String, FileMap> = BTreeMap::new();
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
    refuse_equal_versions(&mut packages);
    packages
}

/// Leaves out versions that differ from another in build metadata alone: neither is newer than the other.
fn refuse_equal_versions(packages: &mut Packages) {
    let mut kept: Vec<Arc<Package>> = Vec::with_capacity(packages.packages.len());
    for package in packages.packages.drain(..) {
        let Definition { extension, version, .. } = &package.definition;
        let same = kept.last().map(|last| &last.definition).filter(|last| {
            last.extension == *extension && last.version.cmp_precedence(version).is_eq() && last.version != *version
        });
        match same {
            None => kept.push(package),
            Some(last) => {
                let place = format!("{extension}/{version}");
                let message = format!("it equals {} but for build metadata", last.version);
                let problem = in_definition(&place, &package.files, "spec.version", message, EQUAL_VERSIONS);
                packages.problems.push((place, problem));
            }
        }
    }
    packages.packages = kept;
}

const EQUAL_VERSIONS: &str = "give one of them another version";

/// Reads the package in a directory `EXTENSION/VERSION`.
fn package(place: &str, files: FileMap) -> Result<Package, Problem> {
    let package = Package::read(&format!("{place}/"), files)?;
    let Definition { extension, version, .. } = &package.definition;
    let named = format!("{extension}/{version}");
    if named == place {
        return Ok(package);
    }
    let is_extension = place.split('/').next() == Some(extension);
    let field = if is_extension { "spec.version" } else { "spec.extension" };
    let hint = "move it to that directory, or correct its extension and version";
    Err(in_definition(place, &package.files, field, format!("it defines {named}"), hint))
}

/// A problem in a field of the definition in a directory.
fn in_definition(place: &str, files: &FileMap, field: &str, message: String, hint: &str) -> Problem {
    let text = files.get(DEFINITION).and_then(|content| std::str::from_utf8(content).ok()).unwrap_or_default();
    let problem = Problem { field: field.to_owned(), message, hint: Some(hint.to_owned()) };
    problem.in_file(&format!("{place}/{DEFINITION}"), text)
}

fn definition(prefix: &str, files: &FileMap) -> Result<Definition, Problem> {
    let file = format!("{prefix}{DEFINITION}");
    let problem = |message: String, hint: &str| Problem { field: file.clone(), message, hint: Some(hint.to_owned()) };
    let content = files.get(DEFINITION).ok_or_else(|| problem("file not found".to_owned(), "add it"))?;
    let text = std::str::from_utf8(content).map_err(|_| problem("it is not UTF-8".to_owned(), "save it as UTF-8"))?;
    let document = fitout_go_yaml::from_yaml_strict(text).map_err(|error| Problem::of_yaml(&file, &error))?;
    let definition = parse_definition(&document).map_err(|problem| problem.in_file(&file, text))?;
    let logo = definition.logo.as_ref().and_then(|logo| files.get(logo));
    if let Some(logo) = logo.filter(|logo| logo.len() > LOGO) {
        let name = definition.logo.as_deref().unwrap_or_default();
        return Err(Problem {
            field: format!("{prefix}{name}"),
            message: format!("the logo has {}, and {} is the limit", bytes(logo.len() as u64), bytes(LOGO as u64)),
            hint: Some("shrink it, or use an SVG".to_owned()),
        });
    }
    Ok(definition)
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
                "web/2.0.0/definition.yaml:4: spec.version: it defines web/2.0.1; move it to that directory, or correct its extension and version",
                "web/3.0.0/definition.yaml: file not found; add it",
            ]
        );
    }

    #[test]
    fn packages_that_cannot_be_stored_are_refused() {
        type Add<'a> = &'a dyn Fn(&mut FileMap);
        let read = |add: Add<'_>| {
            let mut files = files(&[("definition.yaml", definition("web", "1.0.0"))]);
            add(&mut files);
            Package::read("web/1.0.0/", files).map(drop).map_err(|problem| problem.to_string())
        };
        let rows: [(Add<'_>, Result<(), &str>); 4] = [
            (&|files| drop(files.insert("a".to_owned(), vec![0; 32 << 20])), Ok(())),
            (
                &|files| drop(files.insert("m/a".to_owned(), vec![0; (32 << 20) + 1])),
                Err("web/1.0.0/m/a: the file is larger than 32 MiB; make it smaller, or leave it out"),
            ),
            (
                &|files| files.extend(["a", "b"].map(|name| (name.to_owned(), vec![0; 32 << 20]))),
                Err(
                    "web/1.0.0/definition.yaml: it and the files beside it have more than 64 MiB; leave out what is not needed",
                ),
            ),
            (
                &|files| files.extend((0..10_000).map(|number| (number.to_string(), vec![]))),
                Err(
                    "web/1.0.0/definition.yaml: there are more than 10000 files beside it; leave out what is not needed",
                ),
            ),
        ];
        for (add, expected) in rows {
            assert_eq!(read(add), expected.map_err(str::to_owned));
        }
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
