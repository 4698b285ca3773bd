//! Small charts.

use serde_json::{Value as Json, json};

use super::Chance;

type Files = Vec<(String, String)>;

const VERSIONS: &[&str] = &["1.0.0", "1.0.0", "v1.2", "2.0.0-rc.1", "1"];
const RANGES: &[&str] = &["*", "1.x.x", ">=0.0.0", "^1", "2.0.0", "", "x", ">0-0"];

impl Chance {
    /// A chart with dependencies, and a user's values for it.
    pub(crate) fn process(&mut self) -> Json {
        let mut files = Files::new();
        self.chart(&mut files, "", "root", 3);
        let values = if self.one_in(4) { json!({}) } else { self.table(3) };
        json!({"op": "process", "files": files, "values": values})
    }

    /// A chart whose names, versions and files may be anything.
    pub(crate) fn load(&mut self) -> Json {
        let mut files = Files::new();
        self.chart(&mut files, "", "root", 1);
        for _ in 0..self.below(4) {
            let name = self.one_of(&[
                "templates/a.yaml",
                "templates/NOTES.txt",
                "crds/a.yaml",
                "crds/b.JSON",
                "crds/c.txt",
                "README.md",
                "charts/x.prov",
                "charts/.hidden/Chart.yaml",
                "charts/_x/a",
                "charts/file",
                "charts/leaf/extra",
                "charts/bad.tgz",
                "requirements.yaml",
                "requirements.lock",
                "Chart.lock",
                "values.schema.json",
                "values.yaml",
                "charts/new/Chart.yaml",
            ]);
            let text = self.one_of(&[
                "",
                "a: 1\n",
                "dependencies:\n- name: leaf\n  version: 1\n",
                "digest: sha256:1\ngenerated: \"2020-01-01T00:00:00Z\"\n",
                "a: b: c\n",
                "- x\n",
                "null\n",
                "name: new\nversion: 0.1.0\n",
                "dependencies: [{name: [1]}]\n",
                "dependencies: x\n",
            ]);
            // Of two bad subcharts, Helm names either.
            let bad = |name: &str| {
                ["charts/file", "charts/bad", "charts/new", "charts/leaf/"].iter().any(|bad| name.starts_with(bad))
            };
            if !bad(name) || !files.iter().any(|(name, _)| bad(name)) {
                files.push((name.to_owned(), text.to_owned()));
            }
        }
        let damage = self.below(3);
        for _ in 0..damage {
            let line = self.damage();
            let Some((_, text)) = files.iter_mut().find(|(name, _)| name == "Chart.yaml") else { continue };
            // Of two equal keys the later counts.
            text.push_str(&line);
        }
        if self.one_in(20) {
            files.retain(|(name, _)| name != "Chart.yaml");
        }
        if self.one_in(3) {
            let entries: Vec<_> =
                files.iter().map(|(name, text)| json!([format!("root/{name}"), "file", text])).collect();
            return json!({"op": "load", "entries": entries});
        }
        json!({"op": "load", "files": files})
    }

    fn damage(&mut self) -> String {
        let key = self.one_of(&[
            "name",
            "Name",
            "version",
            "VERSION",
            "apiVersion",
            "type",
            "description",
            "keywords",
            "sources",
            "maintainers",
            "icon",
            "home",
            "deprecated",
            "annotations",
            "kubeVersion",
            "appVersion",
            "dependencies",
            "tags",
            "condition",
            "Kind",
            "keywordſ",
        ]);
        let value = self.one_of(&[
            "x",
            "1",
            "1.10",
            "1e9",
            "true",
            "[]",
            "{}",
            "[a, 1, true]",
            "{a: 1, b: null}",
            "null",
            "\"\\u0007a\\tb\\u00a0\"",
            "..",
            "a/b",
            "/",
            "[{name: n, email: 1}, {url: u}]",
            "[null]",
            "[{name: leaf, alias: \"a b\"}]",
            "[{name: leaf}, {name: leaf}]",
            "1.0.0",
            "v2",
            "v3",
            "[{name: [1]}]",
            "[{tags: x}]",
            "library",
            "application",
            "[{import-values: {a: b}}]",
            "[{name: x, tags: [1, null]}]",
            "0x10",
            "12345678901234567890",
            "[{name: {a: b}, version: [1]}]",
            "[x]",
            "1_000",
            "yes",
            "~",
            "2020-01-01",
        ]);
        format!("{key}: {value}\n")
    }

    /// Writes a chart, and the charts in it, and says whether it declares any of them.
    ///
    /// Where nobody declares a chart that does, two aliases of the chart around it share it in Helm, which goes wrong.
    fn chart(&mut self, files: &mut Files, folder: &str, name: &str, depth: usize) -> bool {
        let mut metadata = json!({"apiVersion": "v2", "name": name, "version": self.one_of(VERSIONS)});
        if depth > 0 {
            let mut declared = Vec::new();
            let mut taken = Vec::new();
            let flat = self.one_in(2);
            for inner in ["sub", "leaf", "data"] {
                if self.one_in(3) {
                    continue;
                }
                let has_own = self.chart(files, &format!("{folder}charts/{inner}/"), inner, depth - 1);
                if has_own && !folder.is_empty() {
                    taken.push(inner);
                    let mut declaration = self.declaration(inner, "", flat);
                    declaration["version"] = json!(">=0-0");
                    declared.push(declaration);
                }
                for _ in 0..self.below(4) {
                    let alias = self.one_of(&["", "", "one", "two", "b"]);
                    let known = if alias.is_empty() { inner } else { alias };
                    if taken.contains(&known) {
                        continue;
                    }
                    taken.push(known);
                    declared.push(self.declaration(inner, alias, flat));
                }
            }
            if !declared.is_empty() || self.one_in(4) {
                metadata["dependencies"] = json!(declared);
            }
        }
        files.push((format!("{folder}Chart.yaml"), format!("{metadata}\n")));
        if !self.one_in(6) {
            files.push((format!("{folder}values.yaml"), format!("{}\n", self.table(3))));
        }
        metadata.get("dependencies").is_some()
    }

    /// What is imported goes to the top or into tables, never both: what is imported into itself ends Helm.
    fn declaration(&mut self, name: &str, alias: &str, flat: bool) -> Json {
        let mut declared = json!({"name": name, "repository": "x", "version": self.one_of(RANGES)});
        if self.one_in(2) {
            declared["version"] = json!(">=0-0");
        }
        if !alias.is_empty() {
            declared["alias"] = json!(alias);
        }
        if self.one_in(2) {
            declared["condition"] = json!(self.one_of(&[
                "a",
                "sub.enabled",
                "leaf.enabled,a",
                "global.a",
                "one.enabled",
                "x.y,,b",
                " a",
                "data.a.b",
                "enabled",
            ]));
        }
        if self.one_in(3) {
            declared["tags"] = match self.below(3) {
                0 => json!(["a"]),
                1 => json!(["a", "b"]),
                _ => json!(["c", "enabled"]),
            };
        }
        if self.one_in(2) {
            let imports: Vec<_> = (0..=self.below(2)).map(|_| self.import(flat)).collect();
            declared["import-values"] = json!(imports);
        }
        declared
    }

    fn import(&mut self, flat: bool) -> Json {
        if self.one_in(12) {
            return json!(1);
        }
        let child = self.one_of(&["a", "global", "exports.data", "data", "b", "leaf", "sub.a"]);
        match self.below(4) {
            0 | 1 if flat => json!(self.one_of(&["data", "a", "b.c"])),
            _ if flat => json!({"child": child, "parent": "."}),
            0 => json!({ "child": child }),
            _ => json!({"child": child, "parent": self.one_of(&["a", "c", "global", "sub", "x.y.z", "leaf.a"])}),
        }
    }
}
