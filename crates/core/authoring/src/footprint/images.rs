//! Images: the registry of each, and whether a digest pins it.

use std::collections::BTreeSet;

use fitout_helm_chart::object_images;
use serde_json::Value;

/// The registry of images that name none.
const DEFAULT_REGISTRY: &str = "docker.io";

/// The images of an object, as it names them. `auto` is a placeholder, which the sidecar injector of Istio replaces.
pub(super) fn of(object: &Value) -> BTreeSet<String> {
    let mut images = object_images(object);
    images.retain(|image| image != "auto");
    images
}

/// Whether an image is named with its digest.
pub(crate) fn is_pinned(image: &str) -> bool {
    image.contains("@sha256:")
}

/// The registry of an image with the path of its repository: all but the last part of its name.
pub(crate) fn registry(image: &str) -> String {
    let name = full_name(image);
    name.rsplit_once('/').map_or(name.clone(), |(registry, _)| registry.to_owned())
}

/// The full name of a pinned image, with its digest and without its tag.
pub(crate) fn without_tag(image: &str) -> String {
    let digest = image.split_once('@').map_or("", |(_, digest)| digest);
    format!("{}@{digest}", full_name(image))
}

/// The name of an image without tag and digest, and with a registry.
fn full_name(image: &str) -> String {
    let name = image.split_once('@').map_or(image, |(name, _)| name);
    // A colon before the last slash belongs to the registry's port.
    let name = match name.rsplit_once(':') {
        Some((before, tag)) if !tag.contains('/') => before,
        _ => name,
    };
    match name.split_once('/') {
        Some((host, _)) if host.contains(['.', ':']) || host == "localhost" => name.to_owned(),
        Some(_) => format!("{DEFAULT_REGISTRY}/{name}"),
        None => format!("{DEFAULT_REGISTRY}/library/{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registries_have_the_path_of_the_repository() {
        let rows = [
            ("quay.io/jetstack/cert-manager-controller:v1.21.2", "quay.io/jetstack"),
            ("curlimages/curl", "docker.io/curlimages"),
            ("nginx:1", "docker.io/library"),
            ("registry.k8s.io/pause@sha256:00", "registry.k8s.io"),
            ("localhost:5000/a/b:1@sha256:00", "localhost:5000/a"),
        ];
        for (image, expected) in rows {
            assert_eq!(registry(image), expected, "{image}");
        }
    }

    #[test]
    fn pinned_images_are_compared_without_their_tag() {
        assert_eq!(without_tag("a/b:v1@sha256:00"), "docker.io/a/b@sha256:00");
        assert_eq!(without_tag("docker.io/a/b@sha256:00"), "docker.io/a/b@sha256:00");
    }
}
