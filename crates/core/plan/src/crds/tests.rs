//! Pairs of small CRDs, one row a fact.

#![allow(clippy::unwrap_used, reason = "a test")]

use serde_json::{Value, json};

use super::{RiskKind, crd_risks};

const TAIL: &str = ": an object that does not fit is rejected when it is changed or recreated";

fn version(name: &str, storage: bool, schema: &Value) -> Value {
    json!({ "name": name, "served": true, "storage": storage, "schema": { "openAPIV3Schema": schema } })
}

fn crd(versions: &[Value], stored: &[&str]) -> Value {
    json!({
        "metadata": { "name": "widgets.example.org" },
        "spec": {
            "group": "example.org", "scope": "Namespaced", "names": { "kind": "Widget", "plural": "widgets" },
            "versions": versions,
        },
        "status": { "storedVersions": stored },
    })
}

/// A CRD with one version, in which this is the schema of `spec`.
fn with_spec(spec: &Value) -> Value {
    let schema = json!({ "type": "object", "properties": { "spec": spec } });
    crd(&[version("v1", true, &schema)], &["v1"])
}

fn risks(old: &Value, new: &Value) -> Vec<String> {
    crd_risks(old, new).iter().map(|risk| format!("{:?}: {risk}", risk.harm)).collect()
}

fn object(properties: &Value) -> Value {
    json!({ "type": "object", "properties": properties })
}

fn with(mut schema: Value, more: &Value) -> Value {
    for (name, value) in more.as_object().unwrap() {
        schema[name] = value.clone();
    }
    schema
}

#[test]
fn data_loss_is_listed_with_its_field() {
    let map = json!({ "type": "object", "additionalProperties": { "type": "string" } });
    let list = |kind: &str| {
        with(
            json!({ "type": "array", "items": object(&json!({ "name": { "type": "string" } })) }),
            &json!({ "x-kubernetes-list-type": kind, "x-kubernetes-list-map-keys": ["name"] }),
        )
    };
    let any = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    let rows = [
        (
            object(&json!({ "a": { "type": "string" } })),
            object(&json!({})),
            "v1: spec.a is removed: stored values are dropped",
        ),
        (
            object(&json!({ "l": { "type": "array", "items": object(&json!({ "a": { "type": "string" } })) } })),
            object(&json!({ "l": { "type": "array", "items": object(&json!({})) } })),
            "v1: spec.l[].a is removed: stored values are dropped",
        ),
        (
            any.clone(),
            object(&json!({})),
            "v1: spec no longer preserves fields of any name: those without a schema are dropped",
        ),
        (
            map.clone(),
            object(&json!({})),
            "v1: spec no longer preserves fields of any name: those without a schema are dropped",
        ),
        (
            object(
                &json!({ "m": { "type": "object", "additionalProperties": object(&json!({ "a": { "type": "string" } })) } }),
            ),
            object(&json!({ "m": { "type": "object", "additionalProperties": object(&json!({})) } })),
            "v1: spec.m.*.a is removed: stored values are dropped",
        ),
        (
            object(&json!({ "l": list("map") })),
            object(&json!({ "l": list("atomic") })),
            "v1: spec.l is now atomic: a client that applies it replaces the items of all others",
        ),
        (
            object(&json!({ "a": { "type": "string", "nullable": true } })),
            object(&json!({ "a": { "type": "string" } })),
            "v1: spec.a may no longer be null: a stored null is dropped",
        ),
    ];
    for (old, new, expected) in rows {
        assert_eq!(risks(&with_spec(&old), &with_spec(&new)), [format!("Loss: {expected}")]);
    }
}

#[test]
fn rejected_stored_objects_are_listed_with_the_field() {
    let text = json!({ "type": "string" });
    let number = json!({ "type": "integer" });
    let list = json!({ "type": "array", "items": { "type": "string" } });
    let map = json!({ "type": "array", "items": object(&json!({ "n": { "type": "string" } })), "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["n"] });
    let any = json!({ "x-kubernetes-preserve-unknown-fields": true });
    let rows = [
        (text.clone(), number.clone(), "was a string and is an integer"),
        (json!({ "type": "number" }), number.clone(), "was a number and is an integer"),
        (json!({ "x-kubernetes-int-or-string": true }), text.clone(), "was an integer or a string and is a string"),
        (any.clone(), text.clone(), "was of any type and is a string"),
        (
            with(text.clone(), &json!({ "enum": ["a", "b", "c"] })),
            with(text.clone(), &json!({ "enum": ["a"] })),
            "may no longer be b, c",
        ),
        (text.clone(), with(text.clone(), &json!({ "enum": ["a", "b"] })), "may now only be a, b"),
        (text.clone(), with(text.clone(), &json!({ "maxLength": 9 })), "now may be no longer than 9"),
        (
            with(text.clone(), &json!({ "maxLength": 9 })),
            with(text.clone(), &json!({ "maxLength": 8 })),
            "now may be no longer than 8",
        ),
        (text.clone(), with(text.clone(), &json!({ "minLength": 1 })), "now may be no shorter than 1"),
        (text.clone(), with(text.clone(), &json!({ "pattern": "^a" })), "now has to match ^a"),
        (text.clone(), with(text.clone(), &json!({ "format": "ipv4" })), "now has to have the format ipv4"),
        (number.clone(), with(number.clone(), &json!({ "maximum": 3 })), "now may be at most 3"),
        (
            with(number.clone(), &json!({ "maximum": 3 })),
            with(number.clone(), &json!({ "maximum": 3, "exclusiveMaximum": true })),
            "now may be at most 3, exclusive",
        ),
        (
            with(number.clone(), &json!({ "minimum": 1 })),
            with(number.clone(), &json!({ "minimum": 2 })),
            "now has to be at least 2",
        ),
        (number.clone(), with(number.clone(), &json!({ "multipleOf": 5 })), "now has to be a multiple of 5"),
        (list.clone(), with(list.clone(), &json!({ "maxItems": 3 })), "now may have no more items than 3"),
        (
            list.clone(),
            with(list.clone(), &json!({ "x-kubernetes-list-type": "set" })),
            "may no longer have the same item twice",
        ),
        (
            with(map.clone(), &json!({ "x-kubernetes-list-type": "atomic" })),
            map.clone(),
            "may no longer have two items with the same n",
        ),
        (
            map.clone(),
            with(map.clone(), &json!({ "x-kubernetes-list-map-keys": ["m"] })),
            "now identifies its items by m instead of n",
        ),
        (
            text.clone(),
            with(text.clone(), &json!({ "x-kubernetes-validations": [{ "rule": "self != 'x'" }] })),
            "has a new rule, self != 'x'",
        ),
        (text.clone(), with(text.clone(), &json!({ "allOf": [{ "minLength": 1 }] })), "has new conditions (allOf)"),
        (
            with(text.clone(), &json!({ "anyOf": [{ "maxLength": 1 }, { "minLength": 5 }] })),
            with(text.clone(), &json!({ "anyOf": [{ "maxLength": 1 }] })),
            "has other alternatives (anyOf)",
        ),
        (text.clone(), with(text.clone(), &json!({ "not": { "pattern": "x" } })), "has other conditions (not)"),
    ];
    for (old, new, expected) in rows {
        let inside = |schema: Value| with_spec(&object(&json!({ "f": schema })));
        assert_eq!(risks(&inside(old), &inside(new)), [format!("Refusal: v1: spec.f {expected}{TAIL}")]);
    }
}

#[test]
fn newly_required_fields_need_a_default() {
    let required =
        |names: &[&str], field: Value| with_spec(&with(object(&json!({ "a": field })), &json!({ "required": names })));
    let (text, given) = (json!({ "type": "string" }), json!({ "type": "string", "default": "x" }));
    let expected = [format!("Refusal: v1: spec.a is now required and has no default{TAIL}")];
    assert_eq!(risks(&required(&[], text.clone()), &required(&["a"], text.clone())), expected);
    assert_eq!(risks(&required(&["a"], given.clone()), &required(&["a"], text.clone())), expected);
    assert_eq!(risks(&with_spec(&object(&json!({}))), &required(&["a"], text.clone())), expected);
    assert_eq!(risks(&required(&[], text.clone()), &required(&["a"], given)), Vec::<String>::new());
    assert_eq!(risks(&required(&["a"], text.clone()), &required(&[], text)), Vec::<String>::new());
}

#[test]
fn safe_changes_are_not_listed() {
    let text = json!({ "type": "string" });
    let number = json!({ "type": "integer" });
    let rows = [
        (
            with(text.clone(), &json!({ "description": "old" })),
            with(text.clone(), &json!({ "description": "new", "default": "x", "title": "t" })),
        ),
        (with(text.clone(), &json!({ "enum": ["a"] })), with(text.clone(), &json!({ "enum": ["b", "a"] }))),
        (with(text.clone(), &json!({ "enum": ["a"] })), text.clone()),
        (
            with(text.clone(), &json!({ "maxLength": 3, "minLength": 2, "pattern": "^a", "format": "ipv4" })),
            with(text.clone(), &json!({ "maxLength": 4, "minLength": 1 })),
        ),
        (text.clone(), with(text.clone(), &json!({ "minLength": 0, "format": "something-of-ours", "nullable": true }))),
        (number.clone(), json!({ "type": "number" })),
        (with(number.clone(), &json!({ "format": "int32" })), with(number.clone(), &json!({ "format": "int64" }))),
        (
            with(number.clone(), &json!({ "minimum": 1, "maximum": 2, "exclusiveMaximum": true })),
            with(number.clone(), &json!({ "minimum": 0, "maximum": 2 })),
        ),
        (number.clone(), json!({ "x-kubernetes-int-or-string": true })),
        (text.clone(), json!({ "x-kubernetes-preserve-unknown-fields": true })),
        (object(&json!({})), object(&json!({ "new": with(text.clone(), &json!({ "maxLength": 1 })) }))),
        (
            object(&json!({})),
            object(&json!({ "new": with(object(&json!({ "a": text })), &json!({ "required": ["a"] })) })),
        ),
        (object(&json!({ "a": text })), json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true })),
        (object(&json!({ "a": text })), json!({ "type": "object", "additionalProperties": { "type": "string" } })),
        (
            with(
                text.clone(),
                &json!({ "x-kubernetes-validations": [{ "rule": "true", "message": "a" }, { "rule": "self != ''" }] }),
            ),
            with(text.clone(), &json!({ "x-kubernetes-validations": [{ "rule": "true", "message": "b" }] })),
        ),
        (
            with(text.clone(), &json!({ "anyOf": [{ "maxLength": 1 }] })),
            with(text.clone(), &json!({ "anyOf": [{ "maxLength": 1 }, { "minLength": 5 }] })),
        ),
        (with(text.clone(), &json!({ "allOf": [{ "maxLength": 1 }] })), text.clone()),
        (
            json!({ "type": "array", "items": text }),
            json!({ "type": "array", "items": text, "x-kubernetes-list-type": "atomic" }),
        ),
    ];
    for (old, new) in rows {
        let inside = |schema: &Value| with_spec(&object(&json!({ "f": schema })));
        assert_eq!(risks(&inside(&old), &inside(&new)), Vec::<String>::new(), "{new}");
    }
}

#[test]
fn changes_of_immutable_fields_are_listed() {
    let schema = object(&json!({}));
    let old = crd(&[version("v1", true, &schema)], &["v1"]);
    let changed = |path: &str, value: &str| {
        let mut new = old.clone();
        *new.pointer_mut(path).unwrap() = value.into();
        risks(&old, &new)
    };
    for (path, value, change) in [
        ("/spec/scope", "Cluster", "spec.scope changes from Namespaced to Cluster"),
        ("/spec/group", "example.com", "spec.group changes from example.org to example.com"),
        ("/spec/names/kind", "Thing", "spec.names.kind changes from Widget to Thing"),
        ("/spec/names/plural", "things", "spec.names.plural changes from widgets to things"),
    ] {
        let rest = "it is immutable, and recreating the CRD deletes all its objects";
        assert_eq!(changed(path, value), [format!("Impossible: {change}: {rest}")]);
    }
}

#[test]
fn removed_versions_are_listed_and_new_ones_are_not() {
    let schema = object(&json!({ "a": { "type": "string" } }));
    let (alpha, beta, one) =
        (version("v1alpha1", false, &schema), version("v1beta1", false, &schema), version("v1", true, &schema));
    let old = crd(&[alpha.clone(), beta.clone(), one.clone()], &["v1beta1", "v1"]);
    assert_eq!(
        risks(&old, &crd(std::slice::from_ref(&one), &[])),
        [
            "Absence: version v1alpha1 is removed: requests for it fail",
            "Impossible: version v1beta1 is removed, and objects are stored in it: rewrite each of them so that it is \
             stored as v1, and remove v1beta1 from status.storedVersions",
        ]
    );
    let unserved = with(beta.clone(), &json!({ "served": false }));
    assert_eq!(
        risks(&old, &crd(&[alpha.clone(), unserved.clone(), one.clone()], &[])),
        ["Absence: version v1beta1 is no longer served: requests for it fail"]
    );
    // A version that was neither served nor stored.
    let hidden = crd(&[with(alpha.clone(), &json!({ "served": false })), one.clone()], &["v1"]);
    assert_eq!(risks(&hidden, &crd(std::slice::from_ref(&one), &[])), Vec::<String>::new());
    let two = version("v2", false, &object(&json!({})));
    assert_eq!(risks(&old, &crd(&[alpha, beta, one.clone(), two], &[])), Vec::<String>::new());
    let status = with(one.clone(), &json!({ "subresources": { "status": {} } }));
    assert_eq!(
        risks(&crd(&[status], &["v1"]), &crd(&[one], &[])),
        ["Absence: version v1 no longer has the status subresource: requests for it fail"]
    );
}

#[test]
fn a_new_storage_version_has_to_fit_unless_a_webhook_converts() {
    let (wide, narrow) = (object(&json!({ "a": { "type": "string" } })), object(&json!({})));
    let old = crd(&[version("v1", true, &wide)], &["v1"]);
    let new = crd(&[version("v1", false, &wide), version("v2", true, &narrow)], &[]);
    assert_eq!(risks(&old, &new), ["Loss: v2 instead of v1: a is removed: stored values are dropped"]);
    let mut converted = new.clone();
    converted["spec"]["conversion"]["strategy"] = "Webhook".into();
    assert_eq!(risks(&old, &converted), Vec::<String>::new());
    let mut two = converted.clone();
    two["status"]["storedVersions"] = json!(["v1", "v2"]);
    assert_eq!(
        risks(&two, &new),
        ["Loss: the conversion webhook is removed, and objects are stored as v1, v2: they are read in other versions \
             without conversion, and fields that those do not have are dropped"]
    );
    // With a single version nothing is converted.
    let mut single = old.clone();
    single["spec"]["conversion"]["strategy"] = "Webhook".into();
    assert_eq!(risks(&single, &old), Vec::<String>::new());
}

#[test]
fn preserve_unknown_fields_that_ends_is_a_loss() {
    let new = with_spec(&object(&json!({})));
    let mut old = new.clone();
    old["spec"]["preserveUnknownFields"] = true.into();
    let found = crd_risks(&old, &new);
    assert_eq!(found.iter().map(|risk| risk.harm).collect::<Vec<_>>(), [RiskKind::Loss]);
    assert_eq!(crd_risks(&old, &old), []);
}
