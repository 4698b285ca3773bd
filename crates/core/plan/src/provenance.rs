//! The values of an instance and the layers that set them.

use fitout_engines::{Layer, Origin, origins};
use fitout_model::Problem;
use serde_json::{Value, json};

use crate::{HIDDEN, Mask, Obstacle, ResolvedPackage};

/// The values that an instance is rendered with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Provenance {
    /// The version of the extension.
    pub version: String,
    /// The reason that values cannot be computed.
    pub obstacle: Option<Obstacle>,
    /// All values, as templates or manifests see them.
    pub values: Value,
    /// The same values, one by one, each with its layer.
    pub leaves: Vec<Sourced>,
}

/// A value and the layer that set it.
#[derive(Clone, Debug, PartialEq)]
pub struct Sourced {
    /// The keys that lead to the value.
    pub path: Vec<String>,
    /// The value; [`HIDDEN`] for a secret one.
    pub value: Value,
    /// The layer that set the value.
    pub set_by: String,
    /// The layers whose values were overridden.
    pub over: Vec<String>,
    /// Whether the value is a default of the chart or of the definition's parameters.
    pub default: bool,
}

impl Provenance {
    /// The values of a version with these layers over its own. Secret values are always hidden; without `shown`, all
    /// are.
    pub fn of(chosen: &ResolvedPackage, layers: &[Layer], shown: bool) -> Self {
        let definition = &chosen.package.definition;
        let version = definition.version.to_string();
        match origins(definition, chosen.files(), layers) {
            Ok(found) => {
                Self { version, ..Self::with(found.into_iter().map(|origin| sourced(origin, shown)).collect()) }
            }
            Err(problem) => Self { version, ..Self::without(invalid(&problem, layers)) },
        }
    }

    /// The answer if values cannot be computed.
    pub fn without(obstacle: Obstacle) -> Self {
        Self { obstacle: Some(obstacle), ..Self::default() }
    }

    fn with(leaves: Vec<Sourced>) -> Self {
        let mut values = json!({});
        for leaf in &leaves {
            *leaf.path.iter().fold(&mut values, |place, key| &mut place[key]) = leaf.value.clone();
        }
        Self { values, leaves, ..Self::default() }
    }
}

fn sourced(origin: Origin, shown: bool) -> Sourced {
    let Origin { path, value, layer: set_by, over, default, secret } = origin;
    let value = if secret || !shown { HIDDEN.into() } else { value };
    Sourced { path, value, set_by, over, default }
}

/// Hides Helm's message if it contains a secret value.
fn invalid(problem: &Problem, layers: &[Layer]) -> Obstacle {
    let secrets = layers.iter().filter(|layer| layer.secret);
    let mask = secrets.fold(Mask::default(), |mask, layer| mask.secrets(&layer.values));
    let sentence = problem.to_string();
    Obstacle::InvalidSpec(if mask.hides(&json!(sentence)) {
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

    /// A package with a chart or manifests, and the files beside its definition.
    fn chosen(spec: &str, files: &[(&str, &str)]) -> ResolvedPackage {
        let definition = format!(
            "apiVersion: fitout.dev/v1alpha1\nkind: ExtensionDefinition\nmetadata: {{ name: web }}\n\
             spec: {{ extension: web, version: 1.0.0, {spec} }}\n"
        );
        let files = files.iter().copied().chain([("definition.yaml", definition.as_str())]);
        let files = files.map(|(path, text)| (format!("web/1.0.0/{path}"), text.as_bytes().to_vec())).collect();
        let packages = read_packages(files);
        assert!(packages.problems.is_empty(), "{:?}", packages.problems);
        ResolvedPackage { package: Arc::clone(&packages.packages[0]), archive: None, pack: None, why: String::new() }
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

    /// One line for each value.
    fn lines(provenance: &Provenance) -> Vec<String> {
        assert_eq!(provenance.obstacle, None);
        let line = |leaf: &Sourced| {
            let mut line = format!("{} = {} by {}", leaf.path.join("."), leaf.value, leaf.set_by);
            for lost in &leaf.over {
                line += ", over ";
                line += lost;
            }
            if leaf.default { line + ", a default" } else { line }
        };
        provenance.leaves.iter().map(line).collect()
    }

    #[test]
    fn chart_values_name_their_layer_and_hide_secrets() {
        let layers =
            layers(json!({ "db": { "password": "hunter2" } }), json!({ "port": 8080, "db": { "host": null } }));
        let provenance = Provenance::of(&chart(), &layers, true);
        assert_eq!(provenance.version, "1.0.0");
        assert_eq!(
            lines(&provenance),
            [
                r#"color = "green" by definition, over chart"#,
                r#"db.password = "(not shown)" by valuesFrom Secret login, over chart"#,
                "far.a.b/c = 1000000 by chart, a default",
                "port = 8080 by instance, over chart",
            ]
        );
        assert_eq!(
            provenance.values,
            json!({ "color": "green", "db": { "password": HIDDEN }, "far": { "a.b/c": 1_000_000 }, "port": 8080 })
        );
    }

    #[test]
    fn hidden_values_still_name_their_layer() {
        let provenance = Provenance::of(&chart(), &layers(json!({}), json!({ "port": 8080 })), false);
        assert!(provenance.leaves.iter().all(|leaf| leaf.value == HIDDEN), "{provenance:?}");
        assert!(lines(&provenance).contains(&r#"port = "(not shown)" by instance, over chart"#.to_owned()));
    }

    #[test]
    fn manifest_values_name_their_layer_or_the_definition() {
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
    fn message_about_an_invalid_value_hides_secrets() {
        let files = [
            ("chart/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
            ("chart/charts/db/Chart.yaml", "apiVersion: v2\nname: db\nversion: 1.0.0\n"),
        ];
        let chosen = chosen("helm: { chart: chart }", &files);
        let obstacle = |secret, own| Provenance::of(&chosen, &layers(secret, own), true).obstacle.unwrap();
        let open = obstacle(json!({}), json!({ "db": "hunter2" }));
        assert!(open.message().contains("type mismatch on db"), "{open:?}");
        let hidden = obstacle(json!({ "db": "hunter2" }), json!({}));
        assert!(!hidden.message().contains("hunter2"), "{hidden:?}");
    }
}
