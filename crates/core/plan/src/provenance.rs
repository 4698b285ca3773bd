//! The values of an instance, each with the layer that it comes from, for people.

use fitout_engines::{Layer, Origin, origins};
use fitout_model::Problem;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{HIDDEN, Mask, Obstacle, ResolvedPackage};

/// Every value that an instance is made with, and whose it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Provenance {
    /// The version whose values they are.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// Why there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<Obstacle>,
    /// All of them, as templates or manifests see them.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub values: Value,
    /// The same, one by one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub leaves: Vec<Sourced>,
}

/// A value and whose it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sourced {
    /// The keys that lead to it.
    pub path: Vec<String>,
    /// The value; a few words where it is not shown.
    #[serde(default)]
    pub value: Value,
    /// The layer that set it.
    pub set_by: String,
    /// The layers that have a value there too, and lost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub over: Vec<String>,
    /// Whether nobody has set it: it is a default of the chart, or of the definition's parameters.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub default: bool,
}

impl Provenance {
    /// What there is to say of a version with these layers over its own. Secrets are shown to nobody, and nothing to who may
    /// not see values.
    pub fn of(chosen: &ResolvedPackage, layers: &[Layer], shown: bool) -> Self {
        let definition = &chosen.package.definition;
        let version = definition.version.to_string();
        match origins(definition, chosen.files(), layers) {
            Ok(found) => {
                Self { version, ..Self::told(found.into_iter().map(|origin| sourced(origin, shown)).collect()) }
            }
            Err(problem) => Self { version, ..Self::without(wrong(&problem, layers)) },
        }
    }

    /// What there is to say where there are no values.
    pub fn without(obstacle: Obstacle) -> Self {
        Self { obstacle: Some(obstacle), ..Self::default() }
    }

    fn told(leaves: Vec<Sourced>) -> Self {
        let mut values = json!({});
        for leaf in &leaves {
            *leaf.path.iter().fold(&mut values, |place, key| &mut place[key]) = leaf.value.clone();
        }
        Self { values, leaves, ..Self::default() }
    }

    /// Leaves out what is only a default.
    #[must_use]
    pub fn without_defaults(self) -> Self {
        let kept = self.leaves.into_iter().filter(|leaf| !leaf.default).collect();
        Self { version: self.version, obstacle: self.obstacle, ..Self::told(kept) }
    }
}

impl Sourced {
    /// Where it is, as `--set` takes it: keys with dots between, and a backslash before a dot of a key.
    pub fn place(&self) -> String {
        let keys: Vec<String> = self.path.iter().map(|key| key.replace('.', "\\.")).collect();
        keys.join(".")
    }
}

fn sourced(origin: Origin, shown: bool) -> Sourced {
    let Origin { path, value, layer: set_by, over, default, secret } = origin;
    let value = if secret || !shown { HIDDEN.into() } else { value };
    Sourced { path, value, set_by, over, default }
}

/// Helm's words may have a value in them, and that may be a secret.
fn wrong(problem: &Problem, layers: &[Layer]) -> Obstacle {
    let secrets = layers.iter().filter(|layer| layer.secret);
    let mask = secrets.fold(Mask::default(), |mask, layer| mask.secrets(&layer.values));
    let sentence = problem.to_string();
    Obstacle::Wrong(if mask.hides(&json!(sentence)) {
        format!("{}: a value from a secret does not fit; correct it", problem.field)
    } else {
        sentence
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use fitout_model::read_packages;

    use super::*;

    /// A chart or manifests, with what comes beside the definition.
    fn chosen(spec: &str, files: &[(&str, &str)]) -> ResolvedPackage {
        let definition = format!(
            "apiVersion: fitout.dev/v1alpha1\nkind: ExtensionDefinition\nmetadata: {{ name: web }}\n\
             spec: {{ extension: web, version: 1.0.0, {spec} }}\n"
        );
        let files = files.iter().copied().chain([("definition.yaml", definition.as_str())]);
        let files = files.map(|(path, text)| (format!("web/1.0.0/{path}"), text.as_bytes().to_vec())).collect();
        let packages = read_packages(files);
        assert!(packages.problems.is_empty(), "{:?}", packages.problems);
        ResolvedPackage { package: Arc::clone(&packages.packages[0]), archive: None, why: String::new() }
    }

    fn chart() -> ResolvedPackage {
        let values = "color: red\nport: 80\ndb: { password: none, host: db }\nfar: { a.b/c: 1000000 }\n";
        let files =
            [("chart/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"), ("chart/values.yaml", values)];
        chosen("helm: { chart: chart, values: { color: green } }", &files)
    }

    fn layers(secret: Value, own: Value) -> [Layer; 2] {
        let layer = |name: &str, values, secret| Layer { name: name.to_owned(), values, secret };
        [layer("valuesFrom Secret login", secret, true), layer("instance", own, false)]
    }

    /// A line for each value.
    fn lines(told: &Provenance) -> Vec<String> {
        assert_eq!(told.obstacle, None);
        let line = |leaf: &Sourced| {
            let mut line = format!("{} = {} by {}", leaf.place(), leaf.value, leaf.set_by);
            for lost in &leaf.over {
                line += ", over ";
                line += lost;
            }
            if leaf.default { line + ", a default" } else { line }
        };
        told.leaves.iter().map(line).collect()
    }

    #[test]
    fn values_of_a_chart_name_their_layer_and_secrets_are_not_shown() {
        let layers =
            layers(json!({ "db": { "password": "hunter2" } }), json!({ "port": 8080, "db": { "host": null } }));
        let told = Provenance::of(&chart(), &layers, true);
        assert_eq!(told.version, "1.0.0");
        assert_eq!(
            lines(&told),
            [
                r#"color = "green" by definition, over chart"#,
                r#"db.password = "(not shown)" by valuesFrom Secret login, over chart"#,
                r"far.a\.b/c = 1000000 by chart, a default",
                "port = 8080 by instance, over chart",
            ]
        );
        assert_eq!(
            told.values,
            json!({ "color": "green", "db": { "password": HIDDEN }, "far": { "a.b/c": 1_000_000 }, "port": 8080 })
        );
        let changed = told.without_defaults();
        assert_eq!(changed.values, json!({ "color": "green", "db": { "password": HIDDEN }, "port": 8080 }));
    }

    #[test]
    fn who_may_not_see_values_sees_whose_they_are() {
        let told = Provenance::of(&chart(), &layers(json!({}), json!({ "port": 8080 })), false);
        assert!(told.leaves.iter().all(|leaf| leaf.value == HIDDEN), "{told:?}");
        assert!(lines(&told).contains(&r#"port = "(not shown)" by instance, over chart"#.to_owned()));
    }

    #[test]
    fn values_of_manifests_name_their_layer_or_the_definition() {
        let schema = r#"{ "type": "object", "properties": {
            "size": { "type": "integer", "default": 1 },
            "host": { "type": "string" },
            "labels": { "type": "object", "default": { "team": "web" } },
            "image": { "type": "object", "properties": { "tag": { "default": "1" }, "name": { "default": "web" } } } } }"#;
        let chosen = chosen("parameters: schema.json, manifests: { path: m }", &[("schema.json", schema)]);
        let own = json!({ "size": 3, "labels": null, "image": { "tag": "2" } });
        let layers = layers(json!({ "size": 2, "host": "hunter2", "labels": { "team": "db" } }), own);
        assert_eq!(
            lines(&Provenance::of(&chosen, &layers, true)),
            [
                r#"host = "(not shown)" by valuesFrom Secret login"#,
                r#"image.name = "web" by definition, a default"#,
                r#"image.tag = "2" by instance, over definition"#,
                r#"labels.team = "web" by definition, over valuesFrom Secret login, a default"#,
                "size = 3 by instance, over valuesFrom Secret login, over definition",
            ]
        );
    }

    #[test]
    fn what_helm_says_of_a_wrong_value_does_not_tell_a_secret() {
        let files = [
            ("chart/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
            ("chart/charts/db/Chart.yaml", "apiVersion: v2\nname: db\nversion: 1.0.0\n"),
        ];
        let chosen = chosen("helm: { chart: chart }", &files);
        let said = |secret, own| Provenance::of(&chosen, &layers(secret, own), true).obstacle.unwrap();
        let open = said(json!({}), json!({ "db": "hunter2" }));
        assert!(open.message().contains("type mismatch on db"), "{open:?}");
        let hidden = said(json!({ "db": "hunter2" }), json!({}));
        assert!(!hidden.message().contains("hunter2"), "{hidden:?}");
    }
}
