//! The images that what was rendered can pull.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use crate::template::Rendered;

/// An image, and the objects that name it.
pub type Images = BTreeMap<String, Vec<String>>;

/// Every image that is named by an object, a hook or a CRD's example: in the fields where kinds have one, and in arguments
/// and variables that say so by their names, because controllers pull what they are told there.
pub fn images(rendered: &Rendered) -> Images {
    let mut found = Images::new();
    let hooks = rendered.hooks.iter().map(|hook| &hook.manifest);
    for manifest in rendered.objects.iter().chain(hooks) {
        let Ok(object) = fitout_go_yaml::from_yaml(&manifest.text) else { continue };
        if manifest.head.kind == "CustomResourceDefinition" {
            continue;
        }
        let by = format!("{}/{}", manifest.head.kind, manifest.head.name);
        let mut see = |image: &str| {
            let users = found.entry(image.to_owned()).or_default();
            if users.last() != Some(&by) {
                users.push(by.clone());
            }
        };
        search(&object, &mut see);
    }
    found
}

/// Every image that an object names: see [`images`].
pub fn object_images(object: &Json) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    if object["kind"] != "CustomResourceDefinition" {
        search(object, &mut |image| {
            found.insert(image.to_owned());
        });
    }
    found
}

fn search(value: &Json, see: &mut dyn FnMut(&str)) {
    match value {
        Json::Array(items) => items.iter().for_each(|item| search(item, see)),
        Json::Object(object) => {
            for (key, inner) in object {
                match (key.as_str(), inner) {
                    ("image", Json::String(image)) if !image.is_empty() => see(image),
                    ("image", Json::Object(volume)) => volume_image(volume, see),
                    ("args" | "command", Json::Array(words)) => arguments(words, see),
                    ("env", Json::Array(variables)) => variables.iter().for_each(|one| variable(one, see)),
                    _ => search(inner, see),
                }
            }
        }
        _ => {}
    }
}

/// A volume that is an image, or the parts of one as custom resources often have them.
fn volume_image(object: &serde_json::Map<String, Json>, see: &mut dyn FnMut(&str)) {
    let text = |key: &str| object.get(key).and_then(Json::as_str).filter(|text| !text.is_empty());
    if let Some(reference) = text("reference") {
        return see(reference);
    }
    let Some(repository) = text("repository").or_else(|| text("name")) else { return };
    let registry = text("registry").map(|registry| format!("{registry}/")).unwrap_or_default();
    match (text("digest"), text("tag")) {
        (Some(digest), _) => see(&format!("{registry}{repository}@{digest}")),
        (None, Some(tag)) => see(&format!("{registry}{repository}:{tag}")),
        (None, None) => see(&format!("{registry}{repository}")),
    }
}

/// `--solver-image=quay.io/x:v1`, or the two as words of their own.
fn arguments(words: &[Json], see: &mut dyn FnMut(&str)) {
    let words: Vec<&str> = words.iter().filter_map(Json::as_str).collect();
    for (place, word) in words.iter().enumerate() {
        let Some(name) = word.strip_prefix('-') else { continue };
        let (name, value) = match name.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (name, words.get(place + 1).copied()),
        };
        if let Some(value) = value.filter(|value| says_image(name) && is_reference(value)) {
            see(value);
        }
    }
}

fn variable(variable: &Json, see: &mut dyn FnMut(&str)) {
    if let (Some(name), Some(value)) = (variable["name"].as_str(), variable["value"].as_str())
        && says_image(name)
        && is_reference(value)
    {
        see(value);
    }
}

fn says_image(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.contains("image") || name.ends_with("config-reloader")
}

/// Whether a text is a reference with a repository and a tag or digest: other words stand beside such names as well.
fn is_reference(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '/' | ':' | '@');
    let last = text.rsplit('/').next().unwrap_or_default();
    text.chars().all(plain) && text.starts_with(|c: char| c.is_ascii_alphanumeric()) && last.contains([':', '@'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn images_are_found_wherever_something_is_pulled() {
        let object = json!({
            "spec": { "template": { "spec": {
                "initContainers": [{ "image": "a:1" }],
                "containers": [{
                    "image": "b:1",
                    "args": ["--solver-image=quay.io/c:v1", "--image", "d@sha256:00", "--image-pull-policy=Always"],
                    "env": [{ "name": "RELATED_IMAGE_X", "value": "e:1" }, { "name": "IMAGE_NAME", "value": "plain" }],
                }],
                "volumes": [{ "image": { "reference": "f:1" } }],
            } } },
            "other": { "image": { "registry": "r.io", "repository": "g", "tag": "2" } },
        });
        let mut found = Vec::new();
        search(&object, &mut |image| found.push(image.to_owned()));
        found.sort();
        assert_eq!(found, ["a:1", "b:1", "d@sha256:00", "e:1", "f:1", "quay.io/c:v1", "r.io/g:2"]);
    }
}
