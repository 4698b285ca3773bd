//! What a catalog says about bad input: for each input, the sentences of the hub and those of `fitout extension lint`. A sentence names the file, the line where there is one, the problem and the remedy.

#![allow(clippy::unwrap_used, reason = "a test")]
#![allow(clippy::too_many_lines, clippy::format_push_string, clippy::format_collect, reason = "tables and their text")]

mod support;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use fitout_catalogs::{ARCHIVE_LIMITS, RawExtension, split, unpack};
use fitout_model::FileMap;
use fitout_repositories::chart_version;
use flate2::Compression;
use flate2::write::GzEncoder;
use insta::assert_snapshot;
use serde_json::{Value, json};
use support::{definition, files, linted, read, read_directory, sentences, with};
use tar::EntryType;

/// The sentences of the hub, which reads the files from a directory and as an archive, and those of the linter.
fn said(cases: &[(&str, FileMap)]) -> String {
    let mut text = String::new();
    for (title, files) in cases {
        let (hub, lint) = (read_directory(files, |_| {}), linted(files));
        let archived = fitout_model::pack_files(files.iter().map(|(path, content)| (path.as_str(), &content[..])));
        assert_eq!(sentences(&read(split_files(&archived))), sentences(&hub), "{title}");
        text += &if hub == lint {
            format!("{title}\n  both: {}\n", sentences(&hub))
        } else {
            format!("{title}\n  hub:  {}\n  lint: {}\n", sentences(&hub), sentences(&lint))
        };
    }
    text
}

fn split_files(archive: &[u8]) -> (Option<Vec<u8>>, Vec<RawExtension>) {
    let mut files = unpack(archive, &ARCHIVE_LIMITS).unwrap();
    (files.remove("states.yaml"), split(files))
}

#[test]
fn definitions() {
    let one = |title, fields: &str| (title, files(&[("web/1.0.0/definition.yaml", &with("web", "1.0.0", fields))]));
    let document = |title, text: &str| (title, files(&[("web/1.0.0/definition.yaml", text)]));
    let flow = "{ apiVersion: fitout.dev/v1alpha1, kind: ExtensionDefinition,\n  spec: { extension: web, version: 1.0.0,\n    \
                \"helm\": { chart: web, repository: \"https://charts.example.com\" },\n    dependencies: [{ name: db },\n      \
                { name: cache, version: newest }] } }\n";
    let cases = [
        one("a range that does not parse", "  kubernetes: newest\n"),
        one("a range on several lines under a quoted key", "  'kubernetes': >-\n    >=1.33\n    and <1.37\n"),
        one(
            "a range in the second dependency",
            "  conflicts:\n  - { name: old, version: <1 }\n  dependencies:\n  - name: db\n    version: '>=1'\n  - name: cache\n    \
             # from\n    version: from 2 on\n",
        ),
        document("a range in flow style", flow),
        one("a range after an alias", "  upgradeFrom: &range newest\n  kubernetes: *range\n"),
        one("an unknown field", "  kubernets: '>=1.33'\n"),
        one(
            "an unknown field at depth",
            "  requirements:\n    internetAccess:\n      to: Hosts\n      host: [example.com]\n",
        ),
        one(
            "an unknown field in a list in flow style",
            "  roles: [{ name: viewer, rules: [\n    { resources: [pods], verbs: [get] },\n    { resource: [pods] }] }]\n",
        ),
        document(
            "an unknown field beside the spec",
            "apiVersion: fitout.dev/v1alpha1\nkind: ExtensionDefinition\nsepc: {}\n",
        ),
        one("a key twice", "  summary: one\n  summary: two\n"),
        one("a value of another type", "  bootstrap: perhaps\n"),
        one("a text that is too long", &format!("  summary: {}\n", "a".repeat(513))),
        one("a path that leads out", "  logo: ../../logo.svg\n"),
        document(
            "a field that is missing",
            "apiVersion: fitout.dev/v1alpha1\nkind: ExtensionDefinition\nspec:\n  extension: web\n  manifests: { path: m }\n",
        ),
        document("another kind", "apiVersion: v1\nkind: ConfigMap\n"),
        document("no YAML", "apiVersion: fitout.dev/v1alpha1\nspec:\n  kubernetes: [\n"),
        document("a tab", "apiVersion: fitout.dev/v1alpha1\nspec:\n\textension: web\n"),
        document("nothing", ""),
        ("no UTF-8", FileMap::from([("web/1.0.0/definition.yaml".to_owned(), vec![b'a', 0xff])])),
        (
            "no definition",
            files(&[("web/1.0.0/readme.md", ""), ("web/2.0.0/definition.yaml", &definition("web", "2.0.0"))]),
        ),
        ("another version than its directory", files(&[("web/1.0.1/definition.yaml", &definition("web", "1.0.0"))])),
        (
            "names that differ only in case",
            files(&[
                ("Web/1.0.0/definition.yaml", &definition("web", "1.0.0")),
                ("web/1.0.0/definition.yaml", &definition("web", "1.0.0")),
                ("web/1.0.0/Readme.md", ""),
                ("web/1.0.0/readme.md", ""),
            ]),
        ),
        (
            "two versions that are equal but for build metadata",
            files(&[
                ("web/1.0.0+a/definition.yaml", &definition("web", "1.0.0+a")),
                ("web/1.0.0+b/definition.yaml", &definition("web", "1.0.0+b")),
            ]),
        ),
        (
            "a bad version beside a good one",
            files(&[
                ("web/1.0.0/definition.yaml", &definition("web", "1.0.0")),
                ("web/2.0.0/definition.yaml", &with("web", "2.0.0", "  kubernetes: newest\n")),
            ]),
        ),
    ];
    assert_snapshot!(said(&cases), @r#"
    a range that does not parse
      both: web/1.0.0/definition.yaml:8: spec.kubernetes: a range of versions is expected, such as '>=1.33 <1.37', '1.x', '^1.2' or '~1.2.3'; alternatives are joined by '||'; correct it
    a range on several lines under a quoted key
      both: web/1.0.0/definition.yaml:8: spec.kubernetes: a range of versions is expected, such as '>=1.33 <1.37', '1.x', '^1.2' or '~1.2.3'; alternatives are joined by '||'; correct it
    a range in the second dependency
      both: web/1.0.0/definition.yaml:15: spec.dependencies[1].version: a range of versions is expected, such as '>=1.33 <1.37', '1.x', '^1.2' or '~1.2.3'; alternatives are joined by '||'; correct it
    a range in flow style
      both: web/1.0.0/definition.yaml:5: spec.dependencies[1].version: a range of versions is expected, such as '>=1.33 <1.37', '1.x', '^1.2' or '~1.2.3'; alternatives are joined by '||'; correct it
    a range after an alias
      both: web/1.0.0/definition.yaml:9: spec.kubernetes: a range of versions is expected, such as '>=1.33 <1.37', '1.x', '^1.2' or '~1.2.3'; alternatives are joined by '||'; correct it
    an unknown field
      both: web/1.0.0/definition.yaml:8: spec.kubernets: unknown field; did you mean `kubernetes`?
    an unknown field at depth
      both: web/1.0.0/definition.yaml:11: spec.requirements.internetAccess.host: unknown field; did you mean `hosts`?
    an unknown field in a list in flow style
      both: web/1.0.0/definition.yaml:10: spec.roles[0].rules[1].resource: unknown field; did you mean `resources`?
    an unknown field beside the spec
      both: web/1.0.0/definition.yaml:3: sepc: unknown field; did you mean `spec`?
    a key twice
      both: web/1.0.0/definition.yaml:9: key "summary" already set in map; fix the YAML
    a value of another type
      both: web/1.0.0/definition.yaml:8: spec.bootstrap: invalid type: string "perhaps", expected a boolean; correct it
    a text that is too long
      both: web/1.0.0/definition.yaml:8: spec.summary: it has 513 characters, and 512 is the limit; shorten it
    a path that leads out
      both: web/1.0.0/definition.yaml:8: spec.logo: a file is named by its path within the definition's own files: without a leading '/' and without '..'; correct it
    a field that is missing
      both: web/1.0.0/definition.yaml:3: spec.version: it is missing; add it
    another kind
      both: web/1.0.0/definition.yaml:1: apiVersion: expected fitout.dev/v1alpha1, found "v1"; correct it
    no YAML
      both: web/1.0.0/definition.yaml:4: did not find expected node content; fix the YAML
    a tab
      both: web/1.0.0/definition.yaml:3: found character that cannot start any token; fix the YAML
    nothing
      both: web/1.0.0/definition.yaml: apiVersion: it is missing; add `apiVersion: fitout.dev/v1alpha1`
    no UTF-8
      both: web/1.0.0/definition.yaml: it is not UTF-8; save it as UTF-8
    no definition
      both: web/1.0.0/definition.yaml: file not found; add it
    another version than its directory
      both: web/1.0.1/definition.yaml:6: spec.version: it defines web/1.0.0; move it to that directory, or correct its extension and version
    names that differ only in case
      both: Web/1.0.0/definition.yaml:5: spec.extension: it defines web/1.0.0; move it to that directory, or correct its extension and version
    two versions that are equal but for build metadata
      hub:  web/1.0.0+b/definition.yaml:6: spec.version: it equals 1.0.0+a but for build metadata; give one of them another version
      lint: web/1.0.0+b/definition.yaml:6: spec.version: 1.0.0+a and 1.0.0+b are the same version: build metadata does not distinguish versions; give one of them another version
    a bad version beside a good one
      both: web/2.0.0/definition.yaml:8: spec.kubernetes: a range of versions is expected, such as '>=1.33 <1.37', '1.x', '^1.2' or '~1.2.3'; alternatives are joined by '||'; correct it
    "#);
}

#[test]
fn cycles_of_dependencies() {
    let needs = |extension: &str, name: &str| with(extension, "1.0.0", &format!("  dependencies:\n  - name: {name}\n"));
    let cases = [
        (
            "a cycle of three extensions, which a fourth needs",
            files(&[
                ("b/1.0.0/definition.yaml", &needs("b", "c")),
                ("c/1.0.0/definition.yaml", &needs("c", "a")),
                ("a/1.0.0/definition.yaml", &needs("a", "b")),
                ("d/1.0.0/definition.yaml", &needs("d", "a")),
            ]),
        ),
        ("an extension that needs itself", files(&[("a/1.0.0/definition.yaml", &needs("a", "a"))])),
    ];
    assert_snapshot!(said(&cases), @r#"
    a cycle of three extensions, which a fourth needs
      both: a/1.0.0/definition.yaml:9: spec.dependencies[0]: a cycle of dependencies: a → b → c → a; remove one of these dependencies, or name it in spec.suggests
    an extension that needs itself
      both: a/1.0.0/definition.yaml:9: spec.dependencies[0]: a cycle of dependencies: a → a; remove one of these dependencies, or name it in spec.suggests
    "#);
}

#[test]
fn states() {
    let with_states = |title, text: &str| {
        let mut files = files(&[("web/1.0.0/definition.yaml", &definition("web", "1.0.0"))]);
        files.insert("states.yaml".to_owned(), text.as_bytes().to_vec());
        (title, files)
    };
    let cases = [
        with_states("a range that does not parse", "states:\n- extension: web\n  version: newest\n  state: Yanked\n"),
        with_states("an extension that is not there", "states:\n- { extension: wep, state: Yanked }\n"),
        with_states("an unknown state", "states:\n- extension: web\n  state: Gone\n"),
        with_states("an unknown field", "states:\n- extension: web\n  state: Yanked\n  reason: none\n"),
        with_states("an unknown field beside the states", "state: []\n"),
        with_states("a field that is missing", "states:\n- extension: web\n- state: Yanked\n"),
        with_states("a key twice", "states:\n- extension: web\n  state: Yanked\n  state: Listed\n"),
        with_states("no YAML", "states:\n- [\n"),
        with_states("no mapping", "- extension: web\n"),
    ];
    assert_snapshot!(said(&cases), @r#"
    a range that does not parse
      both: states.yaml:3: states[0].version: a range of versions is expected, such as '>=1.33 <1.37', '1.x', '^1.2' or '~1.2.3'; alternatives are joined by '||'; correct it; until then the rule is left out
    an extension that is not there
      both: states.yaml:2: states[0].extension: there is no extension wep; did you mean web?
    an unknown state
      both: states.yaml:3: states[0].state: unknown value `Gone`; expected one of Listed, Deprecated, Yanked, Withdrawn
    an unknown field
      both: states.yaml:4: states[0].reason: unknown field; did you mean `version`?
    an unknown field beside the states
      both: states.yaml:1: state: unknown field; did you mean `states`?
    a field that is missing
      both: states.yaml:2: states[0].state: it is missing; add it
    a key twice
      both: states.yaml:4: key "state" already set in map; fix the YAML
    no YAML
      both: states.yaml:3: did not find expected node content; fix the YAML
    no mapping
      both: states.yaml:1: it is not a mapping; write the rules as a list under `states:`
    "#);
}

#[test]
fn logos() {
    let definition = with("web", "1.0.0", "  logo: logo.png\n");
    let with_logo = |size: usize| {
        let mut files = files(&[("web/1.0.0/definition.yaml", &definition)]);
        files.insert("web/1.0.0/logo.png".to_owned(), vec![0; size]);
        files
    };
    let small = ("a logo of 600 KB", with_logo(600 << 10));
    let large = with_logo(50 << 20);
    let mut text = said(&[small]);
    text += &format!("a logo of 50 MB\n  hub:  {}\n", sentences(&read_directory(&large, |_| {})));
    let archived = fitout_model::pack_files(large.iter().map(|(path, content)| (path.as_str(), &content[..])));
    text += &format!("  hub, in an archive: {}\n", unpack(&archived, &ARCHIVE_LIMITS).unwrap_err());
    text += &format!("  lint: {}\n", sentences(&linted(&large)));
    let unnamed = FileMap::from([
        ("web/1.0.0/definition.yaml".to_owned(), with("web", "1.0.0", "").into_bytes()),
        ("web/1.0.0/image.iso".to_owned(), vec![0; 50 << 20]),
    ]);
    text += &format!("another file of 50 MB\n  hub:  {}\n", sentences(&read_directory(&unnamed, |_| {})));
    text += &format!("  lint: {}\n", sentences(&linted(&unnamed)));
    assert_snapshot!(text, @r#"
    a logo of 600 KB
      hub:  web/1.0.0/logo.png: the logo has 600 KiB, and 512 KiB is the limit; shrink it, or use an SVG
      lint: web/1.0.0/definition.yaml:8: spec.logo: logo.png has 600 KB, and 512 KB is the limit; use a smaller picture, such as an SVG
    a logo of 50 MB
      hub:  web/1.0.0/logo.png: the file is larger than 32 MiB; make it smaller, or leave it out
      hub, in an archive: web/1.0.0/logo.png: the file is larger than 32 MiB; make it smaller, or leave it out
      lint: web/1.0.0/definition.yaml:8: spec.logo: logo.png has 51200 KB, and 512 KB is the limit; use a smaller picture, such as an SVG
    another file of 50 MB
      hub:  web/1.0.0/image.iso: the file is larger than 32 MiB; make it smaller, or leave it out
      lint: web/1.0.0/image.iso: the file is larger than 32 MiB; make it smaller, or leave it out
    "#);
}

#[test]
fn links_in_directories() {
    let files = files(&[
        ("web/1.0.0/definition.yaml", &definition("web", "1.0.0")),
        ("web/1.1.0/definition.yaml", &definition("web", "1.1.0")),
        ("web/1.2.0/readme.md", ""),
    ]);
    let add_links = |directory: &Path| {
        symlink("/etc/passwd", directory.join("web/1.0.0/passwd")).unwrap();
        symlink("../1.1.0/definition.yaml", directory.join("web/1.2.0/definition.yaml")).unwrap();
        symlink("1.1.0", directory.join("web/1.3.0")).unwrap();
        symlink("1.1.0/definition.yaml", directory.join("web/readme.md")).unwrap();
        symlink("/etc", directory.join("etc")).unwrap();
        // What a definition contains may be a socket; there is nothing to read in it.
        fs::create_dir(directory.join("web/1.4.0")).unwrap();
        drop(std::os::unix::net::UnixListener::bind(directory.join("web/1.4.0/socket")).unwrap());
    };
    assert_snapshot!(sentences(&read_directory(&files, add_links)), @r#"
    web/1.0.0/passwd: it is a symbolic link, which is not read; replace it by the file that it points to
            web/1.2.0/definition.yaml: it is a symbolic link, which is not read; replace it by the file that it points to
            web/1.3.0: it is a symbolic link, which is not read; replace it by the file that it points to
            web/1.4.0/socket: it is a special file, which is not read; remove it
    "#);
}

/// An entry of a tar, written without the checks of the library.
fn entry(path: &str, kind: EntryType, content: &[u8]) -> Vec<u8> {
    let mut header = tar::Header::new_gnu();
    header.as_mut_bytes()[..path.len()].copy_from_slice(path.as_bytes());
    header.set_entry_type(kind);
    header.set_size(content.len() as u64);
    header.set_cksum();
    let mut builder = tar::Builder::new(Vec::new());
    builder.append(&header, content).unwrap();
    builder.into_inner().unwrap()
}

#[test]
fn archives() {
    let file = |path| entry(path, EntryType::Regular, b"x");
    let mut truncated = file("web/1.0.0/definition.yaml");
    truncated.truncate(600);
    let mut gzipped = GzEncoder::new(vec![], Compression::fast());
    std::io::Write::write_all(&mut gzipped, &file("a")).unwrap();
    let mut gzipped = gzipped.finish().unwrap();
    gzipped.truncate(20);
    let mut long_name = entry("long", EntryType::GNULongName, b"web/1.0.0/../../../up\0");
    long_name.truncate(long_name.len() - 1024);
    long_name.extend(file("short"));
    let rows = [
        ("a path that leads out", file("../up")),
        ("a path that leads out on its way", file("web/../../up")),
        ("a long path that leads out", long_name),
        ("an absolute path", file("/etc/passwd")),
        ("a path of Windows", file("web\\..\\..\\up")),
        ("a symbolic link", entry("web/1.0.0/link", EntryType::Symlink, b"")),
        ("a hard link", entry("web/1.0.0/link", EntryType::Link, b"")),
        ("a device", entry("web/1.0.0/null", EntryType::Char, b"")),
        ("a pipe", entry("web/1.0.0/pipe", EntryType::Fifo, b"")),
        ("an archive that ends early", truncated),
        ("a gzipped archive that ends early", gzipped),
        ("no archive", b"<html>not found</html>".repeat(100)),
    ];
    let text = rows.iter().map(|(title, tar)| format!("{title}\n  {}\n", unpack(tar, &ARCHIVE_LIMITS).unwrap_err()));
    assert_snapshot!(text.collect::<Vec<_>>().concat(), @r#"
    a path that leads out
      ../up: the path leads out of the archive; use relative paths without '..'
    a path that leads out on its way
      web/../../up: the path leads out of the archive; use relative paths without '..'
    a long path that leads out
      web/1.0.0/../../../up: the path leads out of the archive; use relative paths without '..'
    an absolute path
      /etc/passwd: the path leads out of the archive; use relative paths without '..'
    a path of Windows
      web\..\..\up: the path leads out of the archive; use relative paths without '..'
    a symbolic link
      web/1.0.0/link: it is a symbolic link, and only files and directories are allowed; replace it by the file that it points to
    a hard link
      web/1.0.0/link: it is a hard link, and only files and directories are allowed; replace it by the file that it points to
    a device
      web/1.0.0/null: it is a device, and only files and directories are allowed; leave it out
    a pipe
      web/1.0.0/pipe: it is a pipe, and only files and directories are allowed; leave it out
    an archive that ends early
      it is not a complete tar archive: unexpected EOF during skip; create it again
    a gzipped archive that ends early
      it is not a complete tar archive: incomplete deflate stream; create it again
    no archive
      it is not a tar archive, gzipped or not; check the address, and what is there
    "#);
}

#[test]
fn charts_among_the_files() {
    let chart = |title: &'static str, text: &str| (title, files(&[("charts/web/Chart.yaml", text)]));
    let rows = [
        chart("no version", "apiVersion: v2\nname: web\n"),
        chart("an invalid version", "apiVersion: v2\nname: web\nversion: one\n"),
        chart("an invalid name", "apiVersion: v2\nname: Web_Server\nversion: 1.0.0\n"),
        chart("an invalid range", "apiVersion: v2\nname: web\nversion: 1.0.0\nkubeVersion: newest\n"),
        chart("an unknown type", "apiVersion: v2\nname: web\nversion: 1.0.0\ntype: program\n"),
        chart("a library", "apiVersion: v2\nname: web\nversion: 1.0.0\ntype: library\n"),
        chart("an invalid alias", "name: web\nversion: 1.0.0\ndependencies:\n- name: db\n- name: db\n  alias: a.b\n"),
        chart("no YAML", "name: web\nversion: [1.0.0\n"),
        chart(
            "an annotation that does not parse",
            "name: web\nversion: 1.0.0\nannotations:\n  fitout.dev/singleton: 'perhaps'\n",
        ),
        chart(
            "an annotation that is left out",
            "name: web\nversion: 1.0.0\nannotations:\n  artifacthub.io/links: nowhere\n",
        ),
        (
            "versions that are equal but for build metadata",
            files(&[
                ("charts/a/Chart.yaml", "name: web\nversion: 1.0.0+a\n"),
                ("charts/b/Chart.yaml", "name: web\nversion: 1.0.0+b\n"),
                ("charts/c/Chart.yaml", "name: web\n# again\nversion: 1.0.0+a\n"),
            ]),
        ),
    ];
    let text =
        rows.into_iter().map(|(title, files)| format!("{title}\n  {}\n", sentences(&read((None, split(files))))));
    assert_snapshot!(text.collect::<Vec<_>>().concat(), @r#"
    no version
      charts/web/Chart.yaml: version: it is missing; add it
    an invalid version
      charts/web/Chart.yaml:3: version: "one" is not a version: invalid semantic version; write one such as 1.2.3
    an invalid name
      charts/web/Chart.yaml:2: name: the name of an extension has lowercase letters, digits and '-', begins and ends with a letter or digit, and has at most 63 characters; correct it
    an invalid range
      charts/web/Chart.yaml:4: kubeVersion: "newest" is not a range of versions: improper constraint: "newest"; write a range such as '>=1.33.0-0 <1.37.0-0'
    an unknown type
      charts/web/Chart.yaml:4: type: "program" is no type of chart; write application or library, or leave it out
    a library
      charts/web/Chart.yaml:4: type: it is a library chart, which cannot be installed; leave it out of the catalog
    an invalid alias
      charts/web/Chart.yaml:6: dependencies[1].alias: "a.b" has other characters than letters, digits, '_' and '-'; correct it
    no YAML
      charts/web/Chart.yaml:3: did not find expected ',' or ']'; fix the YAML
    an annotation that does not parse
      charts/web/Chart.yaml:4: annotations[fitout.dev/singleton]: "perhaps" is neither true nor false; correct it
    an annotation that is left out
      charts/web/Chart.yaml:4: annotations[artifacthub.io/links]: it is not the list that Artifact Hub describes; it is left out; correct it
    versions that are equal but for build metadata
      charts/b/Chart.yaml:2: version: 1.0.0+b equals that of charts/a/Chart.yaml but for build metadata, which counts; raise the version, or remove one of the charts
            charts/c/Chart.yaml:3: version: 1.0.0+a equals that of charts/a/Chart.yaml, which counts; raise the version, or remove one of the charts
    "#);
}

#[test]
fn charts_of_a_repository() {
    let chart = |title: &'static str, versions: Value| {
        let versions = serde_json::from_value::<Vec<Value>>(versions).unwrap();
        let versions = versions.into_iter().map(|version| chart_version(version).unwrap()).collect();
        let repository = "https://charts.example.com".to_owned();
        (title, vec![RawExtension::Charts { repository, name: "web".to_owned(), versions }])
    };
    let rows = [
        chart("an invalid range", json!([{ "name": "web", "version": "1.0.0", "kubeVersion": "newest" }])),
        chart(
            "versions that are equal but for build metadata",
            json!([{ "name": "web", "version": "1.0.0+b" }, { "name": "web", "version": "v1.0.0+a" }]),
        ),
        chart("another name", json!([{ "name": "db", "version": "1.0.0" }])),
        chart(
            "a cycle",
            json!([{ "name": "web", "version": "1.0.0", "annotations": { "fitout.dev/dependencies": "web >=1" } }]),
        ),
    ];
    let text: String =
        rows.into_iter().map(|(title, raw)| format!("{title}\n  {}\n", sentences(&read((None, raw))))).collect();
    assert_snapshot!(text, @r#"
    an invalid range
      web 1.0.0: kubeVersion: "newest" is not a range of versions: improper constraint: "newest"; write a range such as '>=1.33.0-0 <1.37.0-0'
    versions that are equal but for build metadata
      web v1.0.0+a: version: it differs from 1.0.0+b, which counts, in nothing but build metadata; publish it with another version
    another name
      db 1.0.0: name: the repository lists it as web; publish it under its own name
    a cycle
      web 1.0.0: dependencies: a cycle of dependencies: web → web; remove one of these dependencies, or name it in spec.suggests
    "#);
}
