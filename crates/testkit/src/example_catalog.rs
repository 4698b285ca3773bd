//! A catalog with an extension of plain manifests.

use std::fs;
use std::path::Path;

use anyhow::Result;

/// Writes two versions of the extension `thing`: version 2.0.0 lacks a config map of 1.0.0 and has another one.
pub fn write_example_catalog(dir: &Path) -> Result<()> {
    let crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n\
        metadata: { name: widgets.example.com }\n\
        spec:\n  group: example.com\n  scope: Namespaced\n  names: { kind: Widget, plural: widgets, singular: widget, listKind: WidgetList }\n\
        \x20 versions: [{ name: v1, served: true, storage: true, schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } } }]\n";
    let widget = "apiVersion: example.com/v1\nkind: Widget\nmetadata: { name: w }\nspec: { size: \"${size}\" }\n";
    let map = |name: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: {name} }}\ndata: {{ size: \"x${{size}}\" }}\n")
    };
    for (version, maps) in [("1.0.0", ["kept", "old"]), ("2.0.0", ["kept", "new"])] {
        let folder = dir.join("thing").join(version);
        fs::create_dir_all(folder.join("m"))?;
        let definition = format!(
            "apiVersion: fitout.dev/v1alpha1\nkind: ExtensionDefinition\nmetadata: {{ name: thing-{version} }}\n\
             spec:\n  extension: thing\n  version: {version}\n  upgradeFrom: \">=1\"\n  kubernetes: \">=1.33\"\n  parameters: schema.json\n  manifests: {{ path: m }}\n"
        );
        fs::write(folder.join("definition.yaml"), definition)?;
        fs::write(
            folder.join("schema.json"),
            r#"{"type":"object","properties":{"size":{"type":"integer","default":1}}}"#,
        )?;
        let documents = [widget.to_owned(), map(maps[0]), map(maps[1]), crd.to_owned()];
        fs::write(folder.join("m/all.yaml"), documents.join("---\n"))?;
    }
    Ok(())
}
