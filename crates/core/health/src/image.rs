//! Why an image cannot be pulled: the message of the kubelet and the container runtime, without their chain of wrappers.

use crate::view::View;

/// Whether a waiting reason of the kubelet says that pulling the image failed.
pub(crate) fn is_pull_reason(reason: &str) -> bool {
    matches!(reason, "ErrImagePull" | "ImagePullBackOff" | "RegistryUnavailable" | "SignatureValidationFailed")
}

/// Whether a waiting reason of the kubelet is about the container's image.
pub(crate) fn is_image_reason(reason: &str) -> bool {
    is_pull_reason(reason) || matches!(reason, "ErrImageNeverPull" | "InvalidImageName" | "ImageInspectError")
}

/// The sentence for a container that waits with one of these reasons: names the image, the registry and the cause once.
pub(crate) fn sentence(role: &str, container: View<'_>, reason: &str, message: &str) -> String {
    let image = container.text("/image");
    let subject = format!("image {image} of {role} {}", container.text("/name"));
    let registry = registry(image);
    let found = cause(message, registry);
    let (problem, fallback) = match reason {
        "ErrImageNeverPull" => return format!("{subject} is not on the node, and its pull policy is Never"),
        "InvalidImageName" => (format!("{subject} is not a valid image reference"), None),
        "ImageInspectError" => (format!("{subject} cannot be inspected on the node"), None),
        "RegistryUnavailable" => {
            (format!("{subject} cannot be pulled from {registry}"), Some("the registry is unavailable"))
        }
        "SignatureValidationFailed" => {
            (format!("{subject} cannot be pulled from {registry}"), Some("its signature is not valid"))
        }
        _ => (format!("{subject} cannot be pulled from {registry}"), None),
    };
    match found.or_else(|| fallback.map(str::to_owned)) {
        Some(cause) => format!("{problem}: {cause}"),
        None => problem,
    }
}

/// The registry of an image reference, by the rule of the container runtimes: without a host it is `docker.io`.
fn registry(image: &str) -> &str {
    match image.split_once('/') {
        Some((host, _)) if host.contains(['.', ':']) || host == "localhost" => host,
        _ => "docker.io",
    }
}

/// Phrases of containerd, CRI-O and Go's network library, and their causes. The first phrase that the message has counts,
/// so phrases that say more come first. The messages have no code but gRPC's, which is `Unknown` for most of these.
const CAUSES: [(&str, &str); 21] = [
    ("toomanyrequests", "rate limit exceeded"),
    ("429 too many requests", "rate limit exceeded"),
    ("no match for platform", "no image for the node's platform"),
    ("server gave http response to https client", "the registry answers with HTTP instead of HTTPS"),
    ("tls handshake timeout", "timed out"),
    ("i/o timeout", "timed out"),
    ("context deadline exceeded", "timed out"),
    ("client.timeout exceeded", "timed out"),
    ("pull access denied", "access denied, or the repository does not exist"),
    ("insufficient_scope", "access denied, or the repository does not exist"),
    ("requested access to the resource is denied", "access denied, or the repository does not exist"),
    ("403 forbidden", "access denied (403 Forbidden)"),
    ("401 unauthorized", "unauthorized (401 Unauthorized)"),
    ("unauthorized:", "unauthorized"),
    ("authentication required", "unauthorized"),
    ("no basic auth credentials", "unauthorized"),
    ("manifest unknown", "not found"),
    ("manifest_unknown", "not found"),
    ("name unknown", "not found"),
    ("name_unknown", "not found"),
    ("404 not found", "not found"),
];

/// The cause in a message; none where the message has none, such as `Back-off pulling image "x"`.
fn cause(message: &str, registry: &str) -> Option<String> {
    let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let message = unwrapped(&message);
    if message.is_empty() {
        return None;
    }
    let lower = message.to_ascii_lowercase();
    if lower.contains("no such host") {
        return Some(with_address("no such host", word_after(message, "lookup "), registry));
    }
    if lower.contains("connection refused") {
        return Some(with_address("connection refused", word_after(message, "dial tcp "), registry));
    }
    if let Some((_, certificate)) = message.split_once("x509: ") {
        return Some(format!("x509: {certificate}"));
    }
    if let Some((_, cause)) = CAUSES.iter().find(|(phrase, _)| lower.contains(phrase)) {
        return Some((*cause).to_owned());
    }
    let last = message.rsplit(": ").map(str::trim).find(|segment| !segment.is_empty())?;
    Some(last.rsplit(" desc = ").next().unwrap_or(last).to_owned())
}

/// The message without what the kubelet puts before that of the container runtime.
fn unwrapped(message: &str) -> &str {
    let mut rest = message;
    for wrapper in ["Back-off pulling image \"", "Failed to pull image \""] {
        if let Some(after) = rest.strip_prefix(wrapper) {
            rest = after.split_once('"').map_or("", |(_, after)| after).trim_start_matches(':').trim_start();
        }
    }
    for wrapper in ["ErrImagePull: ", "RegistryUnavailable: ", "SignatureValidationFailed: "] {
        rest = rest.strip_prefix(wrapper).unwrap_or(rest);
    }
    // The kubelet lists the errors where it tried more than one pull secret.
    rest.strip_prefix('[').and_then(|list| list.strip_suffix(']')).unwrap_or(rest)
}

/// The word after a marker, without the colon that ends it.
fn word_after<'a>(message: &'a str, marker: &str) -> Option<&'a str> {
    let (_, rest) = message.split_once(marker)?;
    rest.split(' ').next().map(|word| word.trim_end_matches(':')).filter(|word| !word.is_empty())
}

/// The cause with the address that was asked, where that is not the registry: a mirror, a proxy, an IP address.
fn with_address(cause: &str, address: Option<&str>, registry: &str) -> String {
    let host = registry.rsplit_once(':').map_or(registry, |(host, _)| host);
    match address {
        Some(address) if address != registry && address != host => format!("{cause} ({address})"),
        _ => cause.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The sentence for container `web`, without its beginning.
    fn sentence_of(image: &str, reason: &str, message: &str) -> String {
        let container = json!({ "name": "web", "image": image });
        let sentence = sentence("container", View::new(&container), reason, message);
        sentence.strip_prefix(&format!("image {image} of container web ")).unwrap_or(&sentence).to_owned()
    }

    const QUAY: &str = "quay.io/a/b:1.2";

    /// A chain of containerd: the message of the kubelet's event, with this last part.
    fn containerd(code: &str, last: &str) -> String {
        format!(
            "Failed to pull image \"{QUAY}\": rpc error: code = {code} desc = failed to pull and unpack image \"{QUAY}\": \
             failed to resolve reference \"{QUAY}\": {last}"
        )
    }

    #[test]
    fn pull_failures_name_registry_image_and_cause_once() {
        let head = "failed to do request: Head \"https://quay.io/v2/a/b/manifests/1.2\": ";
        let rows = [
            (containerd("NotFound", "quay.io/a/b:1.2: not found"), "not found"),
            (
                containerd(
                    "Unknown",
                    "unexpected status from HEAD request to https://quay.io/v2/a/b/manifests/1.2: 401 Unauthorized",
                ),
                "unauthorized (401 Unauthorized)",
            ),
            (
                containerd(
                    "Unknown",
                    "failed to authorize: failed to fetch oauth token: unexpected status from GET request to \
                     https://quay.io/v2/auth: 403 Forbidden",
                ),
                "access denied (403 Forbidden)",
            ),
            (
                containerd(
                    "Unknown",
                    "pull access denied, repository does not exist or may require authorization: server message: \
                     insufficient_scope: authorization failed",
                ),
                "access denied, or the repository does not exist",
            ),
            (
                containerd("Unknown", &format!("{head}dial tcp: lookup quay.io on 10.0.0.2:53: no such host")),
                "no such host",
            ),
            (
                containerd("Unknown", &format!("{head}dial tcp: lookup mirror.example: no such host")),
                "no such host (mirror.example)",
            ),
            (
                containerd("Unknown", &format!("{head}dial tcp 198.18.0.9:443: connect: connection refused")),
                "connection refused (198.18.0.9:443)",
            ),
            (
                containerd(
                    "Unknown",
                    &format!("{head}tls: failed to verify certificate: x509: certificate signed by unknown authority"),
                ),
                "x509: certificate signed by unknown authority",
            ),
            (containerd("Unknown", &format!("{head}dial tcp 198.18.0.9:443: i/o timeout")), "timed out"),
            (
                containerd("Unknown", &format!("{head}http: server gave HTTP response to HTTPS client")),
                "the registry answers with HTTP instead of HTTPS",
            ),
            (
                containerd(
                    "Unknown",
                    "unexpected status from HEAD request to https://quay.io/v2/a/b/manifests/1.2: 429 Too Many Requests \
                     - Server message: toomanyrequests: You have reached your pull rate limit.",
                ),
                "rate limit exceeded",
            ),
            (
                "rpc error: code = NotFound desc = failed to pull and unpack image \"quay.io/a/b:1.2\": no match for \
                 platform in manifest: not found"
                    .to_owned(),
                "no image for the node's platform",
            ),
            // CRI-O.
            (
                "initializing source docker://quay.io/a/b:1.2: reading manifest 1.2 in quay.io/a/b: manifest unknown"
                    .to_owned(),
                "not found",
            ),
            (
                "initializing source docker://quay.io/a/b:1.2: reading manifest 1.2 in quay.io/a/b: unauthorized: access \
                 to the requested resource is not authorized"
                    .to_owned(),
                "unauthorized",
            ),
            // A chain that is not known: its last segment.
            (
                "rpc error: code = Unknown desc = failed to pull and unpack image \"quay.io/a/b:1.2\": failed to extract \
                 layer sha256:0a: write /var/lib/x: no space left on device"
                    .to_owned(),
                "no space left on device",
            ),
            (
                containerd(
                    "Unknown",
                    "unexpected status from HEAD request to https://quay.io/v2/a/b/manifests/1.2: 503 Service Unavailable",
                ),
                "503 Service Unavailable",
            ),
        ];
        for (message, expected) in rows {
            let expected = format!("cannot be pulled from quay.io: {expected}");
            assert_eq!(sentence_of(QUAY, "ErrImagePull", &message), expected, "{message}");
            let (_, chain) = message.split_once(&format!("\"{QUAY}\": rpc")).unwrap_or(("", ""));
            let chain = if chain.is_empty() { message.clone() } else { format!("rpc{chain}") };
            let back_off = format!("Back-off pulling image \"{QUAY}\": ErrImagePull: {chain}");
            assert_eq!(sentence_of(QUAY, "ImagePullBackOff", &back_off), expected, "{back_off}");
        }
    }

    #[test]
    fn a_message_without_a_cause_adds_none() {
        let rows = [
            ("ImagePullBackOff", "Back-off pulling image \"quay.io/a/b:1.2\"", "cannot be pulled from quay.io"),
            ("ErrImagePull", "", "cannot be pulled from quay.io"),
            ("RegistryUnavailable", "", "cannot be pulled from quay.io: the registry is unavailable"),
            ("SignatureValidationFailed", "", "cannot be pulled from quay.io: its signature is not valid"),
            (
                "ErrImageNeverPull",
                "Container image \"quay.io/a/b:1.2\" is not present with pull policy of Never",
                "is not on the node, and its pull policy is Never",
            ),
            (
                "InvalidImageName",
                "Failed to apply default image tag \"A B\": couldn't parse image name \"A B\": invalid reference format",
                "is not a valid image reference: invalid reference format",
            ),
            (
                "ImageInspectError",
                "Failed to inspect image \"quay.io/a/b:1.2\": rpc error: code = Unknown desc = disk error",
                "cannot be inspected on the node: disk error",
            ),
        ];
        for (reason, message, expected) in rows {
            assert_eq!(sentence_of(QUAY, reason, message), expected, "{reason}");
        }
    }

    #[test]
    fn an_image_without_a_host_is_of_docker_io() {
        let rows = [
            ("redis", "docker.io"),
            ("library/redis:7", "docker.io"),
            ("quay.io/a/b@sha256:0a", "quay.io"),
            ("localhost/a", "localhost"),
            ("registry:5000/a:1", "registry:5000"),
            ("redis:7", "docker.io"),
        ];
        for (image, expected) in rows {
            assert_eq!(registry(image), expected, "{image}");
        }
        let refused = "dial tcp: lookup registry on 10.0.0.2:53: no such host";
        let expected = "cannot be pulled from registry:5000: no such host";
        assert_eq!(sentence_of("registry:5000/a:1", "ErrImagePull", refused), expected);
    }
}
