//! Kubeconfig files with their certificates inside, so that a file can be moved.

use serde_json::{Value, json};

use crate::certificates::Identity;

/// A kubeconfig for a user, as JSON, which is YAML.
pub(crate) fn kubeconfig(server: &str, authority: &str, user: &Identity) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "testbed",
        "contexts": [{ "name": "testbed", "context": { "cluster": "testbed", "user": "testbed" } }],
        "clusters": [{
            "name": "testbed",
            "cluster": { "server": server, "certificate-authority-data": base64(authority.as_bytes()) },
        }],
        "users": [{
            "name": "testbed",
            "user": {
                "client-certificate-data": base64(user.certificate.as_bytes()),
                "client-key-data": base64(user.key.as_bytes()),
            },
        }],
    })
}

/// The bytes in base64, with padding.
pub(crate) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let bits = three.iter().fold(0u32, |bits, &byte| bits << 8 | u32::from(byte)) << (8 * (3 - three.len()));
        for digit in 0..4 {
            let index = (bits >> (18 - 6 * digit)) & 63;
            text.push(if digit <= three.len() { DIGITS[index as usize] as char } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::base64;

    #[test]
    fn base64_pads_to_four_digits() {
        let texts = ["", "f", "fo", "foo", "foob", "fooba", "foobar"];
        let encoded = texts.map(|text| base64(text.as_bytes()));
        assert_eq!(encoded, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"]);
    }
}
