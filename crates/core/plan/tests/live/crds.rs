//! Compares the risks of changed CRDs with what a real API server does to stored objects.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::sync::LazyLock;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use fitout_plan::{CrdRisk, RiskKind, crd_risks};
use fitout_testkit::{Cluster, Controllers, Programs, Spec, until};
use serde_json::{Map, Value, json};

static CLUSTER: LazyLock<Cluster> =
    LazyLock::new(|| Cluster::start(Spec { controllers: Controllers::None, ..Spec::default() }).unwrap());

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const LIMIT: Duration = Duration::from_secs(30);

fn version(name: &str, storage: bool, schema: &Value) -> Value {
    let spec = json!({ "type": "object", "properties": { "spec": schema } });
    json!({ "name": name, "served": true, "storage": storage, "schema": { "openAPIV3Schema": spec } })
}

fn crd(plural: &str, versions: &[Value]) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("{plural}.example.org") },
        "spec": {
            "group": "example.org", "scope": "Namespaced", "versions": versions,
            "names": { "plural": plural, "kind": plural.to_uppercase() },
        },
    })
}

/// Creates a CRD and waits until it is established.
fn establish(crd: &Value) -> Result<Value> {
    let created = CLUSTER.client().create(CRDS, crd)?;
    let name = created["metadata"]["name"].as_str().context("a name")?;
    until(name, LIMIT, || {
        let found = CLUSTER.client().get(&format!("{CRDS}/{name}"))?;
        let conditions = found["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let established = conditions.iter().any(|one| one["type"] == "Established" && one["status"] == "True");
        if established { Ok(found) } else { Err(anyhow!("{conditions:?}")) }
    })
}

/// Replaces the spec of a CRD.
fn change(live: &Value, new: &Value) -> Result<Value> {
    let mut desired = live.clone();
    desired["spec"] = new["spec"].clone();
    let name = live["metadata"]["name"].as_str().context("a name")?;
    CLUSTER.client().replace(&format!("{CRDS}/{name}"), &desired)
}

fn objects(plural: &str, version: &str) -> String {
    format!("/apis/example.org/{version}/namespaces/default/{plural}")
}

fn object(plural: &str, version: &str, name: &str, spec: &Value) -> Value {
    let kind = plural.to_uppercase();
    json!({ "apiVersion": format!("example.org/{version}"), "kind": kind, "metadata": { "name": name }, "spec": spec })
}

/// One field of a CRD, before and after a change.
struct Row {
    fact: &'static str,
    old: Value,
    new: Value,
    stored: Value,
    harm: Option<RiskKind>,
}

fn with(mut schema: Value, more: &Value) -> Value {
    schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    schema
}

fn fields(properties: &Value) -> Value {
    json!({ "type": "object", "properties": properties })
}

fn text(more: &Value) -> Value {
    with(json!({ "type": "string" }), more)
}

fn number(more: &Value) -> Value {
    with(json!({ "type": "integer" }), more)
}

fn list(more: &Value) -> Value {
    with(json!({ "type": "array", "items": { "type": "string" } }), more)
}

fn map(more: &Value) -> Value {
    with(json!({ "type": "object", "additionalProperties": { "type": "string" } }), more)
}

fn open(more: &Value) -> Value {
    with(json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true }), more)
}

fn keyed(more: &Value) -> Value {
    let plain = json!({ "type": "string" });
    let items = with(fields(&json!({ "a": plain, "b": plain })), &json!({ "required": ["a", "b"] }));
    with(json!({ "type": "array", "items": items }), more)
}

fn required(b: &Value) -> Value {
    with(fields(&json!({ "a": { "type": "string" }, "b": b })), &json!({ "required": ["b"] }))
}

fn row(harm: Option<RiskKind>, fact: &'static str, old: Value, new: Value, stored: Value) -> Row {
    Row { fact, old, new, stored, harm }
}

fn losses() -> Vec<Row> {
    let row = |fact, old, new| row(Some(RiskKind::Loss), fact, old, new, json!({ "a": "1" }));
    let none = json!({});
    let nullable = json!({ "additionalProperties": { "type": "string", "nullable": true } });
    vec![
        row("a field is removed", fields(&json!({ "a": text(&none) })), fields(&none)),
        row("unknown fields are no longer kept", open(&none), fields(&none)),
        row("a map is closed", map(&none), fields(&none)),
        Row { stored: json!(null), ..row("null no more", text(&json!({ "nullable": true })), text(&none)) },
        Row { stored: json!({ "a": null }), ..row("no null in a map", map(&nullable), map(&none)) },
    ]
}

fn refusals() -> Vec<Row> {
    let row = |fact, old, new, stored| row(Some(RiskKind::Refusal), fact, old, new, stored);
    let none = json!({});
    let plain = || text(&json!({}));
    let inner = || json!({ "a": "1" });
    let twins = || json!([{ "a": "1", "b": "1" }, { "a": "1", "b": "2" }]);
    let by = |key: &str| keyed(&json!({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [key] }));
    let both = || fields(&json!({ "a": text(&json!({})), "b": text(&json!({})) }));
    let either = json!({ "x-kubernetes-int-or-string": true });
    let anything = json!({ "x-kubernetes-preserve-unknown-fields": true });
    let rule = json!({ "x-kubernetes-validations": [{ "rule": "self != 'x'" }] });
    let (one, two) =
        (json!({ "anyOf": [{ "pattern": "a" }] }), json!({ "anyOf": [{ "pattern": "a" }, { "pattern": "b" }] }));
    let (end, out) = (json!({ "maximum": 3 }), json!({ "maximum": 3, "exclusiveMaximum": true }));
    vec![
        row("another type", plain(), number(&none), json!("x")),
        row("no more fractions", json!({ "type": "number" }), number(&none), json!(1.5)),
        row("no more numbers", either, plain(), json!(3)),
        row("anything becomes a text", anything, plain(), json!(3)),
        row("a new required field", both(), required(&plain()), inner()),
        row("a default less", required(&text(&json!({ "default": "x" }))), required(&plain()), inner()),
        row("a choice less", text(&json!({ "enum": ["a", "b"] })), text(&json!({ "enum": ["a"] })), json!("b")),
        row("choices at all", plain(), text(&json!({ "enum": ["a"] })), json!("b")),
        row("shorter", plain(), text(&json!({ "maxLength": 2 })), json!("abc")),
        row("no empty text", plain(), text(&json!({ "minLength": 1 })), json!("")),
        row("a pattern", plain(), text(&json!({ "pattern": "^a" })), json!("b")),
        row("a format", plain(), text(&json!({ "format": "ipv4" })), json!("b")),
        row("small numbers", number(&none), number(&json!({ "format": "int32" })), json!(1_u64 << 40)),
        row("an end", number(&none), number(&end), json!(4)),
        row("an end that is out", number(&end), number(&out), json!(3)),
        row("a later beginning", number(&json!({ "minimum": 1 })), number(&json!({ "minimum": 2 })), json!(1)),
        row("steps", number(&none), number(&json!({ "multipleOf": 5 })), json!(4)),
        row(
            "no null among items",
            list(&json!({ "items": { "type": "string", "nullable": true } })),
            list(&none),
            json!([null]),
        ),
        row("fewer items", list(&none), list(&json!({ "maxItems": 1 })), json!(["a", "b"])),
        row("more fields", map(&none), map(&json!({ "minProperties": 2 })), inner()),
        row("a set", list(&none), list(&json!({ "x-kubernetes-list-type": "set" })), json!(["a", "a"])),
        row("items with keys", keyed(&none), by("a"), twins()),
        row("items with other keys", by("b"), by("a"), twins()),
        row("a new rule", plain(), text(&rule), json!("x")),
        row("a new condition", plain(), text(&json!({ "not": { "pattern": "x" } })), json!("x")),
        row("an alternative less", text(&two), text(&one), json!("b")),
        row("a whole object", open(&none), open(&json!({ "x-kubernetes-embedded-resource": true })), inner()),
    ]
}

fn harmless() -> Vec<Row> {
    let row = |fact, old, new, stored| row(None, fact, old, new, stored);
    let none = json!({});
    let plain = || text(&json!({}));
    let inner = || json!({ "a": "1" });
    let one = || fields(&json!({ "a": text(&json!({})) }));
    let both = || fields(&json!({ "a": text(&json!({})), "b": text(&json!({})) }));
    let either = json!({ "x-kubernetes-int-or-string": true });
    let rule = json!({ "x-kubernetes-validations": [{ "rule": "self != 'x'" }] });
    vec![
        row("another description", plain(), text(&json!({ "description": "new" })), json!("x")),
        row("a new field", one(), both(), inner()),
        row("a required field with a default", both(), required(&text(&json!({ "default": "x" }))), inner()),
        row("wider numbers", number(&none), json!({ "type": "number" }), json!(3)),
        row("numbers too", plain(), either, json!("x")),
        row("a choice more", text(&json!({ "enum": ["a"] })), text(&json!({ "enum": ["a", "b"] })), json!("a")),
        row("longer", text(&json!({ "maxLength": 2 })), text(&json!({ "maxLength": 3 })), json!("ab")),
        row("null too", plain(), text(&json!({ "nullable": true })), json!("x")),
        row("an unknown format", plain(), text(&json!({ "format": "colour" })), json!("x")),
        row("every whole number", number(&none), number(&json!({ "format": "int64" })), json!(1_u64 << 40)),
        row("a pattern less", text(&json!({ "pattern": "^a" })), plain(), json!("a")),
        row("a rule less", text(&rule), plain(), json!("y")),
        row("fields become a map", one(), map(&none), inner()),
        row("fields become anything", one(), open(&none), inner()),
        row("one value", list(&none), list(&json!({ "x-kubernetes-list-type": "atomic" })), json!(["a", "a"])),
    ]
}

/// The first risk for this field.
fn about<'a>(risks: &'a [CrdRisk], field: &str) -> Option<&'a CrdRisk> {
    let place = format!("v1: spec.{field}");
    let rest =
        |risk: &&CrdRisk| risk.message.strip_prefix(&place).is_some_and(|rest| rest.starts_with([' ', '.', '[']));
    risks.iter().find(rest)
}

#[test]
fn stored_objects_change_as_predicted() -> Result<()> {
    let rows: Vec<Row> = losses().into_iter().chain(refusals()).chain(harmless()).collect();
    let schema = |field: fn(&Row) -> &Value, more: &Value| {
        let all: Map<_, _> = rows.iter().enumerate().map(|(at, row)| (format!("f{at}"), field(row).clone())).collect();
        fields(&with(all.into(), more))
    };
    // Its default appears once the new schema is in use.
    let mark = json!({ "mark": { "type": "string", "default": "new" } });
    let old = crd("facts", &[version("v1", true, &schema(|row| &row.old, &json!({})))]);
    let new = crd("facts", &[version("v1", true, &schema(|row| &row.new, &mark))]);
    let live = establish(&old)?;
    let path = objects("facts", "v1");
    let create = |name: &str, at: usize, row: &Row| {
        let new = object("facts", "v1", &format!("{name}{at}"), &json!({ format!("f{at}"): row.stored }));
        CLUSTER.client().create(&path, &new).context(row.fact)
    };
    for (at, row) in rows.iter().enumerate() {
        create("stored", at, row)?;
    }
    let risks = crd_risks(&live, &new);
    change(&live, &new)?;
    until("the new schema is in use", LIMIT, || {
        let found = CLUSTER.client().get(&format!("{path}/stored0"))?;
        ensure!(found["spec"]["mark"] == "new", "{found}");
        Ok(())
    })?;
    let mut wrong = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let field = format!("f{at}");
        let found = &CLUSTER.client().get(&format!("{path}/stored{at}"))?["spec"];
        let kept = |found: &Value| {
            let null = |value: &Value| value.to_string().contains("null");
            fitout_model::contains(found, &row.stored) && null(found) == null(&row.stored)
        };
        let kept = found.get(&field).is_some_and(kept);
        let observed = match create("again", at, row) {
            Err(error) if format!("{error:#}").contains(": 422 ") => Some(RiskKind::Refusal),
            Err(error) => return Err(error),
            Ok(_) => (!kept).then_some(RiskKind::Loss),
        };
        let predicted = about(&risks, &field).map(|risk| risk.harm);
        if predicted != row.harm || observed != row.harm {
            wrong.push(format!(
                "{}: expected {:?}, predicted {predicted:?}, observed {observed:?}: {found}",
                row.fact, row.harm
            ));
        }
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

#[test]
fn impossible_changes_are_rejected() -> Result<()> {
    let schema = json!({ "type": "object" });
    let old = crd("stuck", &[version("v1", true, &schema), version("v2", false, &schema)]);
    let live = establish(&old)?;
    let mut cases = vec![("v1", crd("stuck", &[version("v2", true, &schema)]))];
    for (path, value) in [
        ("/spec/scope", "Cluster"),
        ("/spec/names/kind", "Other"),
        ("/spec/names/plural", "others"),
        ("/spec/group", "example.com"),
    ] {
        let mut new = old.clone();
        *new.pointer_mut(path).unwrap() = value.into();
        cases.push((path, new));
    }
    for (case, new) in cases {
        let risks = crd_risks(&live, &new);
        ensure!(risks.iter().any(|risk| risk.harm == RiskKind::Impossible), "{case}: {risks:?}");
        let refused = change(&live, &new).err().with_context(|| format!("{case} was accepted"))?;
        ensure!(refused.to_string().contains(": 422 "), "{case}: {refused}");
    }
    Ok(())
}

#[test]
fn removed_versions_are_not_found_and_new_storage_versions_drop_fields() -> Result<()> {
    let wide = fields(&json!({ "a": { "type": "string" } }));
    let narrow = json!({ "type": "object" });
    let mut old = crd("moved", &[version("v1", true, &wide), version("v2", false, &narrow)]);
    let client = json!({ "url": "https://127.0.0.1:1/" });
    old["spec"]["conversion"] =
        json!({ "strategy": "Webhook", "webhook": { "conversionReviewVersions": ["v1"], "clientConfig": client } });
    let live = establish(&old)?;
    let path = |version: &str| format!("{}/o", objects("moved", version));
    CLUSTER.client().create(&objects("moved", "v1"), &object("moved", "v1", "o", &json!({ "a": "1" })))?;
    ensure!(CLUSTER.client().get(&path("v2")).is_err(), "v2 is read without a conversion webhook");

    // The webhook is removed, and the new storage version lacks a field.
    let mut new = crd("moved", &[version("v1", false, &wide), version("v2", true, &narrow)]);
    new["spec"]["versions"][0]["served"] = false.into();
    let harms: Vec<RiskKind> = crd_risks(&live, &new).iter().map(|risk| risk.harm).collect();
    ensure!(harms == [RiskKind::Absence, RiskKind::Loss, RiskKind::Loss], "{harms:?}");
    change(&live, &new)?;
    until("v2 is read without a webhook", LIMIT, || {
        let found = CLUSTER.client().get(&path("v2"))?;
        ensure!(found["spec"] == json!({}), "{found}");
        Ok(())
    })?;
    until("v1 is not served", LIMIT, || {
        ensure!(CLUSTER.client().find(&path("v1"))?.is_none(), "v1 is served");
        Ok(())
    })
}

#[test]
fn a_crd_has_no_risk_against_its_defaulted_self() -> Result<()> {
    let mut seen = 0;
    for (name, folder) in Programs::get()?.charts()? {
        let Ok(files) = std::fs::read_dir(folder.join("crds")) else { continue };
        for file in files {
            let path = file?.path();
            if path.extension().is_none_or(|extension| extension != "yaml") {
                continue;
            }
            for document in fitout_go_yaml::documents(&std::fs::read_to_string(&path)?)? {
                let crd = document.value;
                if crd["kind"] != "CustomResourceDefinition" {
                    continue;
                }
                let live = CLUSTER.client().create(&format!("{CRDS}?dryRun=All"), &crd)?;
                let found = crd_risks(&live, &crd);
                ensure!(found.is_empty(), "{name} {}: {found:?}", path.display());
                seen += 1;
            }
        }
    }
    ensure!(seen > 20, "only {seen} CRDs were compared");
    Ok(())
}
