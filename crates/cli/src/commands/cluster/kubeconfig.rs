//! Reduces a kubeconfig to what the hub can use: one context, with the content of files in place of their paths.
//!
//! Credentials from programs (`exec`, `auth-provider`) are refused: the hub would have to run them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fitout_model::nearest;
use serde_json::{Value, json};

use crate::failure::Failure;

/// A kubeconfig with the given context, or else the current one, and nothing more. `read` reads a file that it names.
pub(crate) fn reduced(
    kubeconfig: &Value,
    context: Option<&str>,
    read: impl Fn(&str) -> std::io::Result<Vec<u8>>,
) -> Result<Value, Failure> {
    let name = match (context, kubeconfig["current-context"].as_str()) {
        (Some(name), _) => name,
        (None, Some(name)) if !name.is_empty() => name,
        _ => {
            let sentence = "the kubeconfig has no current context";
            return Err(Failure::new(sentence).hint("choose one of its contexts with --context"));
        }
    };
    let context = entry(kubeconfig, "contexts", "context", name)?;
    let cluster_name = context["cluster"].as_str().unwrap_or_default();
    let user_name = context["user"].as_str().unwrap_or_default();
    let mut cluster = entry(kubeconfig, "clusters", "cluster", cluster_name)?;
    let mut user = entry(kubeconfig, "users", "user", user_name)?;
    for (program, what) in [("exec", "a program"), ("auth-provider", "an auth provider")] {
        if !user[program].is_null() {
            let sentence =
                format!("user {user_name} of the kubeconfig gets credentials from {what}, which the hub cannot run");
            return Err(
                Failure::new(sentence).hint("use a kubeconfig with the token of a service account of that cluster")
            );
        }
    }
    inline(&mut cluster, "certificate-authority", "certificate-authority-data", &read)?;
    inline(&mut user, "client-certificate", "client-certificate-data", &read)?;
    inline(&mut user, "client-key", "client-key-data", &read)?;
    inline_token(&mut user, &read)?;
    Ok(json!({
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "contexts": [{ "name": name, "context": { "cluster": cluster_name, "user": user_name } }],
        "clusters": [{ "name": cluster_name, "cluster": cluster }],
        "users": [{ "name": user_name, "user": user }],
    }))
}

/// The content of a named entry in one of the kubeconfig's lists.
fn entry(kubeconfig: &Value, list: &str, what: &str, name: &str) -> Result<Value, Failure> {
    let entries = kubeconfig[list].as_array().map(Vec::as_slice).unwrap_or_default();
    if let Some(found) = entries.iter().find(|entry| entry["name"] == name) {
        return Ok(found[what].clone());
    }
    let failure = Failure::new(format!("{what} {name} not found in the kubeconfig"));
    let names: Vec<_> = entries.iter().filter_map(|entry| entry["name"].as_str()).collect();
    Err(match nearest(name, names.iter().copied()) {
        Some(near) => failure.hint(format!("did you mean {near}?")),
        None if names.is_empty() => failure.hint("check that the file is a kubeconfig"),
        None => failure.hint(format!("it has: {}", names.join(", "))),
    })
}

/// Replaces the path of a file with its content.
fn inline(
    entry: &mut Value,
    file: &str,
    data: &str,
    read: impl Fn(&str) -> std::io::Result<Vec<u8>>,
) -> Result<(), Failure> {
    let Some(entry) = entry.as_object_mut() else { return Ok(()) };
    let Some(Value::String(path)) = entry.remove(file) else { return Ok(()) };
    // Kubernetes prefers the data where both are set.
    if !path.is_empty() && !entry.contains_key(data) {
        let content = read(&path).map_err(|error| unreadable(file, &path, &error))?;
        entry.insert(data.to_owned(), STANDARD.encode(content).into());
    }
    Ok(())
}

fn inline_token(user: &mut Value, read: impl Fn(&str) -> std::io::Result<Vec<u8>>) -> Result<(), Failure> {
    let Some(user) = user.as_object_mut() else { return Ok(()) };
    let Some(Value::String(path)) = user.remove("tokenFile") else { return Ok(()) };
    // Kubernetes prefers the file where both are set.
    if !path.is_empty() {
        let content = read(&path).map_err(|error| unreadable("tokenFile", &path, &error))?;
        user.insert("token".to_owned(), String::from_utf8_lossy(&content).trim().into());
    }
    Ok(())
}

fn unreadable(field: &str, path: &str, error: &std::io::Error) -> Failure {
    Failure::new(format!("cannot read {path}, which the kubeconfig names as {field}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Error, ErrorKind};

    fn kubeconfig(user: &Value) -> Value {
        json!({
            "current-context": "dev",
            "contexts": [
                { "name": "dev", "context": { "cluster": "d", "user": "jane", "namespace": "x" } },
                { "name": "prod", "context": { "cluster": "p", "user": "jane" } },
            ],
            "clusters": [
                { "name": "d", "cluster": { "server": "https://d", "certificate-authority": "ca.crt" } },
                { "name": "p", "cluster": { "server": "https://p" } },
            ],
            "users": [{ "name": "jane", "user": user }, { "name": "joe", "user": { "token": "secret" } }],
        })
    }

    fn read(path: &str) -> std::io::Result<Vec<u8>> {
        if path == "gone" { Err(Error::from(ErrorKind::NotFound)) } else { Ok(format!("{path}\n").into_bytes()) }
    }

    #[test]
    fn reduced_kubeconfig_has_one_context() {
        let reduced = reduced(&kubeconfig(&json!({ "tokenFile": "t" })), Some("prod"), read).unwrap();
        assert_eq!(reduced["clusters"], json!([{ "name": "p", "cluster": { "server": "https://p" } }]));
        assert_eq!(reduced["users"], json!([{ "name": "jane", "user": { "token": "t" } }]));
        assert_eq!(reduced["current-context"], "prod");
    }

    #[test]
    fn files_are_inlined() {
        let reduced =
            reduced(&kubeconfig(&json!({ "client-key": "k", "client-key-data": "a2V5" })), None, read).unwrap();
        assert_eq!(reduced["clusters"][0]["cluster"]["certificate-authority-data"], STANDARD.encode("ca.crt\n"));
        assert_eq!(reduced["users"][0]["user"], json!({ "client-key-data": "a2V5" }));
    }

    #[test]
    fn unusable_kubeconfig_is_refused() {
        let refused = |user: &Value, context| reduced(&kubeconfig(user), context, read).unwrap_err();
        let failure = refused(&json!({ "exec": { "command": "aws" } }), None);
        assert_eq!(
            failure.sentence,
            "user jane of the kubeconfig gets credentials from a program, which the hub cannot run"
        );
        let failure = refused(&json!({}), Some("prdo"));
        assert_eq!(failure.sentence, "context prdo not found in the kubeconfig");
        assert_eq!(failure.hint.unwrap(), "did you mean prod?");
        let failure = refused(&json!({ "client-key": "gone" }), None);
        assert!(failure.sentence.starts_with("cannot read gone, which the kubeconfig names as client-key: "));
        let failure = reduced(&json!({ "contexts": [] }), None, read).unwrap_err();
        assert_eq!(failure.sentence, "the kubeconfig has no current context");
    }
}
